/// How many columns of a terminal a text takes: two for wide characters, such as those of Chinese and Japanese and most
/// emoji, none for marks that combine with the character before them.
///
/// By the property East_Asian_Width of Unicode (UAX #11) and the emoji that are displayed as pictures by default.
package enum DisplayWidth {
  /// The columns of a text without control characters.
  package static func of(_ text: String) -> Int {
    // Each byte of ASCII is a character of one column.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// The columns of a character, which may consist of several scalars.
  package static func of(_ character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
      // A variation selector asks for the picture.
      if scalar.value == 0xFE0F, width == 1 { width = 2 }
      width = max(width, of(scalar))
    }
    return width
  }

  static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    return properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
  }

  /// `text` up to `columns`, with an ellipsis in place of what does not fit.
  package static func cut(_ text: String, to columns: Int) -> String {
    if of(text) <= columns { return text }
    if columns < 1 { return "" }
    var (shown, width) = ("", 0)
    for character in text {
      width += of(character)
      if width > columns - 1 { break }
      shown.append(character)
    }
    return shown + "…"
  }

  /// `text` with spaces after it, or before it, up to `columns`.
  package static func padded(_ text: String, to columns: Int, isRight: Bool = false) -> String {
    let gap = String(repeating: " ", count: max(0, columns - of(text)))
    return isRight ? gap + text : text + gap
  }

  // MARK: Wide characters

  /// The ranges of East_Asian_Width W and F that are not emoji, with the unassigned ones between them.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]

  private static func isWide(_ value: UInt32) -> Bool {
    if value < 0x1100 { return false }
    var (low, high) = (0, wide.count)
    while low < high {
      let middle = (low + high) / 2
      if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wide.count && wide[low].contains(value)
  }
}
