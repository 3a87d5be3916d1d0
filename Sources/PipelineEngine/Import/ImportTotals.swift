import Foundation

/// The results of an import so far, over all its inputs.
struct ImportTotals {
  var outcome = RunSummary.Outcome.completed
  /// Why it stopped, where it did.
  var stopReason: String?
  private(set) var files: [RunSummary.File] = []
  /// Inputs that could not be opened.
  private(set) var unreadFiles: [RunSummary.File] = []
  /// The parts that have read `files`, and those of `unreadFiles`.
  private(set) var (fileParts, unreadParts) = ([Int](), [Int]())
  private(set) var rejectsPaths: [String] = []
  /// The final paths of the rejects that this run has written, also of those that are not complete.
  private var madeRejects: [String] = []
  /// The final paths of rejects whose input was imported from its start again: their temporary files are of no use.
  var obsoleteRejects: [String] = []
  /// The counts of the finished inputs.
  private(set) var counts = RunCounts()
  private(set) var log: IssueLog
  private(set) var profile: EntryProfile?
  private(set) var statistics: EntryStatistics?
  /// What the entries have in each column; empty where no report shows it, or one input has not counted it.
  private(set) var tallies: [ColumnTally]?

  /// The counts of records that were read and are not in the store, because their chunk, input or run was not saved.
  private var discardedCounts = RunCounts()

  /// Whether anything was saved, even if only to the ledger.
  private(set) var hasSaved = false
  /// Entries inserted so far; in a dry run they are not in the store.
  private(set) var insertedCount: Int64 = 0
  /// The highest primary key in the store when the part began.
  private(set) var lastStoredKey: Int64 = 0
  private var matcher: EntryMatcher?
  private var stored: StoredRecords?
  private var linker: Linker?
  /// What the finished inputs did with related objects, by entity.
  private(set) var links: [LinkCounts] = []

  /// What is worth knowing in addition to the counts, such as the formats of dates that were chosen.
  var notes: [String] = []

  /// A file of an inbox that a part of the run is finished with.
  struct FinishedFile {
    let part: Int
    let file: Inbox.File
    fileprivate(set) var outcome: Inbox.Outcome
  }

  private(set) var filesDone: [FinishedFile] = []
  /// The counts of each entity, in the order of the parts.
  private(set) var entities: [EntityCounts] = []
  /// The number of the part that is imported.
  private var part = 0
  /// The ledger's entries of the inputs that are imported to their end.
  var completed: [LedgerEntry] = []
  /// Those of them that were replayed. One that was recognised by its content as another file is not among them: that
  /// file is not to be replaced.
  var replayed: [LedgerEntry] = []
  /// The inputs that were read to their end, and those that could not be.
  var (processedCount, failedCount) = (0, 0)
  /// Those of earlier inputs that were replaced.
  var replaced: [LedgerEntry] = []

  init(_ definition: PipelineDefinition) {
    log = IssueLog(listedMax: definition.limits.issuesListedMax)
  }

  /// Called before the inputs of a part: what is known of the entries of another entity is of no use.
  mutating func begin(part: Int, of environment: ImportEnvironment, lastStoredKey: Int64) {
    self.part = part
    (self.lastStoredKey, insertedCount) = (lastStoredKey, 0)
    (matcher, stored, linker) = (nil, nil, nil)
    count(RunCounts(), of: environment.definition.entity)
  }

  /// Called before a shard, with what other shards have read: budgets of errors are those of the whole plan.
  mutating func begin(after counts: RunCounts) { self.counts = counts }

  private mutating func count(_ counts: RunCounts, of entity: String) {
    if let index = entities.firstIndex(where: { $0.entity == entity }) {
      entities[index].counts = entities[index].counts + counts
    } else {
      entities.append(EntityCounts(entity: entity, counts: counts))
    }
  }

  /// Called when the part is finished with a file of its inbox.
  mutating func finish(_ file: Inbox.File, _ outcome: Inbox.Outcome) {
    filesDone.append(FinishedFile(part: part, file: file, outcome: outcome))
  }

  /// Called when an input is finished, at its end or before.
  ///
  /// - Parameters:
  ///   - wasOpened: Whether its content was read, or known.
  ///   - rejects: The path of its rejects, for the report.
  ///   - made: Their final path, if this run has written them.
  mutating func finish(
    _ file: RunSummary.File, wasOpened: Bool, _ results: InputResults, of entity: String, rejects: String?,
    made: String?
  ) {
    if wasOpened {
      files.append(file)
      fileParts.append(part)
    } else {
      unreadFiles.append(file)
      unreadParts.append(part)
    }
    counts = counts + results.counts
    count(results.counts, of: entity)
    links = LinkCounts.sum(links, results.links)
    if let part = results.profile { profile = profile?.merged(with: part) ?? part }
    if results.counts.read > 0 { merge(results.tallies) }
    if let part = results.statistics { statistics = statistics?.merged(with: part) ?? part }
    log.merge(results.log)
    if let rejects { rejectsPaths.append(rejects) }
    if let made { madeRejects.append(made) }
  }

