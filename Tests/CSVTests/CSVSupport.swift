@testable import CSV
import Foundation
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

/// SplitMix64: the same sequence for the same seed everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// A folder of a test's own, gone with the last one who holds it.
final class CSVFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("csv-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }
}

/// What a Python program prints, given bytes on its standard input: the independent reader and writer.
func python(_ program: String, input: [UInt8] = []) throws -> [UInt8] {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["python3", "-c", program]
  let (stdin, stdout) = (Pipe(), Pipe())
  process.standardInput = stdin
  process.standardOutput = stdout
  try process.run()
  try stdin.fileHandleForWriting.write(contentsOf: Data(input))
  try stdin.fileHandleForWriting.close()
  let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0, "python3 failed")
  return Array(output)
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
