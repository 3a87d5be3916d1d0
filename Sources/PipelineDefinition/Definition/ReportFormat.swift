/// The format of a report file, determined by its extension.
public enum ReportFormat: String, Sendable, CaseIterable {
  /// Text for people: ``RunSummary/text(issuesShownMax:)``.
  case text = "txt"
  /// Complete, for programs: ``RunSummary/json()``.
  case json
  /// Test cases for continuous integration: ``RunSummary/junit()``.
  case junit = "xml"
  /// A page for a browser: ``RunSummary/html(issuesListedIn:isOfSeries:)``.
  case html
  /// Gauges for the textfile collector of a Prometheus node exporter: ``RunSummary/prometheus()``.
  case prometheus = "prom"

  /// Finds the format of a file; nil for another extension.
  ///
  /// - Parameter path: The file's path; its extension must be in lower case.
  public init?(path: String) {
    guard let format = Self.allCases.first(where: { path.hasSuffix(".\($0.rawValue)") }) else { return nil }
    self = format
  }

  /// The extensions as a list for messages.
  public static let endings = ".txt, .json, .xml, .html or .prom"
}
