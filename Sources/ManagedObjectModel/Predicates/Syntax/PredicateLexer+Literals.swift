import Foundation

extension PredicateLexer {
  /// A quoted string with the escapes of C: `\\ \' \" \n \r \t \b \f \a \v \0`, `\xHH` and `\uHHHH`.
  mutating func text(quote: Unicode.Scalar) throws -> String {
    let start = index
    index += 1
    var result = String.UnicodeScalarView()
    while let scalar = peek() {
      index += 1
      if scalar == quote { return String(result) }
      result.append(scalar == "\\" ? try escape() : scalar)
    }
    throw failure("the text that starts here has no closing \(quote).", at: start)
  }

  /// The character after a backslash.
  private mutating func escape() throws -> Unicode.Scalar {
    let start = index - 1
    guard let letter = peek() else { throw failure("the text ends after a backslash.", at: start) }
    index += 1
    switch letter {
    case "\\", "'", "\"": return letter
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "b": return "\u{08}"
    case "f": return "\u{0C}"
    case "a": return "\u{07}"
    case "v": return "\u{0B}"
    case "0": return "\0"
    case "x": return try hexadecimal(digits: 2, from: start)
    case "u": return try codeUnits(from: start)
    default:
      throw failure("'\\\(letter)' is not an escape sequence; write '\\\\' for a backslash.", at: start)
    }
  }

  /// `\uHHHH`; two of them may be a surrogate pair.
  private mutating func codeUnits(from start: Int) throws -> Unicode.Scalar {
    let first = try unit(digits: 4, from: start)
    guard (0xD800..<0xDC00).contains(first) else { return try scalar(first, from: start) }
    guard peek() == "\\", peek(1) == "u" else {
      throw failure("a first half of a surrogate pair needs its second half.", at: start)
    }
    index += 2
    let second = try unit(digits: 4, from: start)
    guard (0xDC00..<0xE000).contains(second) else {
      throw failure("a first half of a surrogate pair needs its second half.", at: start)
    }
    return try scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), from: start)
  }

  private mutating func hexadecimal(digits: Int, from start: Int) throws -> Unicode.Scalar {
    try scalar(try unit(digits: digits, from: start), from: start)
  }

  private mutating func unit(digits: Int, from start: Int) throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard let digit = peek().flatMap({ Character($0).hexDigitValue }) else {
        throw failure("expected \(digits) hexadecimal digits in this escape.", at: start)
      }
      value = value << 4 + UInt32(digit)
      index += 1
    }
    return value
  }

  private func scalar(_ value: UInt32, from start: Int) throws -> Unicode.Scalar {
    guard let scalar = Unicode.Scalar(value) else {
      throw failure("this escape does not stand for a character.", at: start)
    }
    return scalar
  }

  /// `3`, `3.5`, `.5`, `1e-3`, `0x1F`, `0o17`, `0b101`.
  mutating func number() throws -> PredicateConstant {
    let start = index
    if scalars[index] == "0", let radix = peek(1).flatMap(Self.radix) {
      index += 2
      let digits = takeWord()
      guard let value = Int64(digits, radix: radix) else {
        throw failure("'0\(scalars[start + 1])\(digits)' is not a whole number of base \(radix).", at: start)
      }
      return .integer(value)
    }
    var isReal = takeDigits(after: start)
    isReal = takeExponent() || isReal
    if let scalar = peek(), Self.continuesWord(scalar) {
      _ = takeWord()
      throw failure("'\(source(start))' is not a number; text is written in quotes.", at: start)
    }
    return try isReal ? real(start) : integer(start)
  }

  private static func radix(_ letter: Unicode.Scalar) -> Int? {
    switch letter {
    case "x", "X": 16
    case "o", "O": 8
    case "b", "B": 2
    default: nil
    }
  }

  private func source(_ start: Int) -> String {
    String(String.UnicodeScalarView(scalars[start..<index]))
  }

  private mutating func takeWord() -> String {
    let start = index
    while let scalar = peek(), Self.continuesWord(scalar) { index += 1 }
    return source(start)
  }

  /// True if there was a decimal point.
  private mutating func takeDigits(after start: Int) -> Bool {
    while let scalar = peek(), Self.isDigit(scalar) { index += 1 }
    guard peek() == ".", peek(1).map(Self.isDigit) == true else { return false }
    index += 1
    while let scalar = peek(), Self.isDigit(scalar) { index += 1 }
    return true
  }

  private mutating func takeExponent() -> Bool {
    guard peek() == "e" || peek() == "E" else { return false }
    let signed = peek(1) == "+" || peek(1) == "-"
    guard let digit = peek(signed ? 2 : 1), Self.isDigit(digit) else { return false }
    index += signed ? 2 : 1
    while let scalar = peek(), Self.isDigit(scalar) { index += 1 }
    return true
  }

  private func real(_ start: Int) throws -> PredicateConstant {
    guard let value = Double(source(start)), value.isFinite else {
      throw failure("'\(source(start))' is too large for a number.", at: start)
    }
    return .real(value)
  }

  /// A whole number beyond 64 bits becomes a decimal that keeps its digits, up to 38 of them.
  private func integer(_ start: Int) throws -> PredicateConstant {
    let digits = source(start)
    if let value = Int64(digits) { return .integer(value) }
    if digits.utf8.count <= 38, let value = Decimal(string: digits) { return .decimal(value) }
    return try real(start)
  }
}
