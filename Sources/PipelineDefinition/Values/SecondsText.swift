/// Dates as a number of seconds since 2001-01-01 UTC, which is how stores keep them.
///
/// The fewest decimal digits that read back the same Double, with an exponent where that is shorter; whole numbers have
/// no point. Infinities are `inf` and `-inf`. A NaN has no text; stores cannot keep one either.
enum SecondsText {
  private static let infinity = Array("inf".utf8)
  private static let negativeInfinity = Array("-inf".utf8)

  /// Appends the text; false, with nothing appended, when `seconds` is not a number.
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
    if bytes.equals(infinity) { return .infinity }
    return bytes.equals(negativeInfinity) ? -.infinity : nil
  }
}

extension Span<UInt8> {
  func equals(_ text: [UInt8]) -> Bool {
    count == text.count && text.indices.allSatisfy { self[$0] == text[$0] }
  }
}
