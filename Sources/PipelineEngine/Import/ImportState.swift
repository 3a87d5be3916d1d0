import Foundation
import OpenCoreData

/// What an import knows of itself while it runs, over all its inputs.
struct ImportState: ~Copyable {
  var counts = RunCounts()
  var log: IssueLog
  var outcome = RunSummary.Outcome.completed
  var files: [RunSummary.File] = []
  var rejectsPaths: [String] = []
  private var keys: KeyIndex
  private var inputTotalBytes: Int?

  init(_ definition: PipelineDefinition) {
    log = IssueLog(listedMax: definition.limits.issuesListedMax)
    keys = KeyIndex(keysInMemoryMax: definition.limits.keysInMemoryMax) { try SQLiteKeySpill() }
  }

  mutating func begin(_ input: String, totalBytes: Int?) {
    files.append(RunSummary.File(path: input, bytes: 0, records: 0))
    inputTotalBytes = totalBytes
  }

  /// Counts a chunk that is saved, and tells the listener.
  mutating func add(_ chunk: ParsedChunk, _ monitor: RunMonitor) {
    counts.read += chunk.readCount
    counts.rejected += chunk.rejected.count
    counts.duplicate += chunk.duplicates.count
    for issue in chunk.issues.sorted(by: { ($0.record, $0.field ?? 0) < ($1.record, $1.field ?? 0) }) { log.add(issue) }
    files[files.count - 1].bytes = chunk.consumedBytes
    files[files.count - 1].records += chunk.readCount
    monitor.report(
      RunProgress(
        file: files[files.count - 1].path, records: counts.read, rejected: counts.rejected,
        bytes: chunk.consumedBytes, total: inputTotalBytes))
  }

  // MARK: Keys

  /// Takes the rows whose key an earlier record of the run has out of the chunk.
  mutating func takeDuplicates(from chunk: inout ParsedChunk, _ input: String) throws {
    guard !chunk.keys.isEmpty else { return }
    let none = KeyDigest(high: 0, low: 0)
    let asked = chunk.keys.indices.filter { chunk.keys[$0] != none }
    let earlier = try keys.insert(
      asked.map { (chunk.keys[$0], UInt64(chunk.block.start.record) + UInt64(chunk.recordOfRow[$0])) })
    var rows: [Int] = []
    for (row, first) in zip(asked, earlier) {
      guard let first else { continue }
      rows.append(row)
      let index = Int(chunk.recordOfRow[row])
      let record = chunk.block.records[index]
      let position = RecordPosition(
        input: input, record: UInt64(chunk.block.start.record + index), line: UInt64(record.line),
        byte: UInt64(record.byteOffset))
      chunk.duplicates.append(index)
      chunk.issues.append(
        RecordIssue(
          .primaryKey, at: position, value: RawText.shortened(chunk.block.bytes[record.contentRange]),
          message: "record \(first) of this run has the same key and was taken; remove one of the two"))
    }
    chunk.removeRows(rows)
  }

  /// A row with this key was not stored after all.
  mutating func forget(_ key: KeyDigest) throws { try keys.remove(key) }
}
