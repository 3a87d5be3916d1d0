/// A piece of XML or HTML. Values that are interpolated into its literals are escaped, so a value can't become markup;
/// only other pieces are inserted unchanged.
///
///     let cell: Markup = "<td title=\"\(path)\">\(value)</td>"
struct Markup: Sendable, ExpressibleByStringInterpolation {
  private(set) var text: String

  init(stringLiteral text: String) { self.text = text }
  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ value: String) { text += Markup.escaped(value) }
    mutating func appendInterpolation(_ value: Int) { text += String(value) }
    mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
    mutating func appendInterpolation(_ pieces: [Markup]) { for piece in pieces { text += piece.text } }
    mutating func appendInterpolation(_ markup: Markup?) { if let markup { text += markup.text } }
  }

  /// Safe between tags and in quoted attributes. Characters that XML 1.0 does not allow, or that a reader would not see
  /// (bidirectional overrides among them), are shown by number: `\u{202E}`.
  private static func escaped(_ value: String) -> String {
    var text = ""
    text.reserveCapacity(value.utf8.count)
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      case "\n", "\t": text.unicodeScalars.append(scalar)
      default:
        if isHidden(scalar) {
          text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    RawText.isUnsafeInLines(scalar) || scalar.value & 0xFFFE == 0xFFFE
  }
}
