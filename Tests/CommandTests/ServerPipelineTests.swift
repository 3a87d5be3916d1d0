import Foundation
import TestSupport
import Testing

/// What a pipeline notifies, reports and removes does not depend on whether its store is a file or on a server.
@Suite(.enabled(if: PostgreSQLServer.isThere, serverComment)) struct ServerPipelineTests {
  /// What is left of some nights.
  private struct Nights: Equatable {
    var statuses: [Int32] = []
    var heard: [String] = []
    var history: [String] = []
    var pageCount = 0
    var rejects: [String] = []
    var processed: [String] = []
  }

  private static let old = "2014-07-15"

  private static func pipeline(_ store: String) -> String {
    #"""
    { "extends": "surf-log", "name": "nightly", "inbox": { "folder": "inbox", "settleSeconds": 0 }, "source": null,
      "store": "\#(store)", "rejects": "rejects/", "report": "reports/{run}.html",
      "columns": [{ "name": "date", "required": true }, "height", "period", "wind", "location",
        { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }],
      "retention": { "reports": { "count": 3 }, "processed": { "days": 30 }, "rejects": { "days": 5 } },
      "notify": { "on": ["failure", "recovery"], "commands": [{ "run": "./hear" }] } }
    """#
  }

  private static func record(_ number: Int, rating: Int = 4) -> String {
    "2014-07-14T07:30:00Z,3.9,12,Glassy,Place \(number),\(rating)\n"
  }

  /// Five nights: the second one has a bad record, which is corrected; before the last one everything is made old.
  private func nights(_ store: String, in folder: TemporaryFolder) throws -> Nights {
    let files = FileManager.default
    try folder.write(Self.pipeline(store), to: "nightly.json")
    try folder.write("#!/bin/sh\ncat >/dev/null\necho \"$SURFJOURNAL_EVENT\" >>heard.txt\n", to: "hear")
    try folder.setMode(0o755, of: "hear")
    try folder.makeFolder("inbox")
    var nights = Nights()
    func run(_ arguments: String...) throws {
      nights.statuses.append(try Programs.run(Tool.url.path, arguments, in: folder).status)
    }
    func night(_ name: String, _ records: String) throws {
      try folder.write(Logs.header + records, to: "inbox/\(name)")
      try run("run", "nightly.json", "--quiet")
    }
    try night("a.csv", Self.record(1))
    try night("b.csv", Self.record(2) + Self.record(3, rating: 9))
    let rejects = "rejects/b.csv.rejects.csv"
    try folder.write(try folder.text(rejects).replacingOccurrences(of: ",9\n", with: ",5\n"), to: rejects)
    try run("replay", rejects, "--quiet")
    try night("c.csv", Self.record(4, rating: 9))
    let day = try #require(try files.contentsOfDirectory(atPath: folder.path("inbox/processed")).first)
    try files.moveItem(
      atPath: folder.path("inbox/processed/\(day)"), toPath: folder.path("inbox/processed/\(Self.old)"))
    for name in try files.contentsOfDirectory(atPath: folder.path("rejects")) {
      try files.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -9 * 86_400)], ofItemAtPath: folder.path("rejects/\(name)"))
    }
    try night("d.csv", Self.record(5))
    try run("notify", "nightly.json", "--event", "drift", "--quiet")
    nights.heard = try folder.text("heard.txt").split(separator: "\n").map(String.init)
    nights.pageCount = try files.contentsOfDirectory(atPath: folder.path("reports")).count {
      $0.hasSuffix(".html") && $0 != "index.html"
    }
    nights.rejects = try files.contentsOfDirectory(atPath: folder.path("rejects")).sorted()
    nights.processed = try files.subpathsOfDirectory(atPath: folder.path("inbox/processed"))
      .filter { $0.hasSuffix(".csv") }.map { $0.hasPrefix(Self.old) ? $0 : String($0.drop { $0 != "/" }) }.sorted()
    let history = try Programs.run(Tool.url.path, ["history", store], in: folder).text
    nights.history = history.matches(of: /^    (\S+)  complete/.anchorsMatchLineEndings()).map { String($0.1) }
    return nights
  }

  @Test func `Reports, rejects and inputs are removed, runs are listed and notified as with a file`() throws {
    let journal = try ServerJournal()
    let here = try nights("journal.sqlite", in: TemporaryFolder())
    let there = try nights(journal.address, in: journal.folder)
    #expect(there == here)
    #expect(here.statuses == [0, 65, 0, 65, 0, 0])
    #expect(here.heard == ["failure", "failure", "recovery", "drift"])
    #expect(here.pageCount == 3)
    // What was replayed is gone, with its input; what waits is kept, with its.
    #expect(here.rejects == ["c.csv.rejects.csv", "c.csv.rejects.csv.jsonl"])
    #expect(here.processed == ["/d.csv", "\(Self.old)/c.csv"])
    // The newest first, although several runs may begin in one second.
    #expect(here.history == ["d.csv", "c.csv", "rejects/b.csv.rejects.csv", "b.csv", "a.csv"])
  }
}
