@testable import CSV
import Foundation
import TestSupport
import Testing

// Rule: with a text for no value, that text unquoted, the same text quoted and the empty text are three things.

@Suite("A text for no value is distinguished from the same text and from the empty one")
struct NullTokenTests {
  private static let dialect = CSVDialect(hasHeader: false, nullToken: Array("\\N".utf8))

  private func write(_ records: [[String?]], _ dialect: CSVDialect = dialect) throws -> [UInt8] {
    let sink = try ByteSink.memory()
    var writer = try CSVWriter(sink, dialect: dialect)
    for record in records {
      for value in record { if let value { try writer.append(field: value) } else { writer.appendNull() } }
      try writer.endRecord()
    }
    try writer.flush()
    try sink.commit()
    return sink.bytes
  }

  private func read(_ bytes: [UInt8], _ dialect: CSVDialect = dialect) throws -> [[String?]] {
    let reader = try CSVReader(ByteSource(bytes: bytes), dialect: dialect)
    var block = RecordBlock()
    var records: [[String?]] = []
    while try reader.next(into: &block, recordsMax: 7) {
      records += block.records.map { record in
        block.fields(of: record).map {
          $0.isUnquoted(dialect.nullToken ?? [], in: block.bytes) ? nil : block.string(of: $0)
        }
      }
    }
    return records
  }

  @Test("The token stands bare, the same text in quotes, the empty text is empty")
  func writes() throws {
    let bytes = try write([[nil, "\\N", "", "\\NN"], ["\\N", nil], [nil], [""]])
    #expect(String(decoding: bytes, as: UTF8.self) == "\\N,\"\\N\",,\\NN\n\"\\N\",\\N\n\\N\n\"\"\n")
  }

  @Test("Without a token a missing value is an empty field")
  func withoutToken() throws {
    let bytes = try write([[nil, "\\N"], [nil]], CSVDialect(hasHeader: false))
    #expect(String(decoding: bytes, as: UTF8.self) == ",\\N\n\"\"\n")
  }

  @Test("Random values come back, none of them taken for another", .seeded, arguments: Randomness.seeds(10, long: 500))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let values: [String?] = [nil, "", "\\N", "\\", "N", ",", "\"\\N\"", "\n", " \\N", "a", "\0", "\u{FEFF}"]
    for token in ["\\N", "NULL", "-", "a", "∅"] {
      var dialect = CSVDialect(hasHeader: false, nullToken: Array(token.utf8), keepsNulBytes: true)
      dialect.writesTrailingDelimiter = seed % 2 == 0
      dialect.toleratesTrailingDelimiter = seed % 2 == 0
      dialect.columns = ["a", "b", "c"]
      let records = (0..<50).map { _ in
        (0..<3).map { _ in Bool.random(using: &random) ? token : values.randomElement(using: &random) ?? nil }
      }
      #expect(try read(try write(records, dialect), dialect) == records, "seed \(seed), token \(token)")
    }
  }

  @Test("Where nothing is quoted, a value equal to the token is refused")
  func unquotable() throws {
    var dialect = CSVDialect.journalApp
    dialect.nullToken = Array("-".utf8)
    let sink = try ByteSink.memory()
    var writer = try CSVWriter(sink, dialect: dialect)
    let error = #expect(throws: CSVError.self) { try writer.append(field: "-") }
    #expect(error?.code == .unquotableValue)
    #expect(error?.description.contains("stands for no value") == true)
  }

  @Test(
    "A token that would not be read back is a mistake of the dialect",
    arguments: ["", ",", "a\"", "a\nb", "\r", " x", "x ", "\0", "\u{FEFF}x"])
  func mistakes(token: String) throws {
    let dialect = CSVDialect(nullToken: Array(token.utf8))
    let error = #expect(throws: CSVError.self) { try dialect.validate() }
    #expect(error?.code == .dialect)
  }

  @Test("A zero byte marks its record, unless the dialect keeps it; both scanners agree", arguments: [true, false])
  func nulBytes(fast: Bool) throws {
    let bytes = Array("a\0b,\"\0\"\nc,d\n".utf8)
    let marked = try readAll(bytes, fast: fast)
    #expect(marked.map(\.problems) == [.nulByte, []])
    let kept = try readAll(bytes, dialect: CSVDialect(hasHeader: false, keepsNulBytes: true), fast: fast)
    #expect(kept.map(\.problems) == [[], []])
    #expect(kept.map(\.values) == [["a\0b", "\0"], ["c", "d"]])
  }
}
