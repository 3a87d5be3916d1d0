@testable import CSV
import TestSupport
import Testing

// Rules: what precedes the header and what follows the records is not read as records; positions still count it.

@Suite("Rows before the header and after the records are left out as the dialect says")
struct RowTests {
  private func dialect(_ change: (inout CSVDialect) -> Void) -> CSVDialect {
    var dialect = CSVDialect()
    change(&dialect)
    return dialect
  }

  @Test("Skipped rows may hold anything, and count as lines", arguments: ["\n", "\r\n", "\r"])
  func skipped(lineEnd: String) throws {
    let text = ["My \"surf log", "", "date,place", "1,Rincon"].joined(separator: lineEnd)
    let reader = try CSVReader(ByteSource(bytes: Array(text.utf8)), dialect: dialect { $0.skippedRows = 2 })
    let header = try #require(try reader.readHeader())
    #expect(header.names == ["date", "place"] && header.line == 3 && header.problems.isEmpty)
    let records = try readAll(reader)
    #expect(records.map(\.values) == [["1", "Rincon"]] && records[0].line == 4)
    let all = try CSVReader(ByteSource(bytes: Array(text.utf8)), dialect: dialect { $0.skippedRows = 9 })
    #expect(try all.readHeader() == nil)
  }

  @Test("Several header rows are joined column by column, without gaps and repetitions")
  func headerRows() throws {
    let text = "Wave,,Wind,Same\nheight,period,,Same\nm,s,\"km\"\"h\",,more\n1,2,3,4,5\n"
    let reader = try CSVReader(ByteSource(bytes: Array(text.utf8)), dialect: dialect { $0.headerRows = 3 })
    let header = try #require(try reader.readHeader())
    #expect(header.names == ["Wave height m", "period s", "Wind km\"h", "Same", "more"])
    #expect(header.lineCount == 3 && header.bytes.count == text.utf8.count - 10)
    #expect(try readAll(reader).map(\.values) == [["1", "2", "3", "4", "5"]])
    #expect(reader.position.record == 2)
  }

  @Test("Reading stops before the footer, and ends at the end of the input", arguments: [1, 1000])
  func stopAt(recordsMax: Int) throws {
    let text = "date,n\n1,2\n\"Total\n3\",4\nTotals: 5\n\"open,6\n"
    for (pattern, count) in [
      ("Total", 1), ("Totals", 2), ("[A-Z]\\w+:", 2), ("^Total$", 4), ("otal", 4), ("Total|1", 0),
    ] {
      let reader = try CSVReader(ByteSource(bytes: Array(text.utf8)), dialect: dialect { $0.stopAt = pattern })
      let hash = ContentHash()
      reader.contentHash = hash
      #expect(try readAll(reader, recordsMax: recordsMax).count == count, "\(pattern)")
      #expect(reader.position == ReaderPosition(record: count + 1, line: 7, byteOffset: text.utf8.count))
      #expect(hash.byteCount == text.utf8.count)
      var block = RecordBlock()
      #expect(try !reader.next(into: &block, recordsMax: 1))
    }
  }

  @Test(
    "Lines are counted alike, however much is read at once and whatever ends records",
    arguments: [nil, [13], [10], [13, 10]] as [[UInt8]?], [nil, "\\s*Total"])
  func linesOfFooter(lineTerminator: [UInt8]?, pattern: String?) throws {
    let bytes = Array("a,b\r\n1,\"x\r\ny\"\r\n2,z\r\nTotal,2\r\nend,1\r\n".utf8)
    for count in 0...3 {
      var lines: Set<Int> = []
      for (readBytes, recordsMax) in [(1, 1), (7, 2), (4096, 1), (4096, 1000)] {
        let reader = try CSVReader(
          ByteSource(bytes: bytes),
          dialect: dialect {
            $0.lineTerminator = lineTerminator
            $0.droppedLastRows = count
            $0.stopAt = pattern
          }, limits: CSVLimits(), readBytes: readBytes, usesFastScanner: true)
        _ = try readAll(reader, recordsMax: recordsMax)
        lines.insert(reader.position.line)
      }
      #expect(lines.count == 1, "\(lines)")
    }
  }

  @Test("The last records are dropped, before a footer too", arguments: 0...6, [1, 2, 1000])
  func droppedLast(count: Int, recordsMax: Int) throws {
    let text = "n\n1\n2\n\"3\n\"\n4\n5"
    for (ending, pattern) in [("", nil), ("\nend\n9\n9\n9\n", "end")] {
      let bytes = Array((text + ending).utf8)
      for readBytes in [1, 4096] {
        let reader = try CSVReader(
          ByteSource(bytes: bytes),
          dialect: dialect {
            $0.droppedLastRows = count
            $0.stopAt = pattern
          }, limits: CSVLimits(), readBytes: readBytes, usesFastScanner: true)
        let found = try readAll(reader, recordsMax: recordsMax).flatMap(\.values)
        #expect(found == Array(["1", "2", "3\n", "4", "5"].dropLast(count)))
        #expect(reader.position.byteOffset == bytes.count && reader.position.record == found.count + 1)
      }
    }
  }

