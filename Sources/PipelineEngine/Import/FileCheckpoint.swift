import CSV
import Foundation

/// The progress of one input: what the report and the ledger state about it.
///
/// A value type: a save uses a copy that is one chunk ahead, and keeps it if the chunk is saved.
struct FileCheckpoint {
  private(set) var results: InputResults
  private(set) var entry: LedgerEntry
  /// Partial imports of the same input that this one replaces, from its first save on.
  private var replacedEntries: [LedgerEntry] = []
  /// Where the ledger's checkpoint of a shard is.
  private var saved = ReaderPosition.start
  /// How many of the listed issues the ledger has.
  private var issuesWritten: [RecordIssue] = []

  /// For an input that the ledger does not know.
  init(_ file: InputFile, _ environment: ImportEnvironment) {
    results = InputResults(
      listedMax: environment.definition.limits.issuesListedMax, profiler: environment.profiler,
      statistics: environment.statistics)
    entry = LedgerEntry(
      id: 0, run: environment.runID, pipeline: environment.definition.name, pipelineDigest: environment.digest,
      entity: environment.definition.entity, path: file.name, location: file.location)
  }

  // MARK: Beginning

  /// The input is read from its start. Importing all of it again discards a partial import.
  ///
  /// - Parameter completed: What this run has completed: an interrupted import of the same path may be among it,
  ///   because the content is in another file by now.
  mutating func restart(_ ledger: Ledger, completed: [LedgerEntry]) {
    entry.id = ledger.newInputID()
    let interrupted = ledger.partialEntries.filter {
      $0.path == entry.path && $0.pipelineDigest == entry.pipelineDigest
    }
    // Usually there is none, and a run may have completed thousands.
    replacedEntries = interrupted.filter { entry in !completed.contains { $0.id == entry.id } }
  }

  /// The input is read from where an import of its head ended.
  mutating func begin(after front: LedgerEntry, _ ledger: Ledger) {
    entry.id = ledger.newInputID()
    entry.progress = front.progress
    entry.firstRecord = front.progress.position.record
  }

  /// Continues from the state of an interrupted run, with the issues that the ledger lists.
  mutating func resume(_ known: LedgerEntry, issues: [RecordIssue], _ environment: ImportEnvironment) {
    entry = known
    entry.run = environment.runID
    saved = known.progress.position
    results = InputResults(
      known, issues: issues, listedMax: environment.definition.limits.issuesListedMax,
      profiler: environment.profiler, statistics: environment.statistics)
    issuesWritten = results.log.listed
  }

  /// The input was imported before, and there is nothing to do.
  mutating func keep(_ known: LedgerEntry) { entry = known }

  /// The labels of the input's header.
  mutating func setHeader(_ labels: [String]) { entry.header = labels }

  /// The highest primary key in the store before the input was begun.
  mutating func setBaseKey(_ key: Int64) { entry.baseKey = key }

  // MARK: Progress

  mutating func note(_ issue: RecordIssue) { results.log.add(issue) }

  /// Called when a chunk was planned; `rejects` has the lengths of the files of rejects with it.
  mutating func advance(by plan: ChunkPlan, of chunk: ParsedChunk, rejects: RejectsMark?, at date: Date) {
    results.add(plan, of: chunk)
    entry.note(chunk.progress, results: results, rejects: rejects, at: date)
    if let shard = entry.shard, chunk.progress.position.record == shard.endRecord { entry.isComplete = true }
  }

  /// Called when links were set at the end of the run, which has changed that many entries that counted as unchanged.
  mutating func noteLinks(_ counts: [LinkCounts], updated: Int) {
    results.links = LinkCounts.sum(results.links, counts)
    results.counts.unchanged -= updated
    results.counts.updated += updated
    entry.note(entry.progress, results: results, rejects: entry.rejects, at: entry.savedAt)
  }

  /// Called when the end of the input was reached.
  mutating func complete(_ progress: InputProgress, rejects: RejectsMark?, at date: Date) {
    entry.note(progress, results: results, rejects: rejects, at: date)
    entry.isComplete = true
  }

  // MARK: The ledger

  /// What the next save writes to the ledger for this input.
  func statements(_ tables: LedgerTables) -> [LedgerTables.Statement] {
    let listed = results.log.listed
    let issues = unwrittenIssues(tables, of: listed)
    if entry.shard != nil { return issues }
    return replacedEntries.flatMap { tables.forget(input: $0.id, for: entry.id) } + [tables.record(entry)] + issues
  }

  /// Moves the checkpoint of a shard from where the last save has left it; nil for a whole input.
  func move(_ tables: PlanTables) -> LedgerTables.Statement? {
    entry.shard.map { tables.move(entry, of: $0, from: saved) }
  }

  private func unwrittenIssues(_ tables: LedgerTables, of listed: [RecordIssue]) -> [LedgerTables.Statement] {
    // A full list replaces issues of the most frequent code by those of rare ones, which changes what follows them.
    let unchanged = issuesWritten == listed ? listed.count : zip(issuesWritten, listed).prefix { $0 == $1 }.count
    return (unchanged..<listed.count).compactMap { ordinal in
      tables.record(listed[ordinal], ofInput: entry.id, ordinal: ordinal)
    }
  }

  /// Called after a successful save: the ledger has the statements.
  ///
  /// - Returns: The final paths of rejects that nothing continues any more.
  mutating func didSave() -> [String] {
    defer { replacedEntries = [] }
    saved = entry.progress.position
    issuesWritten = results.log.listed
    return replacedEntries.compactMap(\.rejects.path)
  }
}
