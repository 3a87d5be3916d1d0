import CSV

@testable import CSV

/// One record as it is compared.
struct ReadRecord: Equatable {
  var values: [[UInt8]]
  var areQuoted: [Bool]
  var problems: RecordProblems
  var line: Int
  var linesInDoubt: Int
  var byte: Int
  var original: [UInt8]
}

/// Everything that a reader finds in a text, and how it ends.
struct ReadText: Equatable {
  var header: CSVHeader?
  var records: [ReadRecord] = []
  var positions: [ReaderPosition] = []
  var end = ReaderPosition.start
  var failure: CSVError?

  /// Nil for a text that is not read as a table, such as a workbook.
  init?(
    _ bytes: [UInt8], _ dialect: CSVDialect, limits: CSVLimits, readBytes: Int, fast: Bool, recordsMax: Int
  ) {
    do throws(CSVError) {
      let reader = try CSVReader(
        ByteSource(bytes: bytes), dialect: dialect, limits: limits, readBytes: readBytes, usesFastScanner: fast)
      do throws(CSVError) {
        if dialect.hasHeader { header = try reader.readHeader() }
        var block = RecordBlock()
        while try reader.next(into: &block, recordsMax: recordsMax) { add(block) }
      } catch {
        if error.code == .format || error.code == .compression || error.code == .encoding { return nil }
        failure = error
      }
      end = reader.position
    } catch {
      broken("a valid dialect opens a reader", "\(error)")
    }
  }

  private mutating func add(_ block: RecordBlock) {
    for (index, record) in block.records.enumerated() {
      var values: [[UInt8]] = []
      for field in block.fields(of: record) {
        var value: [UInt8] = []
        block.appendValue(of: field, to: &value)
        values.append(value)
        _ = block.byteOffset(of: field, in: record)
        _ = block.line(of: field, in: record)
      }
      _ = block.byteOffsetOfInvalidUTF8(in: record)
      _ = block.inputByteCount(ofRecordAt: index)
      records.append(
        ReadRecord(
          values: values, areQuoted: block.fields(of: record).map(\.isQuoted), problems: record.problems,
          line: record.line, linesInDoubt: record.linesInDoubt, byte: record.byteOffset,
          original: Array(block.originalBytes(of: record))))
    }
    positions.append(block.end)
  }

  /// Equal but for where blocks end.
  static func == (one: ReadText, other: ReadText) -> Bool {
    one.header == other.header && one.records == other.records && one.end == other.end && one.failure == other.failure
  }
}

extension CSVLimits {
  /// Small buffers, so that an execution is quick.
  static let quick = CSVLimits(fieldsMax: 5000)
}
