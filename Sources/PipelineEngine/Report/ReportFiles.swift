import CSV
import Foundation

/// Writes a run's report to files, as JSON or text by their names. Each appears whole or not at all.
enum ReportFiles {
  /// Where this run's reports go: the caller's places, or the definition's.
  static func paths(_ definition: PipelineDefinition, _ options: RunOptions) -> [String] {
    options.reports?.map { URL(fileURLWithPath: $0).path } ?? definition.report.map(definition.path)
  }

  /// Before the run: better to learn now than after it that its report has no place to go.
  static func check(_ paths: [String]) throws(RunFailure) {
    for path in paths { try OutputPlace.check(path) }
  }

  /// - Returns: The summary; where a report could not be written it says so, unless the run had failed already.
  static func write(_ summary: RunSummary, to paths: [String]) -> RunSummary {
    var summary = summary
    for path in paths {
      do {
        try write(summary, to: path)
      } catch {
        guard summary.failure == nil else { continue }
        var failure = (error as? CSVError).map(RunFailure.init)?.summary
        failure?.message += ". The run itself is complete; only its report is missing"
        summary.failure =
          failure ?? RunSummary.Failure(message: "the report \(path) can't be made: \(error)", exitCode: .software)
        summary.outcome = .failed
      }
    }
    return summary
  }

  private static func write(_ summary: RunSummary, to path: String) throws {
    let sink = try ByteSink(path: path)
    if path.hasSuffix(".json") {
      try sink.write(Array(try summary.json()))
    } else {
      // A file has room for every issue that the summary lists.
      try sink.write(summary.text(issuesShownMax: .max))
    }
    try sink.commit()
  }
}
