import CSV
import Foundation
import SystemSupport

/// Writes a run's report to files, each in the format of its extension. Each appears complete or not at all.
enum ReportFiles {
  /// The paths of this run's reports: the caller's, or else the definition's. Those with placeholders were replaced, see
  /// ``ReportPlan``.
  static func paths(_ definition: PipelineDefinition, _ options: RunOptions) -> [String] {
    options.reports?.map { URL(fileURLWithPath: $0).path } ?? definition.report.map(definition.path)
  }

  /// Whether a report has gauges, which need a look at the store.
  static func haveGauges(_ paths: [String]) -> Bool { paths.contains { ReportFormat(path: $0) == .prometheus } }

  /// Called before the run, so that an unwritable path is reported before the work rather than after it.
  static func check(_ paths: [String]) throws(RunFailure) {
    for path in paths {
      try OutputPath.check(path)
      try OutputPath.checkOwner(of: path)
    }
  }

  /// Writes the reports of a run. The summary says if one could not be written, unless the run had failed already.
  ///
  /// - Parameters:
  ///   - reports: Those that are written.
  ///   - plan: All of the run's: a page that shows only some issues names the report that lists them.
  ///   - isCancelled: Ends the wait for the reader of a FIFO.
  /// - Returns: Whether all reports are on the disk; otherwise the next run has to write them.
  static func write(
    _ summary: inout RunSummary, to reports: [ReportPlan.Report], of plan: ReportPlan, advice: String = "",
    unless isCancelled: @escaping () -> Bool
  ) -> Bool {
    var isWritten = true
    for report in reports {
      do {
        try write(summary, to: report, listedIn: listing(plan.paths), unless: isCancelled)
      } catch {
        isWritten = false
        guard summary.failure == nil else { continue }
        var failure = (error as? CSVError).map(RunFailure.init)?.summary
        failure?.message += ". The run itself is complete; only its report is missing\(advice)"
        summary.failure =
          failure
          ?? RunSummary.Failure(message: "the report \(report.path) can't be made: \(error)", exitCode: .software)
        summary.outcome = .failed
      }
    }
    return isWritten
  }

  private static func write(
    _ summary: RunSummary, to report: ReportPlan.Report, listedIn: String?, unless isCancelled: @escaping () -> Bool
  ) throws {
    let path = report.path
    if report.isSeries {
      // The name of a run that was killed does not come again.
      OutputFile.removeLeftovers(besides: path) { report.name.matches($0, pipeline: summary.pipeline) }
    }
    let former = ReportFormat(path: path) == .prometheus ? try? RegularFile.read(path) : nil
    let sink = try ByteSink(path: path, permissions: FileRights.ofFile(path, near: summary.store), unless: isCancelled)
    switch ReportFormat(path: path) {
    case .json: try sink.write(Array(try summary.json()))
    case .junit: try sink.write(summary.junit())
    case .html: try sink.write(summary.html(issuesListedIn: listedIn, isOfSeries: report.isSeries))
    case .prometheus: try sink.write(summary.prometheus(after: former.flatMap { String(bytes: $0, encoding: .utf8) }))
    // A text file lists every issue of the summary.
    case .text, nil: try sink.write(RawText.lines(summary.text(issuesShownMax: .max)))
    }
    try sink.commit()
  }

  private static func listing(_ paths: [String]) -> String? {
    [ReportFormat.json, .text].lazy.compactMap { format in paths.first { ReportFormat(path: $0) == format } }.first
  }
}
