/// Text for a terminal of 80 columns.
enum TextLayout {
  static let columnsMax = 80

  /// One line; a longer text ends in an ellipsis.
  static func shortened(_ text: String, to charactersMax: Int) -> String {
    // An escaped character is longer than the original, so this prefix is enough.
    let line = RawText.oneLine(String(text.prefix(charactersMax + 1)))
    return line.count > charactersMax ? line.prefix(max(0, charactersMax - 1)) + "…" : line
  }

  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Pieces in lines, with `separator` between two of one line; the first line begins with `first`, the others with as
  /// many spaces. A piece is not divided unless it is longer than a line; then it is divided between words.
  static func lines(_ pieces: [String], after first: String, separator: String = ", ") -> [String] {
    let indent = String(repeating: " ", count: first.count)
    let width = max(20, columnsMax - first.count)
    var lines: [String] = []
    var line = ""
    for (index, piece) in pieces.enumerated() {
      let text = index == pieces.count - 1 ? piece : piece + separator.trimmingSpaces
      for (number, part) in divided(text, width: width).enumerated() {
        let gap = line.isEmpty ? "" : number == 0 && separator.hasSuffix(" ") ? " " : ""
        if !line.isEmpty, number > 0 || line.count + gap.count + part.count > width {
          lines.append(line)
          line = part
        } else {
          line += gap + part
        }
      }
    }
    if !line.isEmpty { lines.append(line) }
    return lines.enumerated().map { ($0 == 0 ? first : indent) + $1 }
  }

  /// A text in lines, divided at spaces; all others stay, and a word that is longer than a line does too.
  private static func divided(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var rest = Substring(text)
    while rest.count > width {
      let head = rest.prefix(width + 1)
      guard let space = head.dropFirst().lastIndex(of: " ") ?? rest.dropFirst().firstIndex(of: " ") else { break }
      lines.append(String(rest[..<space]))
      rest = rest[rest.index(after: space)...]
    }
    return lines + [String(rest)]
  }
}

extension String {
  fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
