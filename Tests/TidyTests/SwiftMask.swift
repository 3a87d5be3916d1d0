/// Blanks out what is not code, so that rules about code do not trip over comments and texts.
///
/// It knows line and nested block comments, string literals of one and several lines, raw ones, and the code in
/// interpolations. It does not know regular-expression literals, which this project does not use.
struct SwiftMask {
  private var rest: Substring
  private var masked = ""

  /// `text` with a blank for every character that is not code; line ends stay.
  static func code(of text: String) -> String {
    var mask = SwiftMask(rest: text[...])
    mask.skipCode(untilParenthesis: false)
    return mask.masked
  }

  private init(rest: Substring) { self.rest = rest }

  /// Copies code; in an interpolation up to the parenthesis that ends it.
  private mutating func skipCode(untilParenthesis: Bool) {
    var depth = 0
    while let next = rest.first {
      if rest.hasPrefix("//") {
        blank { $0.first == "\n" }
      } else if rest.hasPrefix("/*") {
        blankBlockComment()
      } else if let opening = literalOpening {
        skipLiteral(quotes: opening.quotes, signs: opening.signs)
      } else {
        if next == "(" { depth += 1 }
        if next == ")" { depth -= 1 }
        if untilParenthesis, depth < 0 { return }
        masked.append(rest.removeFirst())
      }
    }
  }

  /// The quotes and number signs of a string literal that begins here.
  private var literalOpening: (quotes: String, signs: String)? {
    let signs = rest.prefix { $0 == "#" }
    let after = rest[signs.endIndex...]
    guard after.first == "\"" else { return nil }
    return (after.hasPrefix("\"\"\"") ? "\"\"\"" : "\"", String(signs))
  }

  private mutating func skipLiteral(quotes: String, signs: String) {
    copy(signs.count + quotes.count)
    let escape = "\\" + signs
    while !rest.isEmpty {
      if rest.hasPrefix(quotes + signs) { return copy(quotes.count + signs.count) }
      if rest.hasPrefix(escape + "(") {
        copy(escape.count + 1)
        skipCode(untilParenthesis: true)
        copy(1)
      } else if rest.hasPrefix(escape) {
        blank(escape.count + 1)
      } else {
        blank(1)
      }
    }
  }

  private mutating func blankBlockComment() {
    var depth = 0
    repeat {
      if rest.hasPrefix("/*") {
        depth += 1
        blank(2)
      } else if rest.hasPrefix("*/") {
        depth -= 1
        blank(2)
      } else {
        blank(1)
      }
    } while depth > 0 && !rest.isEmpty
  }

  private mutating func copy(_ count: Int) {
    masked += rest.prefix(count)
    rest = rest.dropFirst(count)
  }

  private mutating func blank(_ count: Int) {
    for character in rest.prefix(count) { masked.append(character.isNewline ? character : " ") }
    rest = rest.dropFirst(count)
  }

  private mutating func blank(until isEnd: (Substring) -> Bool) {
    while !rest.isEmpty, !isEnd(rest) { blank(1) }
  }
}
