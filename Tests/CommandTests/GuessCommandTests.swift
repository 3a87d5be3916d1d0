import Foundation
import TestSupport
import Testing

/// `surfjournal guess`: what it prints, writes and refuses.
@Suite struct GuessCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let plain =
    "Datum;Ort;Wellenhöhe;Bewertung\n" + (10...28).map { "2014-07-\($0);Rincon;1,5 m;\($0 % 5 + 1)\n" }.joined()
  private static let ambiguous = "Date,Spot\n3/4/2014,Rincon\n1/2/2014,Mundaka\n5/4/2014,Malibu\n"

  @Test func `The pipeline goes to standard output, the report to standard error`() throws {
    try folder.write(Self.plain, to: "a.csv")
    let output = try Tool.run("guess", "a.csv", in: folder)
    #expect(output.status == 0)
    #expect(output.text.hasPrefix("// Guessed from a.csv"))
    #expect(output.text.contains("\"delimiter\": \";\""))
    #expect(output.messages.contains("Wellenhöhe"))
    #expect(output.messages.contains("2014-07-10T00:00:00Z"))
    let quiet = try Tool.run("guess", "a.csv", "-q", in: folder)
    #expect(quiet.text == output.text)
    #expect(quiet.messages.isEmpty)
  }

  @Test func `What is written is a pipeline that runs as it is`() throws {
    try folder.write(Self.plain, to: "a.csv")
    let output = try Tool.run("guess", "a.csv", "-o", "a.json", "--store", "j.sqlite", in: folder)
    #expect(output.status == 0)
    #expect(output.text.contains("surfjournal run a.json\n"))
    #expect(try Tool.run("check", "a.json", "-q", in: folder).status == 0)
    let run = try Tool.run("run", "a.json", in: folder)
    #expect(run.status == 0)
    let list = try Tool.run("list", "--store", "j.sqlite", "--json", in: folder)
    let entries = try #require(try JSONSerialization.jsonObject(with: list.bytes) as? [[String: Any]])
    #expect(entries.count == 19)
    #expect(entries.last?["location"] as? String == "Rincon")
    #expect(entries.last?["height"] as? String == "1,5 m")
    #expect(entries.last?["rating"] as? Int == 1)
  }

  @Test func `A point that is not sure ends it with status 65, the evidence and the choices, and writes nothing`()
    throws
  {
    try folder.write(Self.ambiguous, to: "a.csv")
    let output = try Tool.run("guess", "a.csv", "-o", "a.json", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("all 3 can be d/M/yyyy or M/d/yyyy"))
    #expect(output.messages.contains("choose: d/M/yyyy or M/d/yyyy"))
    #expect(!folder.exists("a.json"))
    #expect(try Tool.run("guess", "a.csv", "-q", in: folder).text.isEmpty)
  }

  @Test func `An import that can't read a file says the line to type, and it works`() throws {
    try folder.write(Self.plain, to: "Müllers log.csv")
    let refused = try Tool.run("import", "Müllers log.csv", "--store", "j.sqlite", in: folder)
    #expect(refused.status == 65)
    let hint = try #require(refused.messages.split(separator: "\n").first { $0.contains("run: ") })
    let line = try #require(hint.components(separatedBy: "run: ").last)
    #expect(line.hasPrefix("surfjournal guess 'Müllers log.csv' --store j.sqlite -o 'Müllers log.json' && "))
    let script = line.replacingOccurrences(of: "surfjournal ", with: "\"$surfjournal\" ")
    #expect(try Tool.shell(script, in: folder).status == 0)
    let list = try Tool.run("list", "--store", "j.sqlite", "--json", in: folder)
    #expect((try JSONSerialization.jsonObject(with: list.bytes) as? [Any])?.count == 19)
    // Where a pipeline was asked for, it is what has to be corrected.
    let asked = try Tool.run("import", "Müllers log.csv", "--store", "k.sqlite", "--pipeline", "surf-log", in: folder)
    #expect(asked.status == 65 && !asked.messages.contains("surfjournal guess"))
  }

  @Test func `A declared format or a lower confidence lets it pass`() throws {
    try folder.write(Self.ambiguous, to: "a.csv")
    let declared = try Tool.run("guess", "a.csv", "--date-format", "d/M/yyyy", in: folder)
    #expect(declared.status == 0)
    #expect(declared.text.contains("\"formats\": [\"d/M/yyyy\"]"))
    #expect(try Tool.run("guess", "a.csv", "--min-confidence", "0", in: folder).status == 0)
  }

  @Test func `A file that exists is replaced only on request`() throws {
    try folder.write(Self.plain, to: "a.csv")
    try folder.write("mine", to: "a.json")
    #expect(try Tool.run("guess", "a.csv", "-o", "a.json", in: folder).status == 73)
    #expect(try folder.text("a.json") == "mine")
    #expect(try Tool.run("guess", "a.csv", "-o", "a.json", "--force", in: folder).status == 0)
    #expect(try folder.text("a.json") != "mine")
  }

  @Test func `Mistakes of the command line and missing files have their status`() throws {
    try folder.write(Self.plain, to: "a.csv")
    #expect(try Tool.run("guess", in: folder).status == 64)
    #expect(try Tool.run("guess", "a.csv", "--min-confidence", "2", in: folder).status == 64)
    #expect(try Tool.run("guess", "a.csv", "--date-format", "EEEE", in: folder).status == 64)
    #expect(try Tool.run("guess", "a.csv", "-o", "a.yaml", in: folder).status == 64)
    #expect(try Tool.run("guess", "none.csv", in: folder).status == 66)
  }

  @Test func `The sample spreadsheet is guessed without a doubt`() throws {
    let output = try Tool.run("guess", Repository.path("SampleData/surftagebuch.csv"), in: folder)
    #expect(output.status == 0)
    #expect(output.text.contains("\"from\": [\"Datum\", \"Uhrzeit\"]"))
  }

  /// A form in which a program writes the sample spreadsheet.
  enum Form: String, CaseIterable, Sendable {
    /// As it is: `;`, Windows-1252, CRLF, two title lines.
    case original
    /// UTF-8 and LF, without the title lines.
    case numbers
    /// UTF-16 with a byte order mark and tabs.
    case excel
    /// With the line that names the delimiter.
    case namedDelimiter

    func bytes(_ sheet: String) throws -> Data {
      let lines = sheet.components(separatedBy: "\r\n")
      let table = Array(lines.dropFirst(2))
      return switch self {
      case .original: try #require(sheet.data(using: .windowsCP1252))
      case .numbers: Data(table.joined(separator: "\n").utf8)
      case .excel:
        try #require(
          table.joined(separator: "\r\n").replacingOccurrences(of: ";", with: "\t").data(using: .utf16))
      case .namedDelimiter:
        try #require((["sep=;"] + table).joined(separator: "\r\n").data(using: .windowsCP1252))
      }
    }
  }

  @Test(arguments: ["google-sheets", "numbers"])
  func `A table that Google Sheets or Numbers exports goes in with guess and run, every value right`(
    _ name: String
  ) throws {
    let file = Repository.path("SampleData/\(name).csv")
    #expect(try Tool.run("guess", file, "-o", "t.json", "--store", "j.sqlite", "-q", in: folder).status == 0)
    let run = try Tool.run("run", "t.json", in: folder)
    #expect(run.status == 0, "\(run.text)")
    let columns = "date,height,period,wind,location,rating"
    let export = try Tool.run("export", "--store", "j.sqlite", "--columns", columns, "-q", in: folder)
    #expect(try export.bytes == Data(contentsOf: Repository.file("SampleData/\(name).expected.csv")))
  }

  @Test(arguments: Form.allCases)
  func `The sample spreadsheet goes in with guess and run, every value right`(_ form: Form) throws {
    let original = try Data(contentsOf: URL(fileURLWithPath: Repository.path("SampleData/surftagebuch.csv")))
    let sheet = try #require(String(data: original, encoding: .windowsCP1252))
    try form.bytes(sheet).write(to: folder.file("tagebuch.csv"))
    let expected = try Data(
      contentsOf: URL(fileURLWithPath: Repository.path("SampleData/surftagebuch.expected.csv")))
    #expect(try Tool.run("guess", "tagebuch.csv", "-o", "t.json", "--store", "j.sqlite", "-q", in: folder).status == 0)
    let run = try Tool.run("run", "t.json", in: folder)
    #expect(run.status == 0, "\(run.text)")
    let columns = "date,height,period,wind,location,rating"
    let export = try Tool.run("export", "--store", "j.sqlite", "--columns", columns, "-q", in: folder)
    #expect(export.status == 0)
    #expect(export.bytes == expected)
  }

  /// Each process has its own order of dictionaries.
  @Test func `A guess is the same each time`() throws {
    let dates = (1...24).map { "\($0)/12/14" } + ["5/6/2014", "6/5/2014", "12/25/2014", "12/26/2014"]
    try folder.write("date,location\n" + dates.map { "\($0),Rincon\n" }.joined(), to: "dates.csv")
    var answers: Set<String> = []
    for _ in 0..<12 {
      let output = try Tool.run("guess", "dates.csv", in: folder)
      answers.insert("\(output.status) \(output.text) \(output.messages)")
    }
    #expect(answers.count == 1)
  }
}
