import CSV
import Foundation

/// Writes a run's report to files, each in the format of its extension. Each appears complete or not at all.
enum ReportFiles {
  /// The paths of this run's reports: the caller's, or else the definition's.
  static func paths(_ definition: PipelineDefinition, _ options: RunOptions) -> [String] {
    options.reports?.map { URL(fileURLWithPath: $0).path } ?? definition.report.map(definition.path)
  }

  /// Whether a report has gauges, which need a look at the store.
  static func haveGauges(_ paths: [String]) -> Bool { paths.contains { ReportFormat(path: $0) == .prometheus } }

  /// Called before the run, so that an unwritable path is reported before the work rather than after it.
  static func check(_ paths: [String]) throws(RunFailure) {
    for path in paths { try OutputPath.check(path) }
  }

  /// - Returns: The summary, which says if a report could not be written, unless the run had failed already.
  static func write(_ summary: RunSummary, to paths: [String]) -> RunSummary {
    var summary = summary
    _ = write(&summary, to: paths)
    return summary
  }

  /// Like `write(_:to:)`, of a run that is in the ledger.
  ///
  /// - Returns: Whether all reports are on the disk; otherwise the next run has to write them.
  static func write(
    _ summary: inout RunSummary, to paths: [String], advice: String = ""
  ) -> Bool {
    var isWritten = true
    for path in paths {
      do {
        try write(summary, to: path, all: paths)
      } catch {
        isWritten = false
        guard summary.failure == nil else { continue }
        var failure = (error as? CSVError).map(RunFailure.init)?.summary
        failure?.message += ". The run itself is complete; only its report is missing\(advice)"
        summary.failure =
          failure ?? RunSummary.Failure(message: "the report \(path) can't be made: \(error)", exitCode: .software)
        summary.outcome = .failed
      }
    }
    return isWritten
  }

  /// - Parameter paths: All reports of the run: a page that shows only some issues names the report that lists them.
  private static func write(_ summary: RunSummary, to path: String, all paths: [String]) throws {
    let former = ReportFormat(path: path) == .prometheus ? try? String(contentsOfFile: path, encoding: .utf8) : nil
    let sink = try ByteSink(path: path, permissions: FileRights.ofFile(path, near: summary.store))
    switch ReportFormat(path: path) {
    case .json: try sink.write(Array(try summary.json()))
    case .junit: try sink.write(summary.junit())
    case .html: try sink.write(summary.html(issuesListedIn: listing(paths)))
    case .prometheus: try sink.write(summary.prometheus(after: former))
    // A text file lists every issue of the summary.
    case .text, nil: try sink.write(RawText.lines(summary.text(issuesShownMax: .max)))
    }
    try sink.commit()
  }

  private static func listing(_ paths: [String]) -> String? {
    [ReportFormat.json, .text].lazy.compactMap { format in paths.first { ReportFormat(path: $0) == format } }.first
  }
}
