/// Text for a terminal of 80 columns.
package enum TextLayout {
  static let columnsMax = 80

  /// One line; a longer text ends in an ellipsis.
  static func shortened(_ text: String, to columnsMax: Int) -> String {
    // An escaped character is longer than the original, so this prefix is enough.
    let line = RawText.oneLine(String(text.prefix(columnsMax + 1)))
    return DisplayWidth.cut(line, to: columnsMax)
  }

  static func padded(_ text: String, to width: Int) -> String { DisplayWidth.padded(text, to: width) }

  /// Pieces in lines, with `separator` between two of one line; the first line begins with `first`, the others with as
  /// many spaces. A piece is not divided unless it is longer than a line; then it is divided between words.
  package static func lines(
    _ pieces: [String], after first: String, separator: String = ", ", columns: Int = 80
  ) -> [String] {
    let indent = String(repeating: " ", count: DisplayWidth.of(first))
    let width = max(20, columns - DisplayWidth.of(first))
    var lines: [String] = []
    var line = ""
    for (index, piece) in pieces.lazy.map(RawText.oneLine).enumerated() {
      let text = index == pieces.count - 1 ? piece : piece + separator.trimmingSpaces
      for (number, part) in divided(text, width: width).enumerated() {
        let gap = line.isEmpty ? "" : number == 0 && separator.hasSuffix(" ") ? " " : ""
        if !line.isEmpty, number > 0 || DisplayWidth.of(line) + gap.count + DisplayWidth.of(part) > width {
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
    while DisplayWidth.of(String(rest)) > width {
      let head = beginning(of: rest, width: width + 1)
      guard let space = head.dropFirst().lastIndex(of: " ") ?? rest.dropFirst().firstIndex(of: " ") else { break }
      lines.append(String(rest[..<space]))
      rest = rest[rest.index(after: space)...]
    }
    return lines + [String(rest)]
  }

  private static func beginning(of text: Substring, width: Int) -> Substring {
    var columns = 0
    return text.prefix { character in
      columns += DisplayWidth.of(character)
      return columns <= width
    }
  }
}

extension String {
  fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
