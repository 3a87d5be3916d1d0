// Line ends that are not the input's own.
extension CSVReader {
  /// Whether a record whose line end differs from the first one is marked.
  var marksLineEnds: Bool { dialect.mode == .lenient && dialect.lineTerminator == nil }

  /// Marks the records from `index` on whose line end differs from that of the input's first record.
  func markLineEnds(from index: Int, of block: inout RecordBlock) {
    for index in index..<block.records.count {
      let record = block.records[index]
      let lineEnd = Array(block.bytes[record.contentRange.upperBound..<record.range.upperBound])
      if lineEnd.isEmpty { continue }
      if usualLineEnd.isEmpty { usualLineEnd = lineEnd }
      if lineEnd != usualLineEnd { block.records[index].problems.insert(.repairedLineEnd) }
    }
  }

  /// Reads the first record of an input without a header, if reading is to continue behind it: its line end is the
  /// usual one.
  func findUsualLineEnd(before target: ReaderPosition) throws(CSVError) {
    guard marksLineEnds, usualLineEnd.isEmpty, target.record > 1 else { return }
    var block = RecordBlock()
    _ = try readRecords(into: &block, recordsMax: 1, isHeader: false)
  }
}
