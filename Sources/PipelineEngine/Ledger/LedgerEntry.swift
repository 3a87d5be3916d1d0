import CSV
import Foundation
import SystemSupport
import ManagedObjectModel

/// What the ledger knows about one input: a row of its table of inputs.
struct LedgerEntry: Sendable {
  var id: Int64
  /// The last run that imported from it.
  var run: String
  var pipeline: String
  var pipelineDigest: ContentDigest
  var entity: String
  /// As the user named it.
  var path: String
  /// The absolute path of a file; nil for a pipe, and for a file of an inbox, whose name may come again.
  var location: String?
  /// Whether it was taken back: none of what it inserted or updated is in the store.
  var isUndone = false
  /// Whether records of it were left out because the store had them, and an undo has deleted those entries since.
  var isOutdated = false
  /// Whether it is part of a plan that is not closed: its shards have its progress, and an ordinary import must not read it.
  var isPlanned = false
  /// Set for a shard of a planned input: the progress is that of the shard.
  var shard: Shard?
  /// Whether it was imported to its end.
  var isComplete = false
  /// Whether what an undo or a replacement needs was removed since.
  var isCompacted = false
  /// Whether the run that completed it also wrote its report.
  var isReported = false
  var progress = InputProgress()
  var rejects = RejectsMark()
  /// The highest primary key in the store before the input was begun.
  var baseKey: Int64 = 0
  var counts = RunCounts()
  /// The other values that the report needs.
  var results = InputResults.Kept()
  var savedAt = Date(timeIntervalSince1970: 0)
  /// The labels of its header; nil where it has none.
  var header: [String]?
  /// The first record that was read; above 1 for what an input has gained since an earlier import. Nil where an earlier
  /// version of this program, which kept nothing for an undo, imported it or began to.
  var firstRecord: Int? = 1
}

/// The lengths of the files of rejects when a chunk was saved.
struct RejectsMark: Sendable, Equatable {
  /// Nil where none is written.
  var path: String?
  var bytes = 0
  var detailBytes = 0
  var count = 0

  /// Where a replay of a file of rejects writes the records that are rejected again, until they take its place.
  static func pathOfRest(of rejects: String) -> String { rejects + ".next" }
}

extension LedgerEntry {
  /// Whether records of it were left out because the store had them.
  var hasLeftOutRecords: Bool { isComplete && counts.unchanged + counts.duplicate > 0 }

  /// Whether it is outdated once `earlier` is taken back, from which the records that it has left out may have come.
  /// `LedgerTables.undo(input:)` says the same in SQL.
  func isOutdated(byUndoOf earlier: LedgerEntry) -> Bool {
    hasLeftOutRecords && id > earlier.id && entity == earlier.entity
  }

  /// Distinguishes the inputs of a run; never 0.
  var number: KeyEntry.InputNumber { KeyEntry.InputNumber(id.magnitude % 0xFF_FFFF) + 1 }

  /// What is left to do with the records that an earlier run has rejected: another run does not read them again. Nil if
  /// there are none, or if their file is gone.
  func noteOfRejects(program: String) -> String? {
    guard rejects.count > 0, let file = rejects.path, mayExist(file) else { return nil }
    let records = rejects.count == 1 ? "1 record of \(path) is" : "\(rejects.count.grouped) records of \(path) are"
    let command = "\(program) replay \(ShellWord.quoted(file))"
    return "\(records) still in \(file): correct them, and import them with: \(command)"
  }

  /// Records how far the input has been imported.
  mutating func note(_ progress: InputProgress, results: InputResults, rejects: RejectsMark?, at date: Date) {
    self.progress = progress
    counts = results.counts
    self.results = results.kept
    self.rejects = rejects ?? RejectsMark()
    savedAt = date
  }

  /// The columns of the table of inputs, in the order of `values`.
  static let columns = [
    "inputID", "runID", "pipeline", "pipelineDigest", "entity", "path", "state", "record", "line", "byte",
    "contentHash", "headBytes", "headHash", "endsOpen", "storedBytes", "rejectsPath", "rejectsBytes",
    "rejectsDetailBytes", "rejectsCount", "baseKey", "recordsRead", "inserted", "updated", "unchanged", "duplicate",
    "rejected", "tally", "savedAt", "repeated", "header", "firstRecord",
    "location",
  ]

