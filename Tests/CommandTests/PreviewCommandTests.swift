import Foundation
import TestSupport
import Testing

/// `surfjournal preview`: what it shows of files, and that it is what an import would read.
@Suite struct PreviewCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The parts of the JSON that the tests read.
  private struct Preview: Decodable {
    struct Issue: Decodable { let code: String, line: Int, column: String?, message: String }
    enum Value: Decodable, Equatable {
      case text(String), number(Double), null

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
          self = .null
        } else if let number = try? container.decode(Double.self) {
          self = .number(number)
        } else {
          self = .text(try container.decode(String.self))
        }
      }
    }
    struct Count: Decodable, Equatable { let value: Value, count: Int }
    struct Column: Decodable {
      let name: String, type: String, filled: Int, distinct: Int, distinctIsExact: Bool, frequent: [Count]
      let least: Value?, greatest: Value?, shortest: Int?, longest: Int?
      let refused: Int, refusals: [Issue]
    }
    struct Record: Decodable {
      let record: Int, line: Int, values: [String: Value]?, text: String?, reasons: [String]?, issues: [Issue]?
    }
    struct File: Decodable {
      let input: String, read: Int, accepted: Int, rejected: Int, warned: Int, ignoredFields: Int
      let columns: [Column], first: [Record], last: [Record], odd: [Record]

      func column(_ name: String) throws -> Column { try #require(columns.first { $0.name == name }) }
    }
    let exitCode: Int32
    let files: [File]
  }

  private func preview(_ arguments: String..., status: Int32 = 0, input: String? = nil) throws -> Preview {
    let output = try Programs.run(
      Tool.url.path, ["preview", "--json"] + arguments, in: folder, input: input.map { Data($0.utf8) })
    #expect(output.status == status, "\(output.messages)")
    let preview = try JSONDecoder().decode(Preview.self, from: output.bytes)
    #expect(preview.exitCode == status)
    return preview
  }

  private static let log =
    Logs.header
      + """
      2014-07-14,3 ft,12,Glassy,Rincon,4
      2014-07-15,,12,Glassy,"Malibu, First Point",3
      yesterday,,12,Glassy,Rincon,3
      2014-07-13,4 ft,,Onshore,"two
      lines",
      2014-07-16,3 ft,12,Glassy,Rincon,1

      """

  @Test func `Each column has its filling, its different values, its range or lengths, and what was refused`() throws {
    try folder.write(Self.log, to: "a.csv")
    let file = try #require(try preview("a.csv", status: 65).files.first)
    #expect(file.input == "a.csv")
    #expect(file.read == 5 && file.accepted == 4 && file.rejected == 1)
    #expect(file.warned == 0 && file.ignoredFields == 0)
    #expect(file.columns.map(\.name) == ["date", "height", "period", "wind", "location", "rating"])
    let date = try file.column("date")
    #expect(date.type == "date" && date.filled == 4 && date.distinct == 4 && date.frequent == [])
    #expect(date.least == .text("2014-07-13T00:00:00Z") && date.greatest == .text("2014-07-16T00:00:00Z"))
    #expect(date.refused == 1 && date.refusals.map(\.line) == [4] && date.refusals[0].code == "type-error")
    let height = try file.column("height")
    #expect(height.filled == 3 && height.distinct == 2 && height.frequent == [.init(value: .text("3 ft"), count: 2)])
    let location = try file.column("location")
    #expect(location.shortest == 6 && location.longest == 19 && location.least == nil)
    let rating = try file.column("rating")
    #expect(rating.least == .number(1) && rating.greatest == .number(4) && rating.filled == 3 && rating.distinct == 3)
  }

  @Test func `The first, last and odd records are shown as they are parsed, with their lines and reasons`() throws {
    try folder.write(Self.log, to: "a.csv")
    let file = try #require(try preview("a.csv", "--records", "1", status: 65).files.first)
    #expect(file.first.map(\.line) == [2] && file.last.map(\.line) == [7])
    #expect(file.first[0].values?["rating"] == .number(4) && file.first[0].values?["location"] == .text("Rincon"))
    let odd = Dictionary(uniqueKeysWithValues: file.odd.map { ($0.line, $0) })
    #expect(file.odd.map(\.line) == [2, 3, 4, 5, 7])
    #expect(odd[4]?.text == #"yesterday,,12,Glassy,Rincon,3"# && odd[4]?.values == nil)
    #expect(odd[4]?.reasons == ["rejected"] && odd[4]?.issues?.map(\.column) == ["date"])
    #expect(odd[5]?.reasons == ["first date", "longest wind"])
    #expect(odd[5]?.values?["location"] == .text("two\nlines") && odd[5]?.values?["rating"] == .null)
    #expect(odd[3]?.reasons == ["longest location"] && odd[7]?.reasons == ["last date", "smallest rating"])
  }

  @Test func `A record is rare if it alone has its value where values repeat otherwise`() throws {
    let records = (0..<60).map { "2014-07-14,,,\($0 == 41 ? "Offshore" : $0 % 2 == 0 ? "Glassy" : "Calm"),L\($0),\n" }
    try folder.write(Logs.header + records.joined(), to: "a.csv")
    let file = try #require(try preview("a.csv").files.first)
    #expect(file.odd.filter { $0.reasons?.contains("only one with its wind") == true }.map(\.line) == [43])
    // Each place occurs once: none is rare.
    #expect(!file.odd.contains { $0.reasons?.contains("only one with its location") == true })
  }

  @Test func `Warnings are shown with their records`() throws {
    try folder.write(Logs.header + "2014-07-14,,,,Rincon,4\n2014-07-15,,,,Malibu\n", to: "a.csv")
    let file = try #require(try preview("a.csv", "--lenient").files.first)
    #expect(file.warned == 1 && file.rejected == 0)
    let warned = try #require(file.odd.first { $0.reasons?.contains("warning") == true })
    #expect(warned.line == 3 && warned.values?["location"] == .text("Malibu") && warned.issues?.count == 1)
  }

  @Test func `Different values are exact up to the bound, also of long texts, and more than it beyond`() throws {
    let long = String(repeating: "l", count: 400)
    let records = (0..<10_050).map {
      "2014-07-14T07:30:00Z,\($0 % 10_000),\(long)\($0 % 3),,Place \($0),\($0 % 5 + 1)\n"
    }
    try folder.write(Logs.header + records.joined(), to: "a.csv")
    let file = try #require(try preview("a.csv").files.first)
    let height = try file.column("height")
    #expect(height.distinct == 10_000 && height.distinctIsExact)
    #expect(height.frequent.first == .init(value: .text("0"), count: 2))
    let location = try file.column("location")
    #expect(location.distinct == 10_000 && !location.distinctIsExact)
    let period = try file.column("period")
    #expect(period.distinct == 3 && period.distinctIsExact && period.frequent.map(\.count) == [3350, 3350, 3350])
    let text = try Tool.run("preview", "a.csv", in: folder).text
    #expect(text.contains("different      more than 10,000\n"))
  }

  @Test func `Counts, status and issues are those of validate`() throws {
    let shown = try preview(Repository.dirtyLog, status: 65)
    let checked = try Tool.run("validate", Repository.dirtyLog, "--json", in: folder)
    let counts = try checked.json().counts
    #expect(checked.status == 65)
    #expect(shown.files.map(\.read) == [counts.read])
    #expect(shown.files.map(\.rejected) == [counts.rejected])
  }

  @Test func `Several files, gzip and standard input are read, and nothing is left behind`() throws {
    try folder.write(Logs.two, to: "a.csv")
    let shown = try preview("a.csv", Repository.cleanLogGzip, "-", input: Logs.two)
    #expect(shown.files.map(\.input) == ["a.csv", Repository.cleanLogGzip, "-"])
    #expect(shown.files.map(\.read) == [2, 4000, 2])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.csv"])
  }

  @Test func `A pipeline's store, reports, rejects and limits of errors are not used`() throws {
    try folder.write(Self.log, to: "a.csv")
    try folder.write(
      #"""
      {"extends": "surf-log", "name": "p", "store": "s", "report": "r.html", "rejects": "x.csv", "errorPolicy": "stop",
       "key": ["location"]}
      """#, to: "p.json")
    let file = try #require(try preview("a.csv", "--pipeline", "p.json", status: 65).files.first)
    // The second record of the same place would be rejected, as by validate.
    #expect(file.read == 5 && file.rejected == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["a.csv", "p.json"])
  }

  @Test func `The text fits 80 columns and names every part`() throws {
    for log in [Repository.cleanLog, Repository.dirtyLog] {
      let text = try Tool.run("preview", log, in: folder).text
      let path = log.split(separator: "/").last.map(String.init) ?? ""
      let lines = text.split(separator: "\n").filter { !$0.contains(path) }
      #expect(lines.filter { $0.count > 80 } == [])
      for title in ["\nColumns\n", "\nFirst records\n", "\nLast records\n", "\nOdd records\n"] {
        #expect(text.contains(title))
      }
    }
  }

  @Test func `What can't be read ends with its status, and the other file is shown`() throws {
    try folder.write(Logs.two, to: "a.csv")
    try folder.write("Ort;Datum\nRincon;1\n", to: "b.csv")
    let output = try Tool.run("preview", "a.csv", "b.csv", in: folder)
    #expect(output.status == 65 && output.messages.contains("b.csv: "))
    #expect(output.text.contains("a.csv"))
    #expect(try Tool.run("preview", "none.csv", in: folder).status == 66)
    #expect(try Tool.run("preview", in: folder).status == 64)
    #expect(try Tool.run("preview", "a.csv", "--records", "0", in: folder).status == 64)
    #expect(try Tool.run("preview", "a.csv", "--key", "spot", in: folder).status == 64)
    let refused = try Tool.run("preview", "b.csv", in: folder)
    #expect(refused.messages.contains("surfjournal guess b.csv"))
  }

  @Test func `The JSON fits its schema`() throws {
    try folder.write(Self.log, to: "a.csv")
    let shown = try Tool.run("preview", "a.csv", Repository.dirtyLog, Repository.cleanLog, "--json", in: folder)
    let empty = try Tool.run("preview", "none.csv", "--json", in: folder)
    let wrong = shown.text.replacingOccurrences(of: "\"pipeline\"", with: "\"pipelines\"")
    try folder.write("[\(shown.text), \(empty.text), \(wrong)]", to: "previews.json")
    let mistakes = try Programs.python(
      """
      import json, jsonschema, sys
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      for index, preview in enumerate(json.load(open("previews.json"))):
          for mistake in validator.iter_errors(preview):
              print(index, mistake.json_path, mistake.validator)
      """, Repository.path("Pipelines/preview.schema.json"), in: folder)
    // The last one is wrong on purpose, to see that the validator looks.
    #expect(mistakes == "2 $ additionalProperties\n2 $ required\n")
  }
}
