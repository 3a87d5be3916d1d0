import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import TableGuessing

/// The pipeline that a guess becomes.
@Suite struct PipelineTextTests {
  private static func diary() throws -> TableGuess {
    TableGuesser(vocabulary: .journal).guess(try FileSample(path: Repository.path("SampleData/surftagebuch.csv")))
  }

  /// The file as pipelines are read: JSON with comments.
  private static func json(_ text: String) throws -> [String: Any] {
    var parser = JSONLocatingParser(Data(text.utf8))
    return try #require(plain(try parser.read()) as? [String: Any])
  }

  private static func plain(_ value: JSONValue) -> Any {
    switch value {
    case .null: NSNull()
    case .bool(let value): value
    case .number(let number): Int(number)
    case .string(let text): text
    case .array(let items):
      items.allSatisfy { if case .string = $0 { true } else { false } }
        ? items.compactMap { plain($0) as? String } : items.map(plain)
    case .object(let members): members.mapValues(plain)
    }
  }

  @Test func `The German spreadsheet becomes a pipeline with what it needs`() throws {
    let text = PipelineText(
      try Self.diary(), name: "tagebuch", sources: ["surftagebuch.csv"], store: "j.sqlite", program: "surfjournal"
    ).text
    let pipeline = try Self.json(text)
    #expect(pipeline["name"] as? String == "tagebuch")
    #expect(pipeline["source"] as? [String] == ["surftagebuch.csv"])
    #expect(pipeline["store"] as? String == "j.sqlite")
    let dialect = try #require(pipeline["dialect"] as? [String: Any])
    #expect(dialect["encoding"] as? String == "windows-1252")
    #expect(dialect["delimiter"] as? String == ";")
    #expect(dialect["skipRows"] as? Int == 2)
    #expect(dialect["skipBlankRows"] as? Bool == true)
    #expect(dialect["stopAt"] as? String == "Summe:")
    #expect(dialect["nullSequences"] as? [String] == ["", "–"])
    let columns = try #require(pipeline["columns"] as? [[String: Any]])
    #expect(columns[0]["from"] as? [String] == ["Datum", "Uhrzeit"])
    #expect(columns[0]["formats"] as? [String] == ["d.M.yyyy H:mm", "d.M.yyyy"])
    #expect(columns.compactMap { $0["attribute"] as? String } == ["location", "height", "period", "wind", "rating"])
    #expect(columns[2]["name"] as? String == "Wellenhöhe")
  }

  @Test func `A label with a NUL is written so that it is read back`() throws {
    let sample = FileSample(name: "log.csv", head: Array("D\0atum;Ort\n14.07.2014;Sylt\n15.07.2014;Kampen\n".utf8))
    let text = PipelineText(TableGuesser(vocabulary: .journal).guess(sample), name: "log", program: "surfjournal").text
    let columns = try #require(try Self.json(text)["columns"] as? [[String: Any]])
    #expect(columns.compactMap { $0["name"] as? String }.contains("D\0atum"), "\(text)")
  }

  @Test func `Each point is a comment with its confidence and its evidence`() throws {
    let text = PipelineText(try Self.diary(), name: "tagebuch", program: "surfjournal").text
    #expect(text.contains("// 0.97: 60 of 60 can be d.M.yyyy, 35 can't be M.d.yyyy"))
    #expect(text.contains("// 0.95: 57 bytes are not UTF-8"))
    #expect(text.contains("// \"timeZone\": \"Europe/Berlin\","))
    #expect(text.contains("// \"key\": [\"date\", \"location\"],"))
  }

  @Test func `What is commented out can be activated as it is`() throws {
    let text = PipelineText(try Self.diary(), name: "tagebuch", program: "surfjournal").text
    let active = text.replacing("// \"timeZone\"", with: "\"timeZone\"").replacing("// \"key\"", with: "\"key\"")
    #expect(try Self.json(active)["key"] as? [String] == ["date", "location"])
  }

  @Test func `A plain file of today's dialect is a pipeline that is read as it is`() throws {
    let guess = guessed("date;spot;rating\n2014-07-14;Rincon;4\n2014-07-15;Mundaka;5\n2014-07-16;Malibu;1\n")
    #expect(!guess.isRefused)
    let text = PipelineText(guess, name: "plain", sources: ["a.csv"], program: "surfjournal").text
    let definition = try PipelineDefinition(data: Data(text.utf8))
    #expect(definition.dialect.delimiter == ";")
    #expect(definition.columns.map(\.attribute) == ["date", "location", "rating"])
    #expect(definition.columns.map(\.name) == ["date", "spot", "rating"])
  }

  @Test func `Labels that do not name each column once are replaced by positions`() throws {
    let rows = (10...28).map { "2014-07-\($0),Rincon,3 ft,x\n" }.joined()
    let guess = guessed("Title\n\nDate,Spot,Height,\n" + rows)
    let dialect = try #require(
      try Self.json(PipelineText(guess, name: "a", program: "surfjournal").text)["dialect"] as? [String: Any])
    #expect(dialect["header"] as? Bool == false)
    #expect(dialect["skipRows"] as? Int == 3)
    #expect(dialect["columns"] as? [String] == ["date", "location", "height", ""])
  }

  @Test func `Any text of a file is harmless in the pipeline`() throws {
    let label = "Spot \"x\" */ // \\ \u{2028} \u{1}"
    let rows = (10...28).map { "2014-07-\($0)\tRincon\n" }.joined()
    let guess = guessed("Date\t\(label)\n\(rows)")
    _ = try Self.json(PipelineText(guess, name: "a\"b", sources: ["c\\d\n.csv"], program: "surfjournal").text)
    _ = GuessReport(guess).text
  }

  @Test func `Signs of regular expressions in a footer are text`() {
    #expect(PatternText.matching("* a (b)") == "\\* a \\(b\\)")
  }

  @Test func `A refusal names the point and the choices`() {
    let guess = guessed("Date,Spot\n3/4/2014,Rincon\n1/2/2014,Mundaka\n5/4/2014,Malibu\n")
    let text = GuessReport(guess).refusal(below: confidenceMin).joined(separator: "\n")
    #expect(text.contains("date format (0.45): all 3 can be"))
    #expect(text.contains("M/d/yyyy"))
  }

  @Test func `The report has each point, and the first entries as they would be stored`() throws {
    let text = GuessReport(try Self.diary()).text
    #expect(text.contains("2013-05-24T13:15:00Z"))
    #expect(text.contains("Wellenhöhe"))
    #expect(text.contains("Windows-1252"))
  }
}
