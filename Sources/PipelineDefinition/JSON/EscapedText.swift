/// A text of JSON5 with escapes.
///
/// Foundation's decoder refuses the escapes of NUL, `\v` and `\0`, and keeps a line break that continues a text.
enum EscapedText {
  /// The text between the quotes. Nil if it has a control character, an unknown escape, half of a surrogate pair, or
  /// bytes that are not UTF-8.
  ///
  /// JSON5 lets any character stand for itself after a backslash. Here it is refused: most are of a pattern whose
  /// backslash is to be doubled.
  static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    var left = bytes
    var text: [UInt8] = []
    while let byte = left.popFirst() {
      if byte < 0x20 { return nil }
      if byte != UInt8(ascii: "\\") {
        text.append(byte)
      } else if let escaped = takeEscape(&left) {
        text += escaped
      } else {
        return nil
      }
    }
    return String(validating: text, as: UTF8.self)
  }

  /// What follows a backslash, as UTF-8.
  private static func takeEscape(_ left: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard let sign = left.popFirst() else { return nil }
    switch sign {
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [sign]
    case UInt8(ascii: "b"): return [8]
    case UInt8(ascii: "t"): return [9]
    case UInt8(ascii: "n"): return [10]
    case UInt8(ascii: "v"): return [11]
    case UInt8(ascii: "f"): return [12]
    case UInt8(ascii: "r"): return [13]
    case UInt8(ascii: "0"): return left.first.map { $0 &- 48 < 10 } == true ? nil : [0]
    // The text goes on in the next line.
    case 10, 13: return []
    case UInt8(ascii: "x"): return takeNumber(digits: 2, &left).flatMap { Unicode.Scalar($0) }.map(utf8)
    case UInt8(ascii: "u"): return takeUnit(&left)
    default: return nil
    }
  }

  /// A unit of UTF-16 by its four digits, with the second one of a pair.
  private static func takeUnit(_ left: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard let first = takeNumber(digits: 4, &left) else { return nil }
    if let scalar = Unicode.Scalar(first) { return utf8(scalar) }
    guard first < 0xDC00, left.starts(with: Array("\\u".utf8)) else { return nil }
    left.removeFirst(2)
    guard let second = takeNumber(digits: 4, &left), (0xDC00...0xDFFF).contains(second) else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)).map(utf8)
  }

  private static func takeNumber(digits: Int, _ left: inout ArraySlice<UInt8>) -> UInt32? {
    let text = left.prefix(digits)
    guard text.count == digits else { return nil }
    left.removeFirst(digits)
    return text.reduce(0) { number, byte in
      guard let number, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
      return number << 4 | UInt32(digit)
    }
  }

  private static func utf8(_ scalar: Unicode.Scalar) -> [UInt8] { Array(String(scalar).utf8) }
}
