import CSV
import Foundation

/// How far one input is: what the report says of its records, and what the ledger says of it.
///
/// A value: a save takes a copy that is one chunk ahead, and keeps it if the chunk is saved.
struct FileCheckpoint {
  private(set) var tally: InputTally
  private(set) var entry: LedgerEntry
  /// Half-done imports of the same input that this one takes the place of, from its first save on.
  private var halfDone: [LedgerEntry] = []
  /// How many of the listed issues the ledger has.
  private var issuesWritten = 0

  /// Of an input of which nothing is known yet.
  init(_ file: InputFile, _ environment: ImportEnvironment) {
    tally = InputTally(listedMax: environment.definition.limits.issuesListedMax, profiler: environment.profiler)
    entry = LedgerEntry(
      id: 0, run: environment.runID, pipeline: environment.definition.name, pipelineDigest: environment.digest,
      entity: environment.definition.entity, path: file.name)
  }

  // MARK: Where it begins

  /// The input is read from its front. An import of all of it again gives up what was half done.
  mutating func beginAnew(_ ledger: Ledger) {
    entry.id = ledger.newInputID()
    halfDone = ledger.entries.filter {
      !$0.isComplete && $0.path == entry.path && $0.pipelineDigest == entry.pipelineDigest
    }
  }

  /// The input is read from where an import of its front has ended.
  mutating func begin(after front: LedgerEntry, _ ledger: Ledger) {
    entry.id = ledger.newInputID()
    entry.progress = front.progress
  }

  /// Takes over what an interrupted run has noted, with the issues that the ledger lists.
  mutating func resume(_ known: LedgerEntry, issues: [RecordIssue], _ environment: ImportEnvironment) {
    entry = known
    entry.run = environment.runID
    tally = InputTally(
      known, issues: issues, listedMax: environment.definition.limits.issuesListedMax,
      profiler: environment.profiler)
    issuesWritten = tally.log.listed.count
  }

  /// The input was imported before, and there is nothing to do.
  mutating func keep(_ known: LedgerEntry) { entry = known }

  /// The last key of the store before the input was begun.
  mutating func setBaseKey(_ key: Int64) { entry.baseKey = key }

  // MARK: How it goes on

  mutating func note(_ issue: RecordIssue) { tally.log.add(issue) }

  /// A chunk was planned; `rejects` says how far the file of rejects goes with it.
  mutating func advance(by plan: ChunkPlan, of chunk: ParsedChunk, rejects: RejectsMark?) {
    tally.add(plan, of: chunk)
    entry.note(chunk.progress, tally, rejects, at: Date())
  }

  /// The end of the input was reached.
  mutating func complete(_ progress: InputProgress, rejects: RejectsMark?) {
    entry.note(progress, tally, rejects, at: Date())
    entry.isComplete = true
  }

  // MARK: The ledger

  /// What the next save writes to the ledger of this input.
  func statements(_ tables: LedgerTables) -> [LedgerTables.Statement] {
    let listed = tally.log.listed
    let issues = (issuesWritten..<max(issuesWritten, listed.count)).compactMap { ordinal in
      tables.record(listed[ordinal], ofInput: entry.id, ordinal: ordinal)
    }
    return halfDone.flatMap { tables.forget(input: $0.id) } + [tables.record(entry)] + issues
  }

  /// The save went through: the ledger has the statements.
  mutating func didSave() {
    for path in halfDone.compactMap(\.rejects.path) { RejectsFile.remove(RejectsFile.partPath(of: path)) }
    halfDone = []
    issuesWritten = tally.log.listed.count
  }
}
