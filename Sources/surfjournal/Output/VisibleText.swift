import PipelineEngine

/// Text from files, stores and the system made safe for a terminal, which would act upon its control characters.
enum VisibleText {
  /// `text` with its line breaks and tabs; other control and format characters are shown by number.
  static func lines(_ text: String) -> String { RawText.lines(text) }

  /// JSON with the same values: the characters that its encoder leaves are written as escapes.
  static func json(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: RawText.isUnsafeInLines) else { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if RawText.isUnsafeInLines(scalar) {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: true)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
