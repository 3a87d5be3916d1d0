import CSV
import Foundation

/// The files that get a comparison, each in the format of its extension. Each appears complete or not at all.
package struct ComparisonReports {
  /// The formats of a comparison's reports.
  private enum Format: String, CaseIterable {
    case text = "txt"
    case jsonLines = "jsonl"
    case html
  }

  /// Whether a comparison can be written to a file with this extension.
  package static func accepts(_ path: String) -> Bool { format(of: path) != nil }

  /// The extensions as a list for messages.
  package static let endings = ".txt, .jsonl or .html"

  private let paths: [String]

  /// Checks before the work that the files can be written; `others` are those that are read.
  init(_ paths: [String], isNoneOf others: [String]) throws {
    self.paths = paths.map { URL(fileURLWithPath: $0).path }
    // A report has none of the endings of what belongs next to a store.
    try OutputPath.check(self.paths, key: "report", filesRead: others, store: nil)
    for path in self.paths { try OutputPath.check(path) }
  }

  /// - Parameter isCancelled: Ends the wait for the reader of a FIFO.
  func write(_ comparison: FileComparison, unless isCancelled: @escaping () -> Bool) throws {
    for path in paths {
      do {
        let sink = try ByteSink(path: path, permissions: ByteSink.permissionsMax, unless: isCancelled)
        switch Self.format(of: path) {
        case .text: try comparison.writeText { try sink.write($0) }
        case .jsonLines: try comparison.writeJSON { try sink.write($0) }
        case .html, nil: try sink.write(comparison.html())
        }
        try sink.commit()
      } catch let error as CSVError {
        throw RunFailure(error)
      }
    }
  }

  private static func format(of path: String) -> Format? {
    Format.allCases.first { path.hasSuffix(".\($0.rawValue)") }
  }
}
