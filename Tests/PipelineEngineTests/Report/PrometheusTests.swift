import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The gauges: one sample a line, every metric declared once, labels escaped as the format wants it.
@Suite struct PrometheusTests {
  @Test func `The gauges of a run`() throws {
    let samples = try ReportSample.dirty().prometheus().split(separator: "\n").filter { !$0.hasPrefix("#") }
    let labels = #"pipeline="surf-log",kind="import""#
    #expect(
      samples == [
        "surfjournal_last_run_timestamp_seconds{\(labels)} 1405323000.043",
        "surfjournal_last_run_duration_seconds{\(labels)} 0.043",
        "surfjournal_last_run_records{\(labels),state=\"read\"} 12345",
        "surfjournal_last_run_records{\(labels),state=\"inserted\"} 9876",
        "surfjournal_last_run_records{\(labels),state=\"updated\"} 321",
        "surfjournal_last_run_records{\(labels),state=\"unchanged\"} 914",
        "surfjournal_last_run_records{\(labels),state=\"duplicate\"} 205",
        "surfjournal_last_run_records{\(labels),state=\"repeated\"} 0",
        "surfjournal_last_run_records{\(labels),state=\"rejected\"} 1029",
        "surfjournal_last_run_exported_entries{\(labels)} 0",
        "surfjournal_last_run_issues{\(labels),severity=\"error\"} 1234",
        "surfjournal_last_run_issues{\(labels),severity=\"warning\"} 1",
        "surfjournal_last_run_exit_code{\(labels)} 65",
        "surfjournal_last_success_timestamp_seconds{\(labels)} 1405323000.043",
        "surfjournal_last_run_inputs{\(labels),state=\"processed\"} 0",
        "surfjournal_last_run_inputs{\(labels),state=\"failed\"} 0",
        "surfjournal_last_run_inputs{\(labels),state=\"waiting\"} 0",
      ])
  }

  @Test func `Every metric has one help, one type and then its samples`() throws {
    let answer = try python(
      """
      import re, sys
      names = []
      for line in sys.stdin:
          if line.startswith("# HELP "):
              names.append(line.split()[2]); seen = 0
          elif line.startswith("# TYPE "):
              assert line.split()[2:] == [names[-1], "gauge"]
          else:
              sample = re.fullmatch(r'(\\w+)\\{((?:\\w+="(?:[^"\\\\\\n]|\\\\["\\\\n])*",?)+)\\} (-?[0-9.]+)\\n', line)
              assert sample and sample[1] == names[-1], line
              float(sample[3])
      assert len(set(names)) == len(names)
      print(len(names))
      """, input: try Self.full().prometheus())
    #expect(answer == "11\n")
  }

  private static func full() throws -> RunSummary {
    var summary = try ReportSample.hostileEverywhere()
    summary.outcome = .completed
    summary.gauges.rejectsWaiting = 3
    summary.gauges.entries = ["Spot", "Ses\"sion"].map { RunGauges.EntryCount(entity: $0, count: 7) }
    summary.gauges.version = "1.0.0 (0123)"
    return summary
  }

  @Test func `A name with quotes, backslashes and line breaks stays one label`() throws {
    var summary = try ReportSample.clean()
    summary.pipeline = "a\"b\\c\nd"
    #expect(summary.prometheus().contains(#"{pipeline="a\"b\\c\nd",kind="import"} 0"#))
  }
}
