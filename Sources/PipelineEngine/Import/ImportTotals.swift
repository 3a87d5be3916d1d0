import Foundation

/// What came of an import so far, over all its inputs.
struct ImportTotals {
  var outcome = RunSummary.Outcome.completed
  /// Why it stopped, where it did.
  var stopReason: String?
  private(set) var files: [RunSummary.File] = []
  private(set) var rejectsPaths: [String] = []
  /// Of the inputs that are done with.
  private(set) var counts = RunCounts()
  private(set) var log: IssueLog
  private(set) var profile: EntryProfile?

  /// Whether anything was saved, be it to the ledger alone.
  private(set) var hasSaved = false
  /// Entries inserted so far, which a dry run's store does not have.
  private(set) var insertedCount: Int64 = 0
  /// The greatest key of the store when the run began.
  let lastStoredKey: Int64
  private var matcher: EntryMatcher?

  /// What a person should know, such as the formats of dates that were chosen.
  var notes: [String] = []

  /// Files of the inbox that are done with.
  var filesDone: [(file: Inbox.File, outcome: Inbox.Outcome)] = []
  /// What the ledger knows of the inputs that are imported to their end.
  var completed: [LedgerEntry] = []

  init(_ definition: PipelineDefinition, lastStoredKey: Int64) {
    self.lastStoredKey = lastStoredKey
    log = IssueLog(listedMax: definition.limits.issuesListedMax)
  }

  /// An input is done with, to its end or not.
  mutating func finish(_ file: RunSummary.File?, _ tally: InputTally, rejects: String?) {
    if let file { files.append(file) }
    counts = counts + tally.counts
    if let part = tally.profile { profile = profile?.merged(with: part) ?? part }
    log.merge(tally.log)
    if let rejects { rejectsPaths.append(rejects) }
  }

  mutating func noteSaved(inserted: Int) {
    hasSaved = true
    insertedCount += Int64(inserted)
  }

  /// What tells the entries of an input with these columns apart; nil where nothing does. Inputs with the same
  /// columns share it; for others the store is read again.
  mutating func matcher(_ mapping: HeaderMapping, _ environment: ImportEnvironment) throws(RunFailure) -> EntryMatcher?
  {
    if let matcher, matcher.digester == environment.keys.digester(mapping) { return matcher }
    let made = environment.keys.matcher(mapping)
    guard !made.digester.isIdle else { return nil }
    try environment.store.load(made, unless: environment.monitor.isCancelled)
    matcher = made
    return made
  }

  mutating func renameRejects(_ old: String?, to new: String) {
    rejectsPaths = rejectsPaths.map { $0 == old ? new : $0 }
  }

  /// Nothing of the run is in the store: what was read did not count, and its rejects are no use without it.
  mutating func rollBack() {
    counts = RunCounts()
    profile = nil
    filesDone.removeAll { $0.outcome == .processed }
    for path in rejectsPaths { RejectsFile.remove(path) }
    rejectsPaths = []
  }
}
