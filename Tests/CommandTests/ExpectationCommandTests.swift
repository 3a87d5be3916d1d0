import Foundation
import TestSupport
import Testing

/// `expect` in a pipeline's file: exit status, reports, what is saved, and how it is explained.
@Suite struct ExpectationCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func pipeline(_ more: String = "", severity: String = "error") throws {
    try folder.write(
      """
      { "extends": "surf-log", "name": "club", "missingColumns": "ignore", \(more)
        "expect": {
          "records": { "min": 3, "maxPercentOfMean": 200, "severity": "\(severity)" },
          "columns": [
            { "name": "rating", "emptyPercentMax": 40, "severity": "\(severity)" },
            { "name": "date", "newestWithinDays": 7, "severity": "\(severity)" }
          ] },
        "report": ["r.txt", "r.json", "r.xml", "r.html", "r.prom"] }
      """, to: "club.json")
    try folder.write(Logs.two, to: "log.csv")
  }

  private func count() throws -> String {
    try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder)
  }

  @Test func `A run that is not as expected fails with 65, in every report`() throws {
    try pipeline()
    for command in ["validate", "import"] {
      let output = try Tool.run(command, "log.csv", "--store", "s", "--pipeline", "club.json", "--json", in: folder)
      #expect(output.status == 65)
      let summary = try output.json()
      #expect(summary.outcome == "failed")
      #expect(summary.issues.counts["expectation-error"] == 3)
      #expect(summary.counts.inserted == 2)
      #expect(summary.issues.listed.map(\.column).suffix(3) == [nil, "rating", "date"])
      for name in ["r.txt", "r.json", "r.xml", "r.html"] {
        let report = try folder.text(name)
        for text in ["2 records were read; expected at least 3", "50 %", "2014-07-15T00:00:00Z"] {
          #expect(report.contains(text), "\(name): \(report)")
        }
      }
      #expect(
        try folder.text("r.prom").contains("surfjournal_last_run_exit_code{pipeline=\"club\",kind=\"\(command)\"} 65"))
      let isSaid = try folder.text("r.txt").contains(
        "Its entries are in the store; with \"atomic\": true they would not be")
      #expect(isSaid == (command == "import"))
      #expect(folder.exists("s") == (command == "import"))
    }
    #expect(try count() == "2\n")
    #expect(try Tool.run("history", "s", in: folder).text.contains("failed"))
  }

  @Test func `An atomic run saves nothing, and an inbox's file has failed`() throws {
    try folder.makeFolder("in")
    try pipeline("\"atomic\": true, \"store\": \"s\", \"inbox\": { \"folder\": \"in\", \"settleSeconds\": 0 },")
    try folder.write(Logs.two, to: "in/log.csv")
    let output = try Tool.run("run", "club.json", in: folder)
    #expect(output.status == 65)
    #expect(output.text.contains("Nothing of this run is in the store"))
    #expect(try count() == "0\n")
    let failed = try Programs.output(of: ["find", "in/failed", "-name", "log.csv"], in: folder)
    #expect(failed.contains("log.csv"))
  }

  @Test func `Warnings are reported under --quiet, and the run is clean`() throws {
    try pipeline(severity: "warning")
    let output = try Tool.run("import", "log.csv", "--store", "s", "--pipeline", "club.json", "-q", in: folder)
    #expect(output.status == 0)
    #expect(output.messages.contains("log.csv: warning: expectation-error: 2 records were read; expected at least 3"))
    #expect(output.messages.split(separator: "\n").count == 3)
  }

  @Test func `Corrected rejects are not compared, and do not count as a run`() throws {
    try folder.write(
      #"""
      { "extends": "surf-log", "name": "club", "expect": { "records": { "min": 2, "minPercentOfMean": 90 } } }
      """#, to: "club.json")
    try folder.write(Logs.two + "never,,,,Rincon,4\n", to: "log.csv")
    func surfjournal(_ arguments: String...) throws -> ProgramOutput {
      try Programs.run(Tool.url.path, arguments, in: folder)
    }
    #expect(try surfjournal("import", "log.csv", "--store", "s", "--pipeline", "club.json").status == 65)
    try folder.write(Logs.header + "2014-07-16,,,,Rincon,4\n", to: "log.csv.rejects.csv")
    let replay = try surfjournal("replay", "log.csv.rejects.csv")
    #expect(replay.status == 0, "\(replay.text)\(replay.messages)")
    #expect(replay.text.contains("corrected records are not compared"))
    try folder.write(Logs.two, to: "few.csv")
    let few = try surfjournal("import", "few.csv", "--store", "s", "--pipeline", "club.json", "--again")
    #expect(few.text.contains("expected at least 90 % of 3, the mean of the last run"), "\(few.text)")
  }

  @Test func `It is explained, and its mistakes are reported`() throws {
    try pipeline()
    let explained = try Tool.run("check", "club.json", in: folder)
    #expect(explained.status == 0)
    #expect(explained.text.contains("records: at least 3; at most 200 % of the mean of the last 10 runs"))
    #expect(explained.text.contains("rating: at most 40 % empty"))
    #expect(explained.text.contains("date: the newest at most 7 days old"))
    try folder.write(
      #"""
      { "extends": "surf-log", "name": "club", "expect": {
        "records": { "min": 3, "max": 2, "lastRuns": 5 },
        "columns": [{ "name": "ratng", "distinctMin": 1 }, { "name": "wind", "newestWithinDays": 1 }, { "name": "date" }]
      } }
      """#, to: "club.json")
    let wrong = try Tool.run("check", "club.json", in: folder)
    #expect(wrong.status == 78)
    for text in [
      "expect.records.min: is greater than 'max'", "the pipeline has no column 'ratng'; did you mean 'rating'?",
      "expect.columns[2]: expects nothing",
    ] { #expect(wrong.messages.contains(text) || wrong.text.contains(text), "\(wrong.messages)\(wrong.text)") }
    try folder.write(
      #"{ "extends": "surf-log", "name": "c", "expect": { "columns": [{ "name": "wind", "newestWithinDays": 1 }] } }"#,
      to: "club.json")
    let typed = try Tool.run("check", "club.json", in: folder)
    #expect(typed.status == 78)
    #expect((typed.messages + typed.text).contains("expect.columns[0].newestWithinDays: 'wind' is"))
  }
}
