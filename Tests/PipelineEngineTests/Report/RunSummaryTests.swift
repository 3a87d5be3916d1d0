import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The report: one value, said in JSON for programs and in words for people, always the same way.
@Suite struct RunSummaryTests {
  static let position = RecordPosition(input: "log.csv", record: 11, line: 12, byte: 345)

  static func summary(_ change: (inout RunSummary) -> Void = { _ in }) -> RunSummary {
    var issues = IssueLog(listedMax: 2)
    issues.add(
      RecordIssue(
        .typeError, at: position, field: 6, column: "rating", value: "s\\\"ix/é",
        message: "is not a whole number; write digits only, or leave the field empty"))
    issues.add(RecordIssue(.extraLabel, severity: .warning, at: position, message: "it is ignored"))
    issues.add(RecordIssue(.typeError, at: position, message: "not listed any more"))
    var summary = RunSummary(
      kind: .import, pipeline: "surf-log", startedAt: Date(timeIntervalSinceReferenceDate: 427_015_800),
      seconds: 0.5, inputs: [.init(path: "log.csv", bytes: 123_456, records: 1500)], store: "journal.sqlite",
      counts: RunCounts(read: 1500, inserted: 1490, duplicate: 7, rejected: 3), issues: issues,
      rejects: "log.csv.rejects.csv", memoryPeakBytes: 34_567_890, program: "surfjournal")
    change(&summary)
    return summary
  }

  @Test func `The JSON report's keys and values stay as they are`() throws {
    let json = String(decoding: try Self.summary().json(), as: UTF8.self)
    #expect(json == Self.snapshot)
  }

  private static let snapshot = #"""
    {
      "counts" : {
        "duplicate" : 7,
        "inserted" : 1490,
        "read" : 1500,
        "rejected" : 3,
        "repeated" : 0,
        "unchanged" : 0,
        "updated" : 0
      },
      "exitCode" : 65,
      "exported" : 0,
      "formatVersion" : 1,
      "inputs" : [
        {
          "bytes" : 123456,
          "path" : "log.csv",
          "records" : 1500
        }
      ],
      "issues" : {
        "counts" : {
          "extra-label" : 1,
          "type-error" : 2
        },
        "errors" : 2,
        "isTruncated" : true,
        "listed" : [
          {
            "byte" : 345,
            "code" : "type-error",
            "column" : "rating",
            "field" : 6,
            "input" : "log.csv",
            "line" : 12,
            "message" : "is not a whole number; write digits only, or leave the field empty",
            "record" : 11,
            "severity" : "error",
            "value" : "s\\\"ix/é"
          },
          {
            "byte" : 345,
            "code" : "extra-label",
            "input" : "log.csv",
            "line" : 12,
            "message" : "it is ignored",
            "record" : 11,
            "severity" : "warning"
          }
        ],
        "warningCounts" : {
          "extra-label" : 1
        },
        "warnings" : 1
      },
      "kind" : "import",
      "memoryPeakBytes" : 34567890,
      "outcome" : "completed",
      "outputs" : [

      ],
      "pipeline" : "surf-log",
      "rejects" : "log.csv.rejects.csv",
      "rowsPerSecond" : 3000,
      "seconds" : 0.5,
      "startedAt" : "2014-07-14T07:30:00Z",
      "store" : "journal.sqlite"
    }

    """#

  @Test func `Python reads the JSON report`() throws {
    let json = String(decoding: try Self.summary().json(), as: UTF8.self)
    let output = try python(
      """
      import json, sys
      report = json.load(sys.stdin)
      print(report['exitCode'], report['counts']['read'], report['issues']['counts']['type-error'])
      print(ascii(report['issues']['listed'][0]['value']), 'failure' in report)
      """, input: json)
    #expect(output == "65 1500 2\n's\\\\\"ix/\\xe9' False\n")
  }

  @Test func `A summary is read back from its JSON`() throws {
    let failed = Self.summary {
      $0.outcome = .failed
      $0.failure = .init(code: .sourceError, message: "no such file; check the path", exitCode: .noInput)
    }
    for summary in [Self.summary(), failed] {
      #expect(try RunSummary(json: summary.json(), program: summary.program) == summary)
    }
  }

  @Test func `The text report gives verdict, totals, what is wrong and what to do next`() {
    #expect(
      Self.summary().text() == #"""
        surf-log: import done, 2 errors

          input       log.csv  (123.5 kB, 1,500 records)
          store       journal.sqlite
          rejects     log.csv.rejects.csv
          time        0.50 s, 3,000 records/s, peak memory 34.6 MB
          read        1,500
          inserted    1,490
          duplicate       7
          rejected        3

        What is wrong:
          2  type-error
          1  extra-label

          log.csv:12: rating "s\"ix/é": type-error: is not a whole number; write digits only, or leave the field empty
          log.csv:12: warning: extra-label: it is ignored
          … and 1 more; reports list 2 of 3

        Next: correct the records in log.csv.rejects.csv, then run: surfjournal replay log.csv.rejects.csv

        """#)
  }

  @Test func `A clean run says so and no more`() {
    let clean = Self.summary {
      $0.issues = .init()
      $0.rejects = nil
      $0.counts = RunCounts(read: 1, inserted: 1)
      $0.inputs = [.init(path: "-", bytes: 999, records: 1)]
    }
    #expect(
      clean.text() == """
        surf-log: import clean

          input       standard input  (999 B, 1 record)
          store       journal.sqlite
          time        0.50 s, 2 records/s, peak memory 34.6 MB
          read        1
          inserted    1
          rejected    0

        """)
  }

  static let verdicts: [(kind: RunSummary.Kind, outcome: RunSummary.Outcome, first: String, last: String)] = [
    (.validate, .completed, "surf-log: dry run done, 2 errors", "Next: correct the listed lines, then import."),
    (.import, .cancelled, "surf-log: import cancelled; what was saved before stays", "Next: run it again."),
    (
      .import, .stopped, "surf-log: import STOPPED: as the pipeline's error policy says",
      "Next: correct the listed records and run it again."
    ),
    (
      .export, .failed, "surf-log: export FAILED: disk full; make room",
      "  … and 1 more; reports list 2 of 3"
    ),
  ]

  @Test(arguments: verdicts)
  func `Every end of a run has its verdict and its next step`(
    kind: RunSummary.Kind, outcome: RunSummary.Outcome, first: String, last: String
  ) {
    let summary = Self.summary {
      $0.kind = kind
      $0.outcome = outcome
      $0.rejects = nil
      if outcome == .failed { $0.failure = .init(message: "disk full; make room", exitCode: .ioError) }
    }
    let lines = summary.text().split(separator: "\n")
    #expect(lines.first.map(String.init) == first)
    #expect(lines.last.map(String.init) == last)
  }

  @Test func `Fewer issues may be shown than are listed, and the text says how many are left`() {
    let text = Self.summary().text(issuesShownMax: 1)
    #expect(text.contains("… and 2 more"))
    #expect(!text.contains("it is ignored"))
  }

  static let sizes: [(bytes: Int, text: String)] = [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (1_500_000_000, "1.5 GB"),
    (2_000_000_000_000, "2.0 TB"),
  ]

  @Test(arguments: sizes)
  func `Sizes are stated in decimal units`(bytes: Int, text: String) {
    #expect(TextTable.bytes(bytes) == text)
  }

  static let grouped: [(value: Int, text: String)] = [
    (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (.min, "-9,223,372,036,854,775,808"),
  ]

  @Test(arguments: grouped)
  func `Thousands are grouped the same in every locale`(value: Int, text: String) {
    #expect(TextTable.grouped(value) == text)
  }
}
