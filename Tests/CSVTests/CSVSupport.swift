@testable import CSV
import Foundation
import TestSupport
import Testing

/// One record as the tests compare it: values as text, problems, and where it lies.
struct ReadRecord: Equatable, CustomStringConvertible {
  var values: [String]
  var problems: RecordProblems = []
  var line = 0
  var byte = 0
  var original: [UInt8] = []

  var description: String { "\(line)/\(byte) \(values) problems \(problems.rawValue)" }
}

extension CSVDialect {
  /// Six fixed columns, no header, nothing quoted, a trailing comma or none.
  static let journalApp = CSVDialect(
    quote: nil, hasHeader: false, columns: ["date", "height", "period", "wind", "location", "rating"],
    toleratesTrailingDelimiter: true)
}

/// Everything that a reader finds in `bytes`.
func readAll(
  _ bytes: [UInt8], dialect: CSVDialect = CSVDialect(hasHeader: false), limits: CSVLimits = CSVLimits(),
  readBytes: Int = 256 << 10, fast: Bool = true, recordsMax: Int = 1000
) throws -> [ReadRecord] {
  let source = try ByteSource(bytes: bytes)
  return try readAll(
    CSVReader(source, dialect: dialect, limits: limits, readBytes: readBytes, usesFastScanner: fast),
    recordsMax: recordsMax)
}

func readAll(_ reader: CSVReader, recordsMax: Int = 1000) throws -> [ReadRecord] {
  var block = RecordBlock()
  var result: [ReadRecord] = []
  while try reader.next(into: &block, recordsMax: recordsMax) {
    for record in block.records {
      result.append(
        ReadRecord(
          values: block.fields(of: record).map { block.string(of: $0) }, problems: record.problems, line: record.line,
          byte: record.byteOffset, original: Array(block.originalBytes(of: record))))
    }
  }
  return result
}

/// Writes records and gives the bytes.
func written(
  _ records: [[String]], dialect: CSVDialect = CSVDialect(hasHeader: false),
  compression: ByteSink.Compression = .none
) throws -> [UInt8] {
  let sink = try ByteSink.memory(compression: compression)
  var writer = try CSVWriter(sink, dialect: dialect)
  for record in records { try writer.write(record) }
  try writer.flush()
  try sink.commit()
  return sink.bytes
}
