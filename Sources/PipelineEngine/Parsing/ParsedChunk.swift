import CSV
import PersistentStores

/// The records of one chunk on their way from the parser to the store.
struct ParsedChunk: Sendable {
  let block: RecordBlock
  /// The entries of the valid records, in order.
  var batch: ObjectBatch
  /// For each row of the batch the index of its record in the block.
  var recordOfRow: [Int32] = []
  var digests = RowDigests()
  /// The related objects that the records name; none for most pipelines.
  var links: [LinkedValues] = []
  /// The values that records of JSON Lines do not state, by row of the batch.
  var absent = AbsentValues()
  /// Indices of records that can't be imported.
  var rejected: [Int] = []
  /// Indices of records that count for nothing: blank ones, where the dialect skips them.
  var skipped: [Int] = []
  var issues: PackedIssues
  /// How far the reading thread was when the chunk was complete.
  var progress = InputProgress()

  /// The position of a row's record in the input.
  func position(ofRow row: Int, input: String) -> RecordPosition {
    position(ofRecord: Int(recordOfRow[row]), input: input)
  }

  /// The rows of those of these records that have one.
  func rows(ofRecords indices: [Int]) -> Set<Int> {
    let records = Set(indices)
    return Set(recordOfRow.indices.filter { records.contains(Int(recordOfRow[$0])) })
  }

  func position(ofRecord index: Int, input: String) -> RecordPosition {
    let packed = packedPosition(ofRecord: index)
    return RecordPosition(input: input, record: packed.record, line: packed.line, byte: packed.byte)
  }

  func packedPosition(ofRecord index: Int) -> PackedIssues.Position {
    let record = block.records[index]
    return PackedIssues.Position(
      record: UInt64(block.start.record + index), line: UInt64(record.line), byte: UInt64(record.byteOffset))
  }

  /// The text that an issue of a whole record shows.
  func shownValue(ofRecord index: Int) -> String {
    RawText.shortened(block.bytes[block.records[index].contentRange])
  }
}
