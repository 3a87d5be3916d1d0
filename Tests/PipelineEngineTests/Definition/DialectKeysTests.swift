import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The keys of a dialect, in the terms of frictionless' Table Dialect.
@Suite struct DialectKeysTests {
  private func read(_ dialect: String) throws -> DialectDefinition {
    let text = #"{"name": "p", "columns": ["date"], "dialect": \#(dialect)}"#
    return try PipelineDefinition(data: Data(text.utf8), environment: .journal).dialect
  }

  private func mistakes(_ dialect: String) -> [String] {
    do {
      _ = try read(dialect)
      return []
    } catch {
      return (error as? PipelineError)?.mistakes.map { "\($0.path): \($0.message)" } ?? ["\(error)"]
    }
  }

  @Test func `Every key is read`() throws {
    let dialect = try read(
      #"""
      {"encoding": "windows-1252", "delimiter": "||", "quoteChar": "'", "doubleQuote": false, "escapeChar": "\\",
       "lineTerminator": "\u001e", "commentChar": "#", "skipInitialSpace": true, "headerRows": [3, 4],
       "skipBlankRows": true, "stopAt": "Total", "skipLastRows": 2, "nullSequences": ["", "NA"], "decimalChar": ",",
       "groupChar": ".", "trueValues": "ja", "falseValues": ["nein"], "raggedRows": ["pad", "joinLast"],
       "fieldsMatch": "subset", "mode": "lenient"}
      """#)
    var expected = DialectDefinition.rfc4180
    expected.encoding = "windows-1252"
    expected.delimiter = "||"
    expected.quote = "'"
    expected.doubleQuote = false
    expected.escapeChar = "\\"
    expected.lineTerminator = "\u{1e}"
    expected.commentChar = "#"
    expected.skipInitialSpace = true
    (expected.headerRows, expected.skipRows) = (2, 2)
    expected.skipBlankRows = true
    expected.stopAt = "Total"
    expected.skipLastRows = 2
    expected.nullSequences = ["", "NA"]
    (expected.decimalChar, expected.groupChar) = (",", ".")
    (expected.trueValues, expected.falseValues) = (["ja"], ["nein"])
    expected.raggedRows = [.pad, .joinLast]
    expected.fieldsMatch = .subset
    expected.mode = .lenient
    #expect(dialect == expected)
    let csv = dialect.csv
    #expect(csv.encoding == .windows1252 && csv.delimiter == Array("||".utf8) && csv.escape == UInt8(ascii: "\\"))
    #expect(csv.headerRows == 2 && csv.skippedRows == 2 && csv.droppedLastRows == 2 && csv.stopAt == "Total")
    #expect(csv.nullTokens == [Array("NA".utf8)] && csv.mode == .lenient && !csv.doublesQuotes)
    // What is written says the same when it is read.
    let data = try JSONEncoder().encode(dialect)
    #expect(try JSONDecoder().decode(DialectDefinition.self, from: data) == dialect)
  }

  @Test func `A tab may be written as two characters, and the usual line end means every one`() throws {
    #expect(try read(#"{"delimiter": "\\t"}"#).delimiter == "\t")
    #expect(try read(#"{"lineTerminator": "\r\n"}"#).csv.lineTerminator == nil)
    #expect(try read(#"{"lineTerminator": "\n"}"#).csv.lineTerminator == [10])
    #expect(try read(#"{"headerRows": 0, "columns": ["date"]}"#).header == false)
  }

  @Test func `A dialect without the new keys has the digest that it had`() throws {
    let text = #"{"name": "p", "columns": ["date", "location", "rating"]}"#
    let definition = try PipelineDefinition(data: Data(text.utf8), environment: .journal)
    #expect(definition.digest.hex == "6809742409cd13f0b3e9b78daf89f0a2")
  }

  static let mistaken: [(dialect: String, message: String)] = [
    (#"{"encoding": "utf-9"}"#, "dialect.encoding: unknown encoding 'utf-9'"),
    (#"{"delimiter": "a\nb"}"#, "dialect.delimiter: expected one or several characters"),
    (#"{"quote": "'", "quoteChar": "'"}"#, "dialect.quoteChar: 'quote' has the same meaning"),
    (#"{"null": "x", "nullSequences": "y"}"#, "dialect.null: 'nullSequences' has the same meaning"),
    (#"{"nullSequences": ["x", "x"]}"#, "dialect.nullSequences: names a text twice"),
    (#"{"escapeChar": "\""}"#, "dialect.escapeChar: is also the delimiter or the quote"),
    (#"{"commentChar": ","}"#, "dialect.commentChar: is also the delimiter or the quote"),
    (#"{"headerRows": [2, 4]}"#, "dialect.headerRows: expected a number of records"),
    (#"{"headerRows": 0}"#, "dialect.header: without a header the columns must be named"),
    (#"{"decimalChar": ",", "groupChar": ","}"#, "dialect.groupChar: is also the decimal character"),
    (#"{"decimalChar": "12"}"#, "dialect.decimalChar: expected one character"),
    (#"{"decimalChar": ",", "quote": null}"#, "dialect.decimalChar: is also the delimiter, and nothing is quoted"),
    (#"{"raggedRows": ["truncate", "joinLast"]}"#, "dialect.raggedRows: surplus fields can't be dropped and joined"),
    (#"{"raggedRows": "padd"}"#, "dialect.raggedRows: 'padd' is none of"),
    (#"{"trueValues": ["1"], "falseValues": ["1"]}"#, "dialect.falseValues: '1' is true and false"),
    (#"{"stopAt": "("}"#, "dialect: the pattern of the footer"),
    (#"{"mode": "lax"}"#, "dialect.mode: 'lax' is none of"),
  ]

  @Test(arguments: mistaken)
  func `What can't be is a mistake at its key`(dialect: String, message: String) {
    let found = mistakes(dialect)
    #expect(found.count == 1 && found[0].hasPrefix(message), "\(found)")
  }

  @Test func `Policies of the header and the zone are read, and exclude each other where they say the same`() throws {
    func read(_ members: String) throws -> PipelineDefinition {
      let text = #"{"name": "p", "columns": ["date"], \#(members)}"#
      return try PipelineDefinition(data: Data(text.utf8), environment: .journal)
    }
    let definition = try read(#""extraColumns": "error", "missingColumns": "ignore", "timeZone": "Europe/Berlin""#)
    #expect(definition.extraColumns == .error && definition.missingColumns == .ignore)
    #expect(definition.timeZone == "Europe/Berlin")
    for wrong in [
      #""timeZone": "Berlin""#, #""extraColumns": "no""#,
      #""extraColumns": "error", "dialect": {"fieldsMatch": "exact"}"#,
    ] {
      #expect(throws: PipelineError.self) { try read(wrong) }
    }
  }

  @Test func `An export's dialect refuses what only reading can obey`() {
    let text = #"{"name": "p", "export": {"dialect": {"skipRows": 2, "encoding": "latin1", "delimiter": ";"}}}"#
    let error = #expect(throws: PipelineError.self) {
      try PipelineDefinition(data: Data(text.utf8), environment: .journal)
    }
    #expect(error?.mistakes.map(\.path) == ["export.dialect.skipRows", "export.dialect.encoding"])
  }
}
