import Foundation

/// The path of an export's files, with placeholders for what differs between runs and between the files of one run.
package struct OutputTemplate: Sendable, Hashable {
  enum Placeholder: String, CaseIterable, Sendable {
    /// The number of the file, from 00001.
    case part
    /// The month of its entries.
    case month
    /// The run's day and time, 2014-07-14 and 073000.
    case date, time
  }

  private typealias Piece = NamePiece<Placeholder>

  /// The values of the placeholders.
  package struct Values {
    package var part: Int
    package var month: String
    /// The start of the run.
    package var start: Date

    package init(part: Int = 1, month: String = "", start: Date) {
      self.part = part
      self.month = month
      self.start = start
    }
  }

  private static let partDigits = 5
  /// The characters that join a placeholder to the rest of a name.
  private static let joints = "-_ "

  /// With a trailing slash, or empty.
  private let folder: String
  private var pieces: [Piece]
  private let isStandardOutput: Bool

  /// Throws if the name has unknown placeholders, or placeholders that are not available.
  package init(_ path: String, split: ExportDefinition.Split?) throws(PipelineError) {
    isStandardOutput = path == "-"
    (folder, pieces) = try Piece.split(path)
    if pieces.isEmpty { throw PipelineError("the output has no file name; write one, such as \(folder)log.csv") }
    for required in [Placeholder.part, .month]
    where pieces.contains(.placeholder(required)) && split?.placeholder != required {
      let missing =
        required == .part
        ? "rows; add \"split\": {\"rows\": 100000}" : "month; add \"split\": {\"month\": \"date\"}"
      throw PipelineError("the name has {\(required.rawValue)}, and the export is not split by \(missing)")
    }
    if let placeholder = split?.placeholder, !pieces.contains(.placeholder(placeholder)), !isStandardOutput {
      insert(placeholder)
    }
  }

  /// Inserts the placeholder before the extensions: `log.csv.gz` becomes `log-{part}.csv.gz`.
  private mutating func insert(_ placeholder: Placeholder) {
    guard case .text(let tail)? = pieces.last else {
      pieces += [.text("-"), .placeholder(placeholder)]
      return
    }
    pieces.removeLast()
    let end = Self.extensionsStart(of: tail, isWholeName: pieces.isEmpty)
    pieces += [.text(tail[..<end] + "-"), .placeholder(placeholder)]
    if end < tail.endIndex { pieces.append(.text(String(tail[end...]))) }
  }

  /// The start of the last extension, or of the one before it if the last is `.gz`.
  private static func extensionsStart(of name: String, isWholeName: Bool) -> String.Index {
    var end = name.endIndex
    for _ in 0..<2 {
      guard let dot = name[..<end].lastIndex(of: "."), !(isWholeName && dot == name.startIndex) else { break }
      let isPacked = end == name.endIndex && name[dot...].lowercased() == ".gz"
      end = dot
      if !isPacked { break }
    }
    return end
  }

  /// The name with its placeholders.
  var name: String { pieces.map(\.name).joined() }

  package func path(_ values: Values) -> String {
    folder
      + pieces.map { piece in
        switch piece {
        case .text(let text): text
        case .placeholder(.part): Self.digits(values.part)
        case .placeholder(.month): values.month
        case .placeholder(.date): NameTime.date(values.start)
        case .placeholder(.time): NameTime.time(values.start)
        }
      }
      .joined()
  }

  /// Whether a file's name, without its folder, is that of an output of some run.
  package func matches(_ name: String) -> Bool {
    let expression = pieces.map { piece in
      switch piece {
      case .text(let text): NSRegularExpression.escapedPattern(for: text)
      case .placeholder(.part): "[0-9]{\(Self.partDigits),}"
      case .placeholder(.month): ".+"
      case .placeholder(.date): NameTime.datePattern
      case .placeholder(.time): NameTime.timePattern
      }
    }
    return name.range(of: "^" + expression.joined() + "$", options: .regularExpression) != nil
  }

  private static func digits(_ part: Int) -> String {
    let digits = String(part)
    return String(repeating: "0", count: max(0, partDigits - digits.count)) + digits
  }

  /// The file next to the outputs that records how far they go: the name without placeholders and their joints.
  package var markPath: String {
    var name = ""
    for (index, piece) in pieces.enumerated() {
      switch piece {
      case .text(let text):
        let isFirstLeft = name.isEmpty && index > 0
        name += isFirstLeft ? String(text.drop { (Self.joints + ".").contains($0) }) : text
      case .placeholder: while let last = name.last, Self.joints.contains(last) { name.removeLast() }
      }
    }
    return folder + (name.isEmpty ? "export" : name) + ".mark.json"
  }
}

extension ExportDefinition.Split {
  /// The placeholder that distinguishes its files.
  var placeholder: OutputTemplate.Placeholder {
    switch self {
    case .rows: .part
    case .month: .month
    }
  }
}
