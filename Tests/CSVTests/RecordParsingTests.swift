@testable import CSV
import Foundation
import Testing

// Rules: RFC 4180, section 2; odd input always has a parse and is marked (CSVReader). Every case is read by both
// scanners and whatever the size of the pieces in which the input arrives.

@Suite("Records are parsed as RFC 4180 has them, and oddities are marked")
struct RecordParsingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let id: String
    let text: [UInt8]
    let records: [ReadRecord]
    var dialect = CSVDialect(hasHeader: false)
    var testDescription: String { id }

    init(_ id: String, _ text: String, records: [ReadRecord], dialect: CSVDialect = CSVDialect(hasHeader: false)) {
      self.init(id, Array(text.utf8), records: records, dialect: dialect)
    }
    init(_ id: String, _ text: [UInt8], records: [ReadRecord], dialect: CSVDialect = CSVDialect(hasHeader: false)) {
      (self.id, self.text, self.records, self.dialect) = (id, text, records, dialect)
    }
  }

  private static func record(_ values: [String], _ problems: RecordProblems = []) -> ReadRecord {
    ReadRecord(values: values, problems: problems)
  }

  static let cases: [Case] = [
    Case("two records", "a,b\nc,d\n", records: [record(["a", "b"]), record(["c", "d"])]),
    Case("no line end at the end", "a,b\nc,d", records: [record(["a", "b"]), record(["c", "d"])]),
    Case("CRLF", "a,b\r\nc,d\r\n", records: [record(["a", "b"]), record(["c", "d"])]),
    Case("CR", "a,b\rc,d\r", records: [record(["a", "b"]), record(["c", "d"])]),
    Case("mixed line ends", "a\r\nb\nc\rd", records: [record(["a"]), record(["b"]), record(["c"]), record(["d"])]),
    Case("empty fields", ",\n,,\n", records: [record(["", ""]), record(["", "", ""])]),
    Case("quoted", "\"a,b\",\"c\"\n", records: [record(["a,b", "c"])]),
    Case("doubled quotes", "\"say \"\"hi\"\"\",\"\"\"\"\n", records: [record(["say \"hi\"", "\""])]),
    Case(
      "line ends within quotes", "\"a\nb\r\nc\rd\",e\nf,g\n",
      records: [record(["a\nb\r\nc\rd", "e"]), record(["f", "g"])]),
    Case("quoted empty", "\"\"\n\"\",\"\"\n", records: [record([""]), record(["", ""])]),
    Case("ragged", "a\nb,c,d\n", records: [record(["a"]), record(["b", "c", "d"])]),
    Case(
      "blank lines", "a\n\n\r\nb\n", records: [record(["a"]), record([], .blank), record([], .blank), record(["b"])]),
    Case("blanks around values stay", " a , b\n", records: [record([" a ", " b"])]),
    Case("byte order mark", [0xEF, 0xBB, 0xBF] + Array("a,b\n".utf8), records: [record(["a", "b"])]),
    Case("accents and other scripts", "Kauaʻi,鵠沼\n", records: [record(["Kauaʻi", "鵠沼"])]),
    Case("quote within an unquoted field", "5'10\",b\n", records: [record(["5'10\"", "b"], .strayQuote)]),
    Case("text after a closing quote", "\"a\"b,c\n", records: [record(["ab", "c"], .strayQuote)]),
    Case(
      "quote that is never closed", "a,\"b\nc,d\ne\n",
      records: [record(["a", "b"], .unterminatedQuote), record(["c", "d"]), record(["e"])]),
    Case("NUL", "a\0b,c\n", records: [record(["a\0b", "c"], .nulByte)]),
    Case(
      "bytes that are no UTF-8", [0x61, 0xFF, 0x2C, 0x62, 0x0A], records: [record(["a\u{FFFD}", "b"], .invalidUTF8)]),
    Case(
      "cut multi-byte character", [0x61, 0xE9, 0x0A, 0x62, 0x0A],
      records: [record(["a\u{FFFD}"], .invalidUTF8), record(["b"])]),
    Case("overlong encoding", [0xC0, 0x80, 0x0A], records: [record(["\u{FFFD}\u{FFFD}"], .invalidUTF8)]),
    Case("surrogate", [0xED, 0xA0, 0x80, 0x0A], records: [record(["\u{FFFD}\u{FFFD}\u{FFFD}"], .invalidUTF8)]),
    Case("nothing", "", records: []),
    Case("only a byte order mark", [0xEF, 0xBB, 0xBF], records: []),
    Case(
      "semicolons", "a,b;c\n", records: [record(["a,b", "c"])], dialect: CSVDialect(delimiter: 0x3B, hasHeader: false)),
    Case(
      "no quotes in the dialect", "\"a\",b\n", records: [record(["\"a\"", "b"])],
      dialect: CSVDialect(quote: nil, hasHeader: false)),
    Case(
      "trailing comma, tolerated", "1/2/14,3,4,5,A,1,\n1/3/14,3,4,5,B,2\n",
      records: [record(["1/2/14", "3", "4", "5", "A", "1"]), record(["1/3/14", "3", "4", "5", "B", "2"])],
      dialect: .journalApp),
    Case("comment", "#x\na\n", records: [record(["a"])], dialect: CSVDialect(hasHeader: false, comment: 0x23)),
    Case(
      "blank lines skipped", "\na\n\nb\n", records: [record(["a"]), record(["b"])],
      dialect: CSVDialect(hasHeader: false, skipsBlankLines: true)),
  ]

  @Test("A case reads the same by both scanners and in pieces of any size", arguments: cases)
  func reads(_ example: Case) throws {
    for fast in [true, false] {
      for size in [1, 2, 7, 64, 256 << 10] {
        let found = try readAll(example.text, dialect: example.dialect, readBytes: size, fast: fast)
        let bare = found.map { ReadRecord(values: $0.values, problems: $0.problems) }
        #expect(bare == example.records, "fast \(fast), pieces of \(size)")
      }
    }
  }

  @Test("A header is read apart from the records, its byte order mark gone")
  func header() throws {
    let reader = try CSVReader(ByteSource(bytes: [0xEF, 0xBB, 0xBF] + Array("date,\"a \"\"b\"\"\"\r\n1,2\n".utf8)))
    let header = try #require(try reader.readHeader())
    #expect(header.names == ["date", "a \"b\""])
    #expect(header.line == 1 && String(decoding: header.bytes, as: UTF8.self) == "date,\"a \"\"b\"\"\"\r\n")
    let records = try readAll(reader)
    #expect(records.map(\.values) == [["1", "2"]] && records[0].line == 2)
    #expect(try CSVReader(ByteSource(bytes: [])).readHeader() == nil)
  }

  @Test(
    "UTF-16 is refused as a whole, with the way out",
    arguments: [[0xFF, 0xFE, 0x61, 0x00], [0xFE, 0xFF, 0x00, 0x61]] as [[UInt8]])
  func utf16(bytes: [UInt8]) {
    let error = #expect(throws: CSVError.self) { try readAll(bytes) }
    #expect(error?.code == .encoding && error?.message.contains("iconv") == true)
  }

  @Test(
    "A dialect that contradicts itself is refused",
    arguments: [
      CSVDialect(delimiter: 0x22), CSVDialect(delimiter: 0x0A), CSVDialect(comment: 0x2C), CSVDialect(columns: []),
    ])
  func dialects(dialect: CSVDialect) {
    let error = #expect(throws: CSVError.self) { try CSVReader(ByteSource(bytes: []), dialect: dialect) }
    #expect(error?.code == .dialect)
  }
}
