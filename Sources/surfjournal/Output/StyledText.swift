/// A text for people with parts that a terminal shows in colour or bold.
struct StyledText: Sendable {
  /// The meaning of a part, which decides how it is shown.
  enum Style: String {
    case heading = "1"
    case good = "32"
    case caution = "33"
    case bad = "31"
    /// What is less important than the rest.
    case quiet = "2"
  }

  private var parts: [(text: String, style: Style?)] = []

  init(_ text: String = "", _ style: Style? = nil) { append(text, style) }

  mutating func append(_ text: String, _ style: Style? = nil) {
    if !text.isEmpty { parts.append((text, style)) }
  }

  mutating func append(_ other: StyledText) { parts += other.parts }

  /// Adds a line whose parts are styled but for the spaces around them, so that no colour crosses the line's end.
  mutating func append(line: String, styling part: String, _ style: Style) {
    guard let range = line.firstRange(of: part) else { return append(line) }
    append(String(line[..<range.lowerBound]))
    append(part, style)
    append(String(line[range.upperBound...]))
  }

  var isEmpty: Bool { parts.isEmpty }

  /// The text as a terminal gets it: what it would act upon is shown as text, and the styles are added if asked for.
  func shown(inColour: Bool) -> String {
    parts.map { part in
      let text = VisibleText.lines(part.text)
      guard inColour, let style = part.style else { return text }
      return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }.joined()
  }
}
