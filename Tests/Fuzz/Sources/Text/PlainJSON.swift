import Foundation

/// A JSON parser (RFC 8259) that makes a tree, for comparison.
indirect enum PlainJSON: Equatable {
  case null, literal(String), number(String)
  /// A text, and whether it has half of a surrogate pair.
  case text(String, isHalf: Bool)
  case array
  case object([Member])

  struct Member: Equatable {
    var name: String
    var isHalf: Bool
    var value: PlainJSON
  }

  /// Nil unless the bytes, which are UTF-8, are one value with white space around it.
  init?(_ bytes: [UInt8]) {
    var parser = Parser(units: Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
    parser.skipSpace()
    guard let value = parser.value(depth: 1) else { return nil }
    parser.skipSpace()
    guard parser.at == parser.units.count else { return nil }
    self = value
  }

  private struct Parser {
    let units: [Unicode.Scalar]
    var at = 0

    private var next: Unicode.Scalar? { at < units.count ? units[at] : nil }

    mutating func skipSpace() { while let next, " \t\r\n".unicodeScalars.contains(next) { at += 1 } }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
      guard next == scalar else { return false }
      at += 1
      return true
    }

    mutating func value(depth: Int) -> PlainJSON? {
      switch next {
      case "{": depth > 128 ? nil : object(depth)
      case "[": depth > 128 ? nil : array(depth)
      case "\"": text().map { .text($0.text, isHalf: $0.isHalf) }
      case "t", "f", "n": word()
      default: number()
      }
    }

    private mutating func word() -> PlainJSON? {
      for word in ["true", "false", "null"] where units[at...].starts(with: word.unicodeScalars) {
        at += word.count
        return word == "null" ? .null : .literal(word)
      }
      return nil
    }

    private mutating func number() -> PlainJSON? {
      let start = at
      _ = take("-")
      if !take("0"), !digits() { return nil }
      if take("."), !digits() { return nil }
      if take("e") || take("E") {
        if !take("+") { _ = take("-") }
        if !digits() { return nil }
      }
      return .number(String(String.UnicodeScalarView(units[start..<at])))
    }

    private mutating func digits() -> Bool {
      let start = at
      while let next, ("0"..."9").contains(next) { at += 1 }
      return at > start
    }

    private mutating func array(_ depth: Int) -> PlainJSON? {
      at += 1
      skipSpace()
      if take("]") { return .array }
      repeat {
        skipSpace()
        guard value(depth: depth + 1) != nil else { return nil }
        skipSpace()
      } while take(",")
      return take("]") ? .array : nil
    }

    private mutating func object(_ depth: Int) -> PlainJSON? {
      at += 1
      skipSpace()
      var members: [Member] = []
      if take("}") { return .object([]) }
      repeat {
        skipSpace()
        guard next == "\"", let name = text() else { return nil }
        skipSpace()
        guard take(":") else { return nil }
        skipSpace()
        guard let value = value(depth: depth + 1) else { return nil }
        members.append(Member(name: name.text, isHalf: name.isHalf, value: value))
        skipSpace()
      } while take(",")
      return take("}") ? .object(members) : nil
    }

    /// From the opening quote on.
    private mutating func text() -> (text: String, isHalf: Bool)? {
      at += 1
      var units16: [UInt16] = []
      while let scalar = next {
        at += 1
        if scalar == "\"" {
          let text = String(decoding: units16, as: UTF16.self)
          return (text, String(validating: units16, as: UTF16.self) == nil)
        }
        if scalar.value < 32 { return nil }
        guard scalar == "\\" else {
          units16 += Array(String(scalar).utf16)
          continue
        }
        guard let unit = escaped() else { return nil }
        units16.append(unit)
      }
      return nil
    }

    private mutating func escaped() -> UInt16? {
      guard let sign = next else { return nil }
      at += 1
      switch sign {
      case "b": return 8
      case "t": return 9
      case "n": return 10
      case "f": return 12
      case "r": return 13
      case "\"", "\\", "/": return UInt16(sign.value)
      case "u":
        guard at + 4 <= units.count else { return nil }
        let digits = String(String.UnicodeScalarView(units[at..<at + 4]))
        guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt16(digits, radix: 16) else {
          return nil
        }
        at += 4
        return unit
      default: return nil
      }
    }
  }
}
