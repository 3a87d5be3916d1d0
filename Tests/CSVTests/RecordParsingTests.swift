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
    Case(
      "trailing comma, but quoted", "\"1\",\"2\",\"\"\n1,2,\n",
      records: [record(["1", "2", ""]), record(["1", "2"])],
      dialect: CSVDialect(hasHeader: false, columns: ["a", "b"], toleratesTrailingDelimiter: true)),
    Case(
      "delimiter of two characters", "a||b|c\n\"d||e\"||f|\n|||g\n",
      records: [record(["a", "b|c"]), record(["d||e", "f|"]), record(["", "|g"])],
      dialect: CSVDialect(delimiter: Array("||".utf8), hasHeader: false)),
    Case(
      "delimiter outside ASCII", "a§\"b§\"§é\n", records: [record(["a", "b§", "é"])],
      dialect: CSVDialect(delimiter: Array("§".utf8), hasHeader: false)),
    Case(
      "escapes", "a\\,b,\"c\\\"d\",e\\\nf,\\\\\ng\\",
      records: [record(["a,b", "c\"d", "e\nf", "\\"]), record(["g\\"])],
      dialect: with {
        $0.hasHeader = false
        $0.escape = 0x5C
      }),
    Case(
      "quotes that are not doubled", "\"a\",\"b\"\"c\"\n", records: [record(["a", "b\"c\""], .strayQuote)],
      dialect: with {
        $0.hasHeader = false
        $0.doublesQuotes = false
      }),
    Case(
      "comment of two characters", "//x\"\n/a,b\n// \"y\nc\n//", records: [record(["/a", "b"]), record(["c"])],
      dialect: CSVDialect(delimiter: [0x2C], hasHeader: false, comment: Array("//".utf8))),
    Case(
      "initial spaces", " a,  \"b\" ,c , \"d\"\n  \n",
      records: [record(["a", "b ", "c ", "d"], .strayQuote), record([""])],
      dialect: with {
        $0.hasHeader = false
        $0.skipsInitialSpace = true
      }),
    Case(
      "a line terminator of its own", "a,b\n|c,\"d|\"|", records: [record(["a", "b\n"]), record(["c", "d|"])],
      dialect: with {
        $0.hasHeader = false
        $0.lineTerminator = [0x7C]
      }),
    Case(
      "CR LF only", "a\n,b\r\nc,d\r\n", records: [record(["a\n", "b"]), record(["c", "d"])],
      dialect: with {
        $0.hasHeader = false
        $0.lineTerminator = [0x0D, 0x0A]
      }),
    Case(
      "a stray quote in a later line does not swallow what is between", "1,\"abc,x\n2,b,c\n3,\"def\",y\n4,b,c\n",
      records: [
        record(["1", "abc,x"], .unterminatedQuote), record(["2", "b", "c"]), record(["3", "def", "y"]),
        record(["4", "b", "c"]),
      ]),
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
    "A dialect that contradicts itself is refused",
    arguments: [
      CSVDialect(delimiter: 0x22), CSVDialect(delimiter: 0x0A), CSVDialect(comment: 0x2C), CSVDialect(columns: []),
      CSVDialect(delimiter: []), CSVDialect(delimiter: Array("a\"b".utf8)), CSVDialect(delimiter: [0x61, 0xFF]),
      CSVDialect(delimiter: Array("a\nb".utf8)), CSVDialect(delimiter: Array("12345678901234567".utf8)),
      CSVDialect(delimiter: [0x2C], comment: Array("#,".utf8)), with { $0.escape = 0x2C }, with { $0.escape = 0x22 },
      with { $0.lineTerminator = [0x22, 0x0A] }, with { $0.lineTerminator = [0x2C, 0x0A] },
      with { $0.lineTerminator = [] }, with { $0.skippedRows = -1 }, with { $0.headerRows = 1000 },
      with { $0.droppedLastRows = -1 }, with { $0.stopAt = "(" }, with { $0.stopAt = ")(" }, with { $0.stopAt = "" },
      with {
        $0.delimiter = [0x20]
        $0.skipsInitialSpace = true
      },
    ])
  func dialects(dialect: CSVDialect) {
    let error = #expect(throws: CSVError.self) { try CSVReader(ByteSource(bytes: []), dialect: dialect) }
    #expect(error?.code == .dialect)
  }

  private static func with(_ change: (inout CSVDialect) -> Void) -> CSVDialect {
    var dialect = CSVDialect()
    change(&dialect)
    return dialect
  }
}
