import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

/// Dates whose order of day and month is in doubt are decided before anything is saved.
@Suite struct DateOrderRunTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static func definition(_ formats: [String]) -> PipelineDefinition {
    .plain {
      $0.columns[0].formats = formats
      $0.missingColumns = .ignore
    }
  }

  private static func csv(_ dates: [String]) -> String {
    "date,location\n" + dates.map { "\($0),Rincon\n" }.joined()
  }

  /// 12 dates that only Europeans write, after 5,500 that can be either.
  private static let european =
    (0..<5500).map { "\($0 % 12 + 1)/3/14" } + (13...24).map { "\($0)/3/14" }

  private func dates(_ store: String) throws -> [String] {
    try sqlite(store, "SELECT DISTINCT date(ZDATE + 978307200, 'unixepoch') FROM ZJOURNALENTRY ORDER BY Z_PK")
      .split(separator: "\n").map(String.init)
  }

  @Test func `A contradiction far behind the first chunk refuses the file before anything is saved`() async throws {
    let input = try folder.write(Self.csv(Self.european), to: "log.csv")
    let summary = try await run(Self.definition(["M/d/yy"]), .import, inputs: [input], store: folder.path("s"))
    #expect(summary.exitCode == .dataError)
    #expect(summary.counts == RunCounts())
    #expect(summary.issues.counts == [.dateOrder: 1])
    let issue = try #require(summary.issues.listed.first)
    #expect(issue.message.hasPrefix("12 of 5512 can't be M/d/yy (13/3/14 in line 5502); all 5512 can be d/M/yy"))
    #expect((issue.column, issue.field, issue.line) == ("date", 1, 5502))
    #expect(!FileManager.default.fileExists(atPath: folder.path("s")))
  }

  @Test func `Short dates behind chunks of ISO dates are looked at when the first one comes`() async throws {
    let iso = [String](repeating: "2014-07-14", count: 20)
    func run(_ dates: [String], _ name: String) async throws -> RunSummary {
      let input = try folder.write(Self.csv(iso + dates), to: "\(name).csv")
      var definition = Self.definition(["iso8601", "M/d/yy", "d/M/yy"])
      definition.chunkRows = 5
      return try await PipelineEngineTests.run(definition, .import, inputs: [input], store: folder.path(name))
    }
    let decided = try await run(["3/4/14", "3/4/14", "3/4/14", "3/4/14", "3/4/14", "14/3/14"], "decided")
    #expect(decided.exitCode == .ok)
    #expect(decided.note?.contains("date is read as d/M/yy: 1 of 6 can't be M/d/yy") == true)
    #expect(try dates(folder.path("decided")) == ["2014-07-14", "2014-04-03", "2014-03-14"])
    let open = try await run(["3/4/14"], "open")
    #expect(open.exitCode == .dataError)
    #expect(open.counts == RunCounts(read: 20, inserted: 20))
    #expect(open.failure?.message.contains("records 1 to 20 are in the store already") == true)
  }

  @Test func `The same from a pipe ends at the chunk that contradicts, and says how much is in the store`() async throws
  {
    let pipe = folder.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let text = Self.csv(Self.european)
    Thread {
      guard let handle = FileHandle(forWritingAtPath: pipe) else { return }
      try? handle.write(contentsOf: Data(text.utf8))
      try? handle.close()
    }.start()
    let summary = try await run(Self.definition(["M/d/yy"]), .import, inputs: [pipe], store: folder.path("s"))
    #expect(summary.exitCode == .dataError)
    #expect(summary.counts == RunCounts(read: 5000, inserted: 5000))
    #expect(summary.failure?.message.contains("records 1 to 5,000 are in the store already") == true)
  }

  @Test func `Dates that fit one of two declared orders are read in it, and the summary says so`() async throws {
    for (name, text, found) in [("us", "3/14/14", "2014-03-14"), ("eu", "14/3/14", "2014-03-14")] {
      let input = try folder.write(Self.csv(["5/5/14", text]), to: "\(name).csv")
      let store = folder.path(name)
      let summary = try await run(
        Self.definition(["iso8601", "M/d/yy", "d/M/yy"]), .import, inputs: [input], store: store)
      #expect(summary.exitCode == .ok)
      #expect(try dates(store) == ["2014-05-05", found])
      #expect(summary.note?.contains("date is read as \(name == "us" ? "M/d/yy" : "d/M/yy")") == true)
    }
  }

  @Test func `A dry run finds what the import would`() async throws {
    let input = try folder.write(Self.csv(["3/4/14"]), to: "log.csv")
    let formats = ["M/d/yy", "d/M/yy"]
    let dry = try await run(Self.definition(formats), .validate, inputs: [input], store: nil)
    let real = try await run(Self.definition(formats), .import, inputs: [input], store: folder.path("s"))
    #expect(dry.issues == real.issues)
    #expect(dry.exitCode == .dataError)
    #expect(dry.issues.counts == [.dateOrder: 1])
  }

  @Test func `Each input decides for itself`() async throws {
    let inputs = [
      try folder.write(Self.csv(["3/14/14"]), to: "a.csv"), try folder.write(Self.csv(["15/3/14"]), to: "b.csv"),
    ]
    let summary = try await run(
      Self.definition(["M/d/yy", "d/M/yy"]), .import, inputs: inputs, store: folder.path("s"))
    #expect(summary.exitCode == .ok)
    #expect(try dates(folder.path("s")) == ["2014-03-14", "2014-03-15"])
  }

  @Test func `Times without a zone are said to be UTC, or are those of the declared one`() async throws {
    let input = try folder.write(Self.csv(["2014-07-14 07:30"]), to: "log.csv")
    var definition = Self.definition([])
    let utc = try await run(definition, .validate, inputs: [input], store: nil)
    #expect(utc.note?.contains("times without a zone were read as UTC") == true)
    definition.timeZone = "Europe/Berlin"
    let local = try await run(definition, .import, inputs: [input], store: folder.path("s"))
    #expect(local.note == "times without a zone were read as Europe/Berlin")
    #expect(
      try sqlite(folder.path("s"), "SELECT datetime(ZDATE + 978307200, 'unixepoch') FROM ZJOURNALENTRY")
        == "2014-07-14 05:30:00")
    let zoned = try folder.write(Self.csv(["2014-07-14T07:30:00Z", "2014-07-15"]), to: "zoned.csv")
    #expect(try await run(Self.definition([]), .validate, inputs: [zoned], store: nil).note == nil)
  }
}
