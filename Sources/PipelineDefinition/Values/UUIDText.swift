/// UUIDs as text.
///
/// In any letter case the reader accepts `123e4567-e89b-12d3-a456-426614174000` (RFC 9562), the same in `{…}` or
/// after `urn:uuid:`, and 32 digits without hyphens. UUIDs are written with hyphens and in upper case, as Apple's
/// frameworks do.
package enum UUIDText {
  /// The 16 bytes, first byte most significant; nil if the text is not a UUID.
  package static func read(_ text: Span<UInt8>) -> UInt128? {
    var range = 0..<text.count
    if text.count == 38, text[0] == UInt8(ascii: "{"), text[37] == UInt8(ascii: "}") { range = 1..<37 }
    if text.count == 45, text.extracting(0..<9).equalsIgnoringCase(prefix, from: 0) { range = 9..<45 }
    let hasHyphens = range.count == 36
    guard hasHyphens || range.count == 32 else { return nil }
    var value: UInt128 = 0
    for (offset, index) in range.enumerated() {
      if hasHyphens, offset == 8 || offset == 13 || offset == 18 || offset == 23 {
        guard text[index] == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit = BinaryFormat.hexValues[Int(text[index])]
      guard digit < 16 else { return nil }
      value = value << 4 | UInt128(digit)
    }
    return value
  }

  package static func appendBytes(_ value: UInt128, to output: inout [UInt8]) {
    for shift in stride(from: 120, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  /// Appends the text of 16 bytes; false for another number of bytes.
  package static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) -> Bool {
    guard bytes.count == 16 else { return false }
    for index in 0..<16 {
      if index == 4 || index == 6 || index == 8 || index == 10 { output.append(UInt8(ascii: "-")) }
      output.append(digits[Int(bytes[index] >> 4)])
      output.append(digits[Int(bytes[index] & 15)])
    }
    return true
  }

  private static let prefix = Array("urn:uuid:".utf8)
  private static let digits = Array("0123456789ABCDEF".utf8)
}
