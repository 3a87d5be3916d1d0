import Foundation

extension RunSummary {
  /// The report as gauges in the text format of Prometheus, for the textfile collector of its node exporter.
  ///
  /// The labels are `pipeline` and `kind`, so that one folder can have the files of several pipelines.
  public func prometheus() -> String { prometheus(after: nil) }

  /// - Parameter former: The gauges of the run before, which has the time of the last success if this run is none.
  func prometheus(after former: String?) -> String {
    lastRun + lastSuccess(after: former) + inputsAndStore
      + (gauges.version.map { version in
        gauge(
          "build_info", help: "The program that wrote these figures; always 1.",
          samples: [(",version=\"\(Self.label(version))\"", "1")])
      } ?? "")
  }

  private var lastRun: String {
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

  /// A run that reached its end is a success, also with rejected records, which have figures of their own.
  private func lastSuccess(after former: String?) -> String {
    let name = "last_success_timestamp_seconds"
    let value = outcome == .completed ? Self.plain(endedAt) : former.flatMap { self.value(of: name, in: $0) }
    guard let value else { return "" }
    return gauge(
      name, help: "When the last run that reached its end ended, in seconds since 1970.", samples: [("", value)])
  }

  private var inputsAndStore: String {
    var text = ""
    if kind != .export {
      text += gauge(
        "last_run_inputs", help: "What became of the inputs of the last run; waiting are left for the next one.",
        samples: [
          ("processed", gauges.inputsProcessed), ("failed", gauges.inputsFailed), ("waiting", gauges.inputsWaiting),
        ].map { (",state=\"\($0)\"", String($1)) })
    }
    if let waiting = gauges.rejectsWaiting {
      text += gauge(
        "rejects_waiting", help: "Rejected records of all runs that wait for a correction.",
        samples: [("", String(waiting))])
    }
    if !gauges.entries.isEmpty {
      text += gauge(
        "store_entries", help: "Objects in the store after the last run.",
        samples: gauges.entries.map { (",entity=\"\(Self.label($0.entity))\"", String($0.count)) })
    }
    return text
  }

  private var endedAt: Double { startedAt.timeIntervalSince1970 + seconds }

  /// One metric: each sample has further labels, each after a comma, and a value.
  private func gauge(_ name: String, help: String, samples: [(labels: String, value: String)]) -> String {
    let name = "\(program)_\(name)"
    return "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
      + samples.map { "\(name){\(labels)\($0.labels)} \($0.value)\n" }.joined()
  }

  private var labels: String { "pipeline=\"\(Self.label(pipeline))\",kind=\"\(kind.rawValue)\"" }

  /// The value of a gauge of this pipeline and kind in the file of an earlier run; nil if that has none, or if what it has
  /// is not a number.
  private func value(of name: String, in former: String) -> String? {
    let start = "\(program)_\(name){\(labels)} "
    guard let line = former.split(separator: "\n").first(where: { $0.hasPrefix(start) }) else { return nil }
    return Double(line.dropFirst(start.count)).map(Self.plain)
  }

  /// Milliseconds are precise enough for a run's times.
  private static func plain(_ value: Double) -> String { String(format: "%.3f", value) }

  private static func label(_ text: String) -> String {
    RawText.lines(text).replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
      .replacingOccurrences(of: "\n", with: "\\n")
  }
}
