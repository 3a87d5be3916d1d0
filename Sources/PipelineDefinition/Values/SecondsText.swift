/// Dates as a number of seconds since 2001-01-01 UTC, the representation in stores.
///
/// The text has the fewest decimal digits that read back the same Double, with an exponent if that is shorter; whole
/// numbers have no point. Infinities are `inf` and `-inf`. NaN has no text; stores cannot keep it either.
enum SecondsText {
  private static let infinity = Array("inf".utf8)
  private static let negativeInfinity = Array("-inf".utf8)

  /// Appends the text; false, with nothing appended, if `seconds` is NaN.
  static func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    if seconds.isNaN { return false }
    output.append(contentsOf: seconds.description.utf8)
    let pointAndZero = [UInt8(ascii: "."), UInt8(ascii: "0")]
    if output.suffix(2) == pointAndZero[...] { output.removeLast(2) }
    return true
  }

  /// The number, rounded correctly; `nil` for any other text.
  static func seconds(_ bytes: Span<UInt8>) -> Double? {
    if let value = NumberText.real(bytes) { return value }
    return infinity(bytes)
  }

  /// The infinities only.
  static func infinity(_ bytes: Span<UInt8>) -> Double? {
    if bytes.equals(infinity) { return .infinity }
    return bytes.equals(negativeInfinity) ? -.infinity : nil
  }
}

extension Span<UInt8> {
  func equals(_ text: [UInt8]) -> Bool {
    count == text.count && text.indices.allSatisfy { self[$0] == text[$0] }
  }
}