  var values: [StoredValue] {
    [
      .integer(id), .text(run), .text(pipeline), .text(pipelineDigest.hex), .text(entity), .text(path),
      .text(state),
      .integer(Int64(progress.position.record)), .integer(Int64(progress.position.line)),
      .integer(Int64(progress.position.byteOffset)), .text(progress.hash.hex), .integer(Int64(progress.headBytes)),
      .text(progress.headHash.hex), .integer(progress.endsOpen ? 1 : 0), .integer(Int64(progress.consumedBytes)),
      rejects.path.map { .text($0) } ?? .null, .integer(Int64(rejects.bytes)), .integer(Int64(rejects.detailBytes)),
      .integer(Int64(rejects.count)), .integer(baseKey), .integer(Int64(counts.read)),
      .integer(Int64(counts.inserted)), .integer(Int64(counts.updated)), .integer(Int64(counts.unchanged)),
      .integer(Int64(counts.duplicate)), .integer(Int64(counts.rejected)),
      .text(isCompacted ? Self.compactedTally : results.json),
      .text(LedgerDate.text(savedAt)), .integer(Int64(counts.repeated)), header.map { .text(Self.text($0)) } ?? .null,
      firstRecord.map { .integer(Int64($0)) } ?? .null,
      location.map { .text($0) } ?? .null,
    ]
  }

  /// The greatest number that a ledger and a sequence of keys have: no file and no store reaches it.
  static let numberMax: Int64 = 1 << 53

  /// From a row in the order of `columns`; nil where the row is invalid.
  init?(row: [Any?]) {
    guard row.count == Self.columns.count else { return nil }
    // Arithmetic can't exceed the limits of integers then.
    guard row.allSatisfy({ value in (value as? Int64).map { (0...Self.numberMax).contains($0) } ?? true }) else {
      return nil
    }
    func integer(_ index: Int) -> Int { (row[index] as? Int64).map(Int.init) ?? 0 }
    func text(_ index: Int) -> String { row[index] as? String ?? "" }
    guard let pipelineDigest = ContentDigest(hex: text(3)), let hash = ContentDigest(hex: text(10)),
      let headHash = ContentDigest(hex: text(12))
    else { return nil }
    id = Int64(integer(0))
    (run, pipeline, self.pipelineDigest, entity, path) = (text(1), text(2), pipelineDigest, text(4), text(5))
    (isUndone, isOutdated) = (text(6) == "undone", ["outdated", "unreportedOutdated"].contains(text(6)))
    isPlanned = text(6) == Self.plannedState
    (isComplete, isReported) = (
      text(6) != Self.partialState && !isPlanned, ["complete", "outdated"].contains(text(6))
    )
    progress = InputProgress(
      position: ReaderPosition(record: integer(7), line: integer(8), byteOffset: integer(9)), hash: hash,
      headBytes: integer(11), headHash: headHash, endsOpen: integer(13) != 0, consumedBytes: integer(14))
    rejects = RejectsMark(
      path: row[15] as? String, bytes: integer(16), detailBytes: integer(17), count: integer(18))
    baseKey = Int64(integer(19))
    counts = RunCounts(
      read: integer(20), inserted: integer(21), updated: integer(22), unchanged: integer(23),
      duplicate: integer(24), repeated: integer(28), rejected: integer(25))
    isCompacted = text(26) == Self.compactedTally
    results = InputResults.Kept(json: text(26))
    savedAt = LedgerDate.date(text(27)) ?? Date(timeIntervalSince1970: 0)
    header = (row[29] as? String).flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
    firstRecord = (row[30] as? Int64).map(Int.init)
    location = row[31] as? String
  }

  /// The state as the table has it.
  private var state: String {
    if isUndone { return "undone" }
    if isPlanned { return Self.plannedState }
    if isOutdated { return isReported ? "outdated" : "unreportedOutdated" }
    return isComplete ? (isReported ? "complete" : "unreported") : Self.partialState
  }
  /// The state of an input that was not imported to its end.
  static let partialState = "partial"
  /// The state of an input of a plan that is not closed.
  static let plannedState = "planned"

  private static func text(_ labels: [String]) -> String {
    (try? JSONEncoder().encode(labels)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
  }
}

extension InputResults {
  /// From a ledger entry.
  init(
    _ entry: LedgerEntry, issues: [RecordIssue], listedMax: Int, profiler: EntryProfiler?, statistics: EntryStatistics?
  ) {
    self.init(
      counts: entry.counts, kept: entry.results, issues: issues, listedMax: listedMax, profiler: profiler,
      statistics: statistics)
  }
}

/// Dates as the ledger writes them, readable in any SQLite program: ISO 8601 in UTC, to the second.
enum LedgerDate {
  static func text(_ date: Date) -> String {
    DateFormat.iso8601.string(date.timeIntervalSinceReferenceDate.rounded(.down)) ?? ""
  }

  static func date(_ text: String) -> Date? {
    DateFormat.iso8601.seconds(Array(text.utf8).span).map(Date.init(timeIntervalSinceReferenceDate:))
  }
}