  private mutating func merge(_ later: [ColumnTally]) {
    guard let earlier = tallies, earlier.map(\.name) == later.map(\.name) else {
      tallies = tallies == nil ? later : []
      return
    }
    tallies = zip(earlier, later).map { $0.merged(with: $1) }
  }

  /// Called when links were set at the end of the run, which has changed that many entries that counted as unchanged.
  mutating func noteLinks(_ counts: [LinkCounts], updated: Int, of entity: String) {
    links = LinkCounts.sum(links, counts)
    let change = RunCounts(updated: updated, unchanged: -updated)
    self.counts = self.counts + change
    count(change, of: entity)
  }

  /// Called when everything since `before` was rolled back to begin again without some records.
  mutating func beginAgain(from before: ImportTotals) {
    for path in madeRejects where !before.madeRejects.contains(path) { RejectsFile.removeParts(of: path) }
    self = before
  }

  /// Whether there were inputs, and earlier runs have imported and reported all of them.
  var isKnown: Bool { counts.read == 0 && !files.isEmpty && files.allSatisfy { $0.state == .known } }

  /// Called when a chunk with these counts is not saved.
  mutating func discard(_ counts: RunCounts) { discardedCounts = discardedCounts + counts }

  /// What was read and is not in the store, as a sentence for the report; nil where there is nothing.
  var discarded: String? {
    let (read, rejected) = (discardedCounts.read, discardedCounts.rejected)
    if read == 0 { return nil }
    let records = "\(TextTable.count(read, "record")) \(read == 1 ? "was" : "were") read"
    let found = rejected == 0 ? "" : ", \(TextTable.grouped(rejected)) of them rejected,"
    return "\(records)\(found) and nothing of \(read == 1 ? "it" : "these") was saved or counted"
  }

  mutating func noteSaved(inserted: Int) {
    hasSaved = true
    insertedCount += Int64(inserted)
  }

  /// The matcher for the entries of an input with these columns; nil where entries are not compared by key. Inputs with
  /// the same columns share it; for others the store is read again.
  mutating func matcher(_ mapping: HeaderMapping, _ environment: ImportEnvironment) throws(RunFailure) -> EntryMatcher?
  {
    if let matcher, matcher.digester == environment.keys.digester(mapping) { return matcher }
    let made = environment.keys.matcher(mapping)
    guard made.digester.identifiesEntries else { return nil }
    try environment.store.load(made, with: environment.links, unless: environment.monitor.isCancelled)
    matcher = made
    return made
  }

  /// What finds related objects; nil for a pipeline without links. The inputs of a run share it.
  mutating func linker(_ environment: ImportEnvironment) throws(RunFailure) -> Linker? {
    if environment.links.isEmpty { return nil }
    if let linker { return linker }
    let made = try Linker(environment)
    linker = made
    return made
  }

  /// Called when entries were deleted to be replaced: what they led to may have been deleted with them.
  mutating func forgetRelated() { linker = nil }

  /// The records of the store, for inputs with the columns of `digester`. Inputs with the same columns share them.
  mutating func storedRecords(
    _ digester: RowDigester, _ environment: ImportEnvironment
  ) throws(RunFailure) -> StoredRecords {
    if let stored, stored.digester == digester { return stored }
    let read = try StoredRecords(digester, environment)
    stored = read
    return read
  }

  /// Called when an input failed: its records do not count as stored.
  mutating func forgetStoredRecords() { stored = nil }

  /// Adds an issue of the run as a whole.
  mutating func note(_ issue: RecordIssue) { log.add(issue) }

  /// The files of the inbox have failed, though they were read.
  mutating func failFiles() {
    for index in filesDone.indices { filesDone[index].outcome = .failed }
  }

  mutating func renameRejects(_ old: String?, to new: String) {
    rejectsPaths = rejectsPaths.map { $0 == old ? new : $0 }
  }

  /// Called when what was saved since `before` was rolled back: its counts are reset, and its rejects are removed
  /// because they are useless. What was wrong stays.
  mutating func rollBack(to before: ImportTotals) {
    discardedCounts.read += counts.read - before.counts.read
    discardedCounts.rejected += counts.rejected - before.counts.rejected
    (counts, profile, statistics, notes) = (before.counts, before.profile, before.statistics, before.notes)
    tallies = before.tallies
    (hasSaved, insertedCount, matcher, stored) = (before.hasSaved, before.insertedCount, nil, nil)
    (links, linker, entities) = (before.links, nil, before.entities)
    processedCount = before.processedCount
    filesDone.removeAll { done in
      done.outcome == .processed
        && !before.filesDone.contains { $0.part == done.part && $0.file.name == done.file.name }
    }
    (completed, replaced, replayed) = (before.completed, before.replaced, before.replayed)
    for path in madeRejects where !before.madeRejects.contains(path) { RejectsFile.removeParts(of: path) }
    (madeRejects, rejectsPaths, obsoleteRejects) = (before.madeRejects, before.rejectsPaths, before.obsoleteRejects)
  }
}
