/// The representation of bytes as text.
package enum BinaryFormat: String, Sendable, Hashable, Codable, CaseIterable {
  /// RFC 4648, section 4: the standard alphabet, padded with `=`. Line breaks are skipped, as MIME and PEM insert
  /// them; unused bits must be zero, so that the same bytes always have the same text.
  case base64
  /// Two hexadecimal digits per byte: written in lower case, read in any case.
  case hex

  var example: String {
    switch self {
    case .base64: "aGVsbG8="
    case .hex: "68656c6c6f"
    }
  }

  /// The single format that a column of bytes names; base64 if it names none.
  package init(only names: [String]) throws(PipelineError) {
    guard let name = names.first else {
      self = .base64
      return
    }
    guard names.count == 1 else {
      throw PipelineError("bytes are written in one way; name base64 or hex, not both")
    }
    guard let format = BinaryFormat(rawValue: name) else {
      let known = Self.allCases.map(\.rawValue)
      let hint = NearestName.hint(for: name, in: known)
      throw PipelineError("'\(name)' is not a format of bytes; known are \(known.joined(separator: ", "))\(hint)")
    }
    self = format
  }

  /// How many bytes the text represents; nil if it is not valid.
  func byteCount(of text: Span<UInt8>) -> Int? {
    switch self {
    case .base64: return Self.base64Count(text)
    case .hex:
      guard text.count.isMultiple(of: 2) else { return nil }
      for index in 0..<text.count where Self.hexValues[Int(text[index])] > 15 { return nil }
      return text.count / 2
    }
  }

  /// Appends the bytes of a text for which `byteCount` gives a number.
  package func decode(_ text: Span<UInt8>, into output: inout [UInt8]) {
    switch self {
    case .base64: Self.decodeBase64(text, into: &output)
    case .hex:
      for index in stride(from: 0, to: text.count - 1, by: 2) {
        output.append(Self.hexValues[Int(text[index])] << 4 | Self.hexValues[Int(text[index + 1])])
      }
    }
  }

  /// Appends the text of `bytes`.
  package func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    switch self {
    case .base64: Self.encodeBase64(bytes, into: &output)
    case .hex:
      for index in 0..<bytes.count {
        output.append(Self.hexDigits[Int(bytes[index] >> 4)])
        output.append(Self.hexDigits[Int(bytes[index] & 15)])
      }
    }
  }

  // MARK: Base64

  private static func base64Count(_ text: Span<UInt8>) -> Int? {
    var (digits, padding) = (0, 0)
    var last: UInt8 = 0
    for index in 0..<text.count {
      let byte = text[index]
      if byte == lineFeed || byte == carriageReturn { continue }
      if byte == pad {
        padding += 1
        continue
      }
      let value = base64Values[Int(byte)]
      guard value < 64, padding == 0 else { return nil }
      digits += 1
      last = value
    }
    let unusedBits: UInt8 = padding == 0 ? 0 : padding == 1 ? 0b11 : 0b1111
    guard padding <= 2, (digits + padding).isMultiple(of: 4), last & unusedBits == 0 else { return nil }
    return (digits + padding) / 4 * 3 - padding
  }

  private static func decodeBase64(_ text: Span<UInt8>, into output: inout [UInt8]) {
    var bits: UInt32 = 0
    var bitCount = 0
    for index in 0..<text.count {
      let value = base64Values[Int(text[index])]
      if value > 63 { continue }
      bits = bits << 6 | UInt32(value)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        output.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
    }
  }

  private static func encodeBase64(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var bits: UInt32 = 0
      for offset in 0..<3 { bits = bits << 8 | (offset < count ? UInt32(bytes[index + offset]) : 0) }
      for offset in 0..<4 {
        output.append(offset <= count ? base64Digits[Int(bits >> UInt32(18 - 6 * offset) & 63)] : pad)
      }
      index += 3
    }
  }

  private static let (lineFeed, carriageReturn, pad) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "="))
  private static let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let hexDigits = Array("0123456789abcdef".utf8)
  private static let base64Values = values(of: base64Digits)
  static let hexValues = values(of: hexDigits + Array("ABCDEF".utf8)).map { $0 > 15 && $0 < 255 ? $0 - 6 : $0 }

  /// The value of each byte as a digit; 255 for a byte that is not a digit.
  private static func values(of digits: [UInt8]) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }
}
