import Foundation

/// The path of a report, with placeholders for what differs between runs.
package struct ReportName: Sendable, Hashable {
  package enum Placeholder: String, CaseIterable, Sendable {
    /// The day and the time of the run's start in UTC, 2014-07-14 and 073000.
    case date, time
    /// The first eight characters of the run's number, as the history shows them.
    case run
    /// The name of the pipeline.
    case pipeline
  }

  /// The values of the placeholders.
  package struct Values: Sendable {
    package var pipeline: String
    package var run: String
    package var start: Date

    package init(pipeline: String, run: String, start: Date) {
      (self.pipeline, self.run, self.start) = (pipeline, run, start)
    }
  }

  /// With a slash at its end, or empty.
  private let folder: String
  private let pieces: [NamePiece<Placeholder>]

  /// - Throws: `PipelineError` for unknown placeholders, and for placeholders in the name of a folder.
  package init(_ path: String) throws(PipelineError) {
    (folder, pieces) = try NamePiece<Placeholder>.split(path)
  }

  /// Whether runs have files of their own.
  package var isSeries: Bool {
    pieces.contains { [.placeholder(.date), .placeholder(.time), .placeholder(.run)].contains($0) }
  }

  package func path(_ values: Values) -> String {
    folder
      + pieces.map { piece in
        switch piece {
        case .text(let text): text
        case .placeholder(.date): NameTime.date(values.start)
        case .placeholder(.time): NameTime.time(values.start)
        case .placeholder(.run): String(values.run.prefix(8))
        case .placeholder(.pipeline): Self.fileName(values.pipeline)
        }
      }
      .joined()
  }

  /// Whether a file's name, without its folder, is that of a report of some run of the pipeline.
  package func matches(_ name: String, pipeline: String) -> Bool {
    let expression = pieces.map { piece in
      switch piece {
      case .text(let text): NSRegularExpression.escapedPattern(for: text)
      case .placeholder(.date): NameTime.datePattern
      case .placeholder(.time): NameTime.timePattern
      case .placeholder(.run): "[0-9a-f]{8}"
      case .placeholder(.pipeline): NSRegularExpression.escapedPattern(for: Self.fileName(pipeline))
      }
    }
    return name.range(of: "^" + expression.joined() + "$", options: .regularExpression) != nil
  }

  /// The name of a pipeline as part of the name of a file.
  package static func fileName(_ pipeline: String) -> String {
    let scalars = pipeline.unicodeScalars.map { scalar -> Character in
      scalar == "/" || scalar.value < 0x20 || scalar.value == 0x7F ? "-" : Character(scalar)
    }
    let name = String(scalars)
    return name.hasPrefix(".") ? "-" + name.dropFirst() : name
  }
}
