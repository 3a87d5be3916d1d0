/// Splits a format string into tokens.
struct PredicateLexer {
  let format: String
  let scalars: [Unicode.Scalar]
  var index = 0

  /// - Throws: `PredicateSyntaxError`.
  static func tokens(of format: String) throws -> [PredicateToken] {
    var lexer = PredicateLexer(format: format)
    var tokens: [PredicateToken] = []
    repeat {
      tokens.append(try lexer.next())
    } while tokens.last?.kind != .end
    return tokens
  }

  init(format: String) {
    self.format = format
    scalars = Array(format.unicodeScalars)
  }

  private mutating func next() throws -> PredicateToken {
    while let scalar = peek(), scalar.properties.isWhitespace { index += 1 }
    let start = index
    let kind = try kindOfNext()
    return PredicateToken(
      kind: kind, position: start + 1, source: String(String.UnicodeScalarView(scalars[start..<index])))
  }

  private mutating func kindOfNext() throws -> PredicateToken.Kind {
    guard let scalar = peek() else { return .end }
    switch scalar {
    case "'", "\"": return .text(try text(quote: scalar))
    case "0"..."9": return .number(try number())
    case "." where peek(1).map(Self.isDigit) == true: return .number(try number())
    case "$": return .variable(try prefixedWord("a variable's name after '$'"))
    case "#": return .escapedWord(try prefixedWord("a key after '#'"))
    case "%": return try conversion()
    case _ where Self.startsWord(scalar): return .word(word())
    default: return .symbol(try symbol())
    }
  }

  func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    index + ahead < scalars.count ? scalars[index + ahead] : nil
  }

  func failure(_ reason: String, at offset: Int) -> PredicateSyntaxError {
    PredicateSyntaxError(format: format, position: offset + 1, reason: reason)
  }

  static func startsWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": true
    default: !scalar.isASCII && scalar.properties.isXIDStart
    }
  }

  static func continuesWord(_ scalar: Unicode.Scalar) -> Bool {
    startsWord(scalar) || isDigit(scalar) || (!scalar.isASCII && scalar.properties.isXIDContinue)
  }

  static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    ("0"..."9").contains(scalar)
  }

  // MARK: Words and symbols

  private mutating func word() -> String {
    let start = index
    while let scalar = peek(), Self.continuesWord(scalar) { index += 1 }
    return String(String.UnicodeScalarView(scalars[start..<index]))
  }

  private mutating func prefixedWord(_ expectation: String) throws -> String {
    index += 1
    guard let scalar = peek(), Self.startsWord(scalar) else {
      throw failure("expected \(expectation).", at: index)
    }
    return word()
  }

  /// Longest first, so that `<=` is not read as `<` and `=`.
  private static let symbols: [[Unicode.Scalar]] = [
    "==", "=<", "=>", "!=", "<>", "<=", ">=", "&&", "||", "**", ":=",
    "=", "!", "<", ">", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", "@", ":",
  ].map { Array($0.unicodeScalars) }

  private mutating func symbol() throws -> String {
    for symbol in Self.symbols where scalars[index...].starts(with: symbol) {
      index += symbol.count
      return String(String.UnicodeScalarView(symbol))
    }
    throw failure(
      "'\(scalars[index])' has no meaning here; text is written in quotes.", at: index)
  }

  // MARK: Conversions

  /// `%@`, `%K`, `%d`, `%ld`, `%f` and similar conversions. Inside quotes they are plain text.
  private mutating func conversion() throws -> PredicateToken.Kind {
    let start = index
    index += 1
    while let scalar = peek(), "hlqjzt".unicodeScalars.contains(scalar) { index += 1 }
    guard let letter = peek() else {
      throw failure("expected a conversion such as %@, %K, %d or %f after '%'.", at: start)
    }
    index += 1
    switch letter {
    case "@": return .argument(.object)
    case "K": return .argument(.keyPath)
    case "d", "D", "i", "u", "U", "x", "X", "o": return .argument(.integer)
    case "f", "F", "g", "G", "e", "E", "a", "A": return .argument(.real)
    case "%":
      throw failure("'%%' is a percent sign, which has no meaning outside of quotes.", at: start)
    default:
      throw failure(
        "the conversion '%\(letter)' is not supported; use %@, %K, %d, %i, %u, %f or their long forms.",
        at: start)
    }
  }
}
