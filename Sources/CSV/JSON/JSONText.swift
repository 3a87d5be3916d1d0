/// The escapes of JSON strings (RFC 8259, section 7).
package enum JSONText {
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")

  /// Appends a text in quotes.
  package static func appendQuoted(_ text: String, to target: inout [UInt8]) {
    appendQuoted(Array(text.utf8)[...], to: &target)
  }

  /// Appends a text, which is valid UTF-8, in quotes.
  package static func appendQuoted(_ bytes: ArraySlice<UInt8>, to target: inout [UInt8]) {
    target.append(quote)
    if bytes.allSatisfy({ $0 >= 0x20 && $0 != quote && $0 != backslash }) {
      target += bytes
    } else {
      for byte in bytes { appendEscaped(byte, to: &target) }
    }
    target.append(quote)
  }

  /// Appends the decimal digits of a number.
  package static func append(_ number: Int64, to target: inout [UInt8]) {
    var rest = number.magnitude
    if number < 0 { target.append(UInt8(ascii: "-")) }
    let start = target.count
    repeat {
      target.append(UInt8(truncatingIfNeeded: rest % 10) + 0x30)
      rest /= 10
    } while rest > 0
    var (low, high) = (start, target.count - 1)
    while low < high {
      target.swapAt(low, high)
      (low, high) = (low + 1, high - 1)
    }
  }

  /// Appends the text of a string's content, in which every escape was found to be valid.
  static func appendUnescaped(_ content: Span<UInt8>, to target: inout [UInt8]) {
    var index = 0
    while index < content.count {
      let byte = content[index]
      index += 1
      guard byte == backslash, index < content.count else {
        target.append(byte)
        continue
      }
      let sign = content[index]
      index += 1
      guard sign == UInt8(ascii: "u") else {
        target.append(character(sign) ?? sign)
        continue
      }
      var code = UInt32(unit(content, at: index) ?? 0)
      index += 4
      if code & 0xFC00 == 0xD800, index + 6 <= content.count, let low = unit(content, at: index + 2) {
        code = 0x10000 + (code & 0x3FF) << 10 + UInt32(low) & 0x3FF
        index += 6
      }
      let scalar = Unicode.Scalar(code) ?? "\u{FFFD}"
      target.append(contentsOf: String(Character(scalar)).utf8)
    }
  }

  /// The character of a short escape, by the byte after the backslash; nil if JSON has no escape with that byte.
  static func character(_ sign: UInt8) -> UInt8? {
    switch sign {
    case quote, backslash, UInt8(ascii: "/"): sign
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// Appends a byte of a text as a string has it.
  @inline(__always)
  static func appendEscaped(_ byte: UInt8, to target: inout [UInt8]) {
    if byte >= 0x20, byte != quote, byte != backslash { return target.append(byte) }
    target.append(backslash)
    switch byte {
    case quote, backslash: target.append(byte)
    case 0x08: target.append(UInt8(ascii: "b"))
    case 0x0C: target.append(UInt8(ascii: "f"))
    case 0x0A: target.append(UInt8(ascii: "n"))
    case 0x0D: target.append(UInt8(ascii: "r"))
    case 0x09: target.append(UInt8(ascii: "t"))
    default:
      target += "u00".utf8
      target.append(hexDigit(byte >> 4))
      target.append(hexDigit(byte & 15))
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 0x30 : 0x57) }

  /// The UTF-16 code unit of four hexadecimal digits; nil for anything else.
  static func unit(_ bytes: Span<UInt8>, at start: Int) -> UInt16? {
    guard start + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for index in start..<start + 4 {
      let byte = bytes[index]
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x41 + 10
      case 0x61...0x66: digit = byte - 0x61 + 10
      default: return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// Space, tab, LF and CR, which may be between the tokens.
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == ASCII.space || byte == 0x09 || byte == ASCII.lf || byte == ASCII.cr
  }
}
