import Foundation

extension RunSummary {
  /// The report as gauges in the text format of Prometheus, for the textfile collector of its node exporter.
  ///
  /// The labels are `pipeline` and `kind`, so that one folder can have the files of several pipelines.
  public func prometheus() -> String {
    gauge(
      "last_run_timestamp_seconds", help: "When the last run ended, in seconds since 1970.",
      samples: [("", Self.plain(endedAt))])
      + gauge(
        "last_run_duration_seconds", help: "How long the last run took.", samples: [("", Self.plain(seconds))])
      + gauge(
        "last_run_records", help: "What became of the records of the last run: read is the sum of the others.",
        samples: [
          ("read", counts.read), ("inserted", counts.inserted), ("updated", counts.updated),
          ("unchanged", counts.unchanged), ("duplicate", counts.duplicate), ("repeated", counts.repeated),
          ("rejected", counts.rejected),
        ].map { (",state=\"\($0)\"", String($1)) })
      + gauge(
        "last_run_exported_entries", help: "Entries that the last run exported.", samples: [("", String(exported))])
      + gauge(
        "last_run_issues", help: "What was wrong with the input of the last run.",
        samples: [("error", issues.errors), ("warning", issues.warnings)].map { (",severity=\"\($0)\"", String($1)) })
      + gauge(
        "last_run_exit_code", help: "The exit status of the last run, as sysexits.h has it; 0 is clean.",
        samples: [("", String(exitCode.rawValue))])
  }

  private var endedAt: Double { startedAt.timeIntervalSince1970 + seconds }

  /// One metric: each sample has further labels, each after a comma, and a value.
  private func gauge(_ name: String, help: String, samples: [(labels: String, value: String)]) -> String {
    let name = "\(program)_\(name)"
    let labels = "pipeline=\"\(Self.label(pipeline))\",kind=\"\(kind.rawValue)\""
    return "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
      + samples.map { "\(name){\(labels)\($0.labels)} \($0.value)\n" }.joined()
  }

  /// Milliseconds are precise enough for a run's times.
  private static func plain(_ value: Double) -> String { String(format: "%.3f", value) }

  private static func label(_ text: String) -> String {
    RawText.lines(text).replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
      .replacingOccurrences(of: "\n", with: "\\n")
  }
}
