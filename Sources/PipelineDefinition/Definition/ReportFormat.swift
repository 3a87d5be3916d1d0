/// How a report file is written, as the ending of its name says.
public enum ReportFormat: String, Sendable, CaseIterable {
  /// Words for a person: ``RunSummary/text(issuesShownMax:)``.
  case text = "txt"
  /// Everything, for programs: ``RunSummary/json()``.
  case json
  /// Test cases for a continuous integration: ``RunSummary/junit()``.
  case junit = "xml"
  /// A page for a browser: ``RunSummary/html(issuesListedIn:)``.
  case html
  /// Gauges for the textfile collector of a Prometheus node exporter: ``RunSummary/prometheus()``.
  case prometheus = "prom"

  /// - Parameter path: A file's path; its ending counts as written, in lower case.
  public init?(path: String) {
    guard let format = Self.allCases.first(where: { path.hasSuffix(".\($0.rawValue)") }) else { return nil }
    self = format
  }

  /// The endings in words, for messages.
  public static let endings = ".txt, .json, .xml, .html or .prom"
}