  @Test("Comments and records over the limit are seen in the look ahead")
  func droppedOverLimit() throws {
    let long = String(repeating: "x", count: 500)
    let bytes = Array("1\n#a\n2\n\(long)\n#b\n3\n".utf8)
    for (dropped, count) in [(1, 3), (2, 2), (3, 1)] {
      let dialect = dialect {
        $0.hasHeader = false
        $0.comment = [0x23]
        $0.droppedLastRows = dropped
      }
      let found = try readAll(bytes, dialect: dialect, limits: CSVLimits(recordBytesMax: 100), readBytes: 16)
      #expect(found.count == count)
    }
  }

  @Test("An open quote in the header does not swallow records; a name of several lines is counted")
  func openQuoteInHeader() throws {
    let reader = try CSVReader(ByteSource(bytes: Array("date,\"place\n1,\"Rincon\"\n2,Malibu\n".utf8)))
    let header = try #require(try reader.readHeader())
    #expect(header.problems == .unterminatedQuote && header.linesInDoubt == 1 && header.lineCount == 1)
    #expect(try readAll(reader).map(\.values) == [["1", "Rincon"], ["2", "Malibu"]])
    let other = try CSVReader(ByteSource(bytes: Array("date,\"place\n1,Rincon\"\n2,Malibu\n".utf8)))
    #expect(try other.readHeader()?.lineCount == 2)
  }

  @Test("A quoted empty name at the end of the header is a column")
  func trailingName() throws {
    for (text, count) in [("a,b,\n", 2), ("a,b,\"\"\n", 3)] {
      let reader = try CSVReader(
        ByteSource(bytes: Array(text.utf8)), dialect: CSVDialect(toleratesTrailingDelimiter: true))
      #expect(try reader.readHeader()?.names.count == count)
    }
  }
}

@Suite("A lenient dialect repairs what has one reading, and says so")
struct LenientTests {
  private func read(_ text: String) throws -> [ReadRecord] {
    var dialect = CSVDialect(hasHeader: false)
    dialect.mode = .lenient
    return try readAll(Array(text.utf8), dialect: dialect)
  }

  @Test(
    "Repairs",
    arguments: [
      ("5'10\",b\n", ["5'10\"", "b"], RecordProblems.repairedStrayQuote),
      ("\"say \"hi\" now\",b\n", ["say \"hi\" now", "b"], RecordProblems.repairedStrayQuote),
      ("\"5\" board\",b", ["5\" board", "b"], RecordProblems.repairedStrayQuote),
      ("\"a\"b\"\"c\",d\n", ["a\"b\"c", "d"], RecordProblems.repairedStrayQuote),
      ("\"a\" ,b\n", ["a", "b"], RecordProblems.repairedStrayQuote),
      ("a,\"b,c\n", ["a", "b,c"], RecordProblems.repairedOpenQuote),
      ("a,\"b", ["a", "b"], RecordProblems.repairedOpenQuote), ("\"a\",b\n", ["a", "b"], RecordProblems()),
    ])
  func repairs(text: String, values: [String], problems: RecordProblems) throws {
    for size in [1, 4096] {
      var dialect = CSVDialect(hasHeader: false)
      dialect.mode = .lenient
      let found = try readAll(Array(text.utf8), dialect: dialect, readBytes: size)
      #expect(found.map(\.values) == [values] && found[0].problems == problems)
      #expect(found[0].problems.subtracting(.repairs).isEmpty)
    }
  }

  @Test(
    "What has several readings remains a problem",
    arguments: [
      // The quote may be of the text, or the delimiter may end the field.
      "\"a\"b,c\n", "\"5\" board,\"nice\",x\n", "\"a\"b,\"c\"\n",
      // An open quote before other lines may have any of them.
      "\"a,b\nc,d\n",
      // Two kinds of stray quotes.
      "\"he said \"hi\", then\" left\",x\n",
    ])
  func problems(text: String) throws {
    let found = try read(text)
    #expect(!found[0].problems.subtracting(.repairs).isEmpty)
  }

  @Test("The lines that an open quote may have claimed are counted")
  func inDoubt() throws {
    let bytes = Array("1,\"abc\n2,b\n3,\"def\"\n4,\"open\n5,b\n6,b\n".utf8)
    let reader = try CSVReader(ByteSource(bytes: bytes), dialect: CSVDialect(hasHeader: false))
    var block = RecordBlock()
    #expect(try reader.next(into: &block, recordsMax: 100))
    #expect(block.records.map(\.linesInDoubt) == [2, 0, 0, 2, 0, 0])
    #expect(block.records.map { !$0.problems.isEmpty } == [true, false, false, true, false, false])
  }
}
