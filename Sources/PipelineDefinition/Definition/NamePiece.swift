import Foundation

/// A piece of a file's name that has placeholders for what differs between files, such as `{date}`.
enum NamePiece<Placeholder>: Sendable, Hashable
where Placeholder: RawRepresentable<String> & CaseIterable & Sendable & Hashable {
  case text(String)
  case placeholder(Placeholder)

  /// Splits a name. Braces around anything but lower-case letters are part of the name.
  static func all(of text: String) throws(PipelineError) -> [NamePiece] {
    var pieces: [NamePiece] = []
    var literal = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      let word = rest[rest.index(after: open)...].prefix { $0 != "}" && $0 != "{" }
      let isPlaceholder =
        word.endIndex < rest.endIndex && rest[word.endIndex] == "}" && !word.isEmpty
        && word.allSatisfy { ("a"..."z").contains($0) }
      guard isPlaceholder else {
        literal += rest[...open]
        rest = rest[rest.index(after: open)...]
        continue
      }
      guard let placeholder = Placeholder(rawValue: String(word)) else {
        let names = Placeholder.allCases.map(\.rawValue)
        let hint = NearestName.hint(for: String(word), in: names)
        throw PipelineError("the placeholder {\(word)} is unknown; known are \(ObjectReader.list(names))\(hint)")
      }
      literal += rest[..<open]
      if !literal.isEmpty { pieces.append(.text(literal)) }
      literal = ""
      pieces.append(.placeholder(placeholder))
      rest = rest[rest.index(after: word.endIndex)...]
    }
    literal += rest
    if !literal.isEmpty { pieces.append(.text(literal)) }
    return pieces
  }

  /// The folder of a path, with its slash or empty, and the pieces of the file's name.
  ///
  /// - Throws: `PipelineError` for unknown placeholders, and for placeholders in the name of a folder.
  static func split(_ path: String) throws(PipelineError) -> (folder: String, pieces: [NamePiece]) {
    let nameStart = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let folder = String(path[..<nameStart])
    for case .placeholder(let placeholder) in try all(of: folder) {
      throw PipelineError("{\(placeholder.rawValue)} is in a folder's name; placeholders are for the file's name")
    }
    return (folder, try all(of: String(path[nameStart...])))
  }

  /// The piece as the name has it.
  var name: String {
    switch self {
    case .text(let text): text
    case .placeholder(let placeholder): "{\(placeholder.rawValue)}"
    }
  }
}

/// The start of a run in the name of a file, in UTC.
enum NameTime {
  /// The day, 2014-07-14.
  static func date(_ start: Date) -> String { String(text(start).prefix { $0 != "T" }) }

  /// The time, 073000.
  static func time(_ start: Date) -> String { text(start).drop { $0 != "T" }.filter(\.isNumber) }

  /// Regular expressions for both.
  static let datePattern = "[0-9]{4,}-[0-9]{2}-[0-9]{2}"
  static let timePattern = "[0-9]{6}"

  private static func text(_ start: Date) -> String {
    DateText.iso8601(start.timeIntervalSinceReferenceDate.rounded(.down)) ?? ""
  }
}
