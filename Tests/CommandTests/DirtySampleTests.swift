import Foundation
import TestSupport
import Testing

/// The dirty sample log: everything that the table next to it lists is reported, and nothing else.
@Suite struct DirtySampleTests {
  struct Table: Decodable {
    struct Run: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let key: [String]?
      let limits: [String: Int]?
      let read: Int
      let accepted: Int
      let rejected: Int
      let issues: [Place]
      var testDescription: String { name }
    }

    let runs: [Run]
  }

  /// Where and what an issue is, without its words.
  struct Place: Decodable, Hashable, Sendable {
    let record: Int
    let line: Int
    let byte: Int
    let code: String
    let field: Int?
    let column: String?

    init(_ issue: Summary.Issue) {
      (record, line, byte, code) = (issue.record, issue.line, issue.byte, issue.code)
      (field, column) = (issue.field, issue.column)
    }
  }

  static let runs: [Table.Run] = {
    let file = Repository.file("SampleData/surf-log-dirty.expected.json")
    let table = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Table.self, from: $0) }
    return table?.runs ?? []
  }()

  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test func `The table has a run with the default pipeline and one with a key and limits`() {
    #expect(Self.runs.map(\.name) == ["default", "strict"])
  }

  @Test(arguments: runs)
  func `Each issue is reported at its record, line, byte and field`(_ run: Table.Run) throws {
    let summary = try dryRun(run)
    #expect(summary.issues.listed.map(Place.init) == run.issues)
    #expect(summary.issues.errors == run.issues.count)
    #expect(summary.counts.read == run.read)
    #expect(summary.counts.inserted == run.accepted)
    #expect(summary.counts.rejected + summary.counts.duplicate == run.rejected)
    #expect(summary.counts.isConserved)
  }

  @Test(arguments: runs)
  func `Each message says what to do next`(_ run: Table.Run) throws {
    for issue in try dryRun(run).issues.listed {
      let tells = issue.message.contains { ";.".contains($0) } || issue.message.contains("must ")
      #expect(tells, "\(issue.code): \(issue.message)")
    }
  }

  @Test(arguments: runs)
  func `The import rejects the very records that the dry run names`(_ run: Table.Run) throws {
    let validated = try dryRun(run)
    let imported = try Programs.run(
      Tool.url.path, ["import", Repository.dirtyLog, "--store", "s", "--json"] + options(run), in: folder)
    #expect(imported.status == 65)
    let summary = try imported.json()
    #expect(summary.counts == validated.counts)
    #expect(summary.issues.listed == validated.issues.listed)
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "\(run.accepted)\n")
    #expect(try folder.data("surf-log-dirty.csv.rejects.csv") == rejects(run))
  }

  @Test func `A dry run stores nothing and leaves no file behind`() throws {
    _ = try dryRun(Self.runs[0])
    #expect(try folder.names == [])
  }

  @Test func `Stopping at the first error keeps the whole chunks before it`() throws {
    let output = try Tool.run(
      "import", Repository.dirtyLog, "--store", "s", "--stop-on-error", "--chunk-rows", "5", "--json", in: folder)
    #expect(output.status == 65)
    let summary = try output.json()
    #expect(summary.outcome == "stopped")
    #expect(summary.counts == Summary.Counts(read: 5, inserted: 5))
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "5\n")
  }

  private func dryRun(_ run: Table.Run) throws -> Summary {
    let output = try Programs.run(
      Tool.url.path, ["validate", Repository.dirtyLog, "--json"] + options(run), in: folder)
    #expect(output.status == 65)
    if folder.exists("strict.json") { try FileManager.default.removeItem(at: folder.file("strict.json")) }
    return try output.json()
  }

  /// The default pipeline, or one that differs by the key and the limits of the table.
  private func options(_ run: Table.Run) throws -> [String] {
    guard let key = run.key, let limits = run.limits else { return [] }
    let limitsText = limits.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
    try folder.write(
      """
      {
        "name": "strict",
        "columns": [
          {"name": "date", "formats": ["iso8601", "journal-app"],
           "rules": ["required", {"rule": "notBefore", "date": "1900-01-01"}, "notInFuture"]},
          {"name": "location", "rules": [{"rule": "length", "max": 1000}]},
          {"name": "height", "rules": [{"rule": "length", "max": 1000}]},
          {"name": "period", "rules": [{"rule": "length", "max": 1000}]},
          {"name": "wind", "rules": [{"rule": "length", "max": 1000}]},
          {"name": "rating", "rules": [{"rule": "range", "min": 1, "max": 5}]}
        ],
        "key": \(key),
        "limits": {\(limitsText)}
      }
      """, to: "strict.json")
    return ["--pipeline", "strict.json"]
  }

  /// The header and the original bytes of each record at fault, cut out of the log by their places. For a record over
  /// the limit only the bytes up to it are kept.
  private func rejects(_ run: Table.Run) throws -> Data {
    let log = try Data(contentsOf: URL(fileURLWithPath: Repository.dirtyLog))
    var rejects = log[..<(log.firstIndex(of: 10).map { $0 + 1 } ?? 0)]
    var seen: Set<Int> = []
    for issue in run.issues where seen.insert(issue.byte).inserted {
      if issue.code == "record-too-long" {
        rejects += log[issue.byte...].prefix(run.limits?["recordBytesMax"] ?? 0) + Data("\n".utf8)
      } else {
        rejects += log[issue.byte..<end(of: issue.byte, in: log)]
      }
    }
    return Data(rejects)
  }

  /// Behind the line break that ends the record at `start`. A line break within quotes does not; the only such record
  /// of the sample closes its quote within a few bytes of the next line.
  private func end(of start: Int, in log: Data) -> Int {
    var isQuoted = false
    for at in start..<log.count {
      if log[at] == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard log[at] == 10 else { continue }
      let isClosedSoon = isQuoted && log[at...].prefix(40).contains(UInt8(ascii: "\""))
      if !isClosedSoon { return at + 1 }
    }
    return log.count
  }
}
