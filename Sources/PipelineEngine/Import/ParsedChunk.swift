import CSV
import OpenCoreData

/// The records of one chunk on their way from the parser to the store.
struct ParsedChunk: Sendable {
  var block: RecordBlock
  /// The entries of the good records, in order.
  var batch: ObjectBatch
  /// For each row of the batch the index of its record in the block.
  var recordOfRow: [Int32] = []
  /// For each row of the batch its key; empty where the pipeline declares none.
  var keys: [KeyDigest] = []
  /// Indices of records that can't be imported.
  var rejected: [Int] = []
  /// Indices of records whose key an earlier record of the run has.
  var duplicates: [Int] = []
  var issues: [RecordIssue] = []
  /// Records that count as read: all of the block, or those up to the one that ended the run.
  var readCount = 0
  /// As stored: how far the input was consumed when the chunk was complete.
  var consumedBytes = 0
  /// Set when the policy ends the run with this chunk.
  var endsRun = false

  /// Takes rows out of the chunk's batch, with what belongs to them.
  mutating func removeRows(_ rows: [Int]) {
    let gone = Set(rows)
    guard !gone.isEmpty else { return }
    batch.removeRows(gone)
    recordOfRow = recordOfRow.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
    if !keys.isEmpty { keys = keys.enumerated().filter { !gone.contains($0.offset) }.map(\.element) }
  }

  /// Ends the chunk with the record `index`: what comes after it was never read.
  mutating func cut(afterRecord index: Int) {
    removeRows(recordOfRow.indices.filter { recordOfRow[$0] > index })
    rejected.removeAll { $0 > index }
    duplicates.removeAll { $0 > index }
    let last = UInt64(block.start.record + index)
    issues.removeAll { $0.record > last }
    readCount = index + 1
    endsRun = true
  }
}
