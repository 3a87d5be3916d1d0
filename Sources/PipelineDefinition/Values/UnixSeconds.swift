/// Dates as seconds since 1970-01-01 UTC, as Unix and most web services count them.
///
/// The text is a decimal number without an exponent. Sums are exact: a fraction is added to the whole seconds before
/// the result is rounded.
enum UnixSeconds {
  /// From 1970 to 2001.
  private static let epoch = 978_307_200
  /// The most digits of whole seconds: 31 million years.
  private static let digitsMax = 15

  /// Seconds since 2001-01-01 UTC, rounded correctly; nil for any other text.
  static func seconds(_ bytes: Span<UInt8>) -> Double? {
    var index = 0
    let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
    if isNegative { index = 1 }
    let start = index
    var whole = 0
    while index < bytes.count, bytes[index] &- 48 < 10 {
      if index - start == digitsMax { return nil }
      whole = whole * 10 + Int(bytes[index] - 48)
      index += 1
    }
    if index == start { return nil }
    var fraction: [UInt8] = []
    if index < bytes.count {
      guard bytes[index] == UInt8(ascii: "."), index + 1 < bytes.count else { return nil }
      for offset in index + 1..<bytes.count {
        guard bytes[offset] &- 48 < 10 else { return nil }
        fraction.append(bytes[offset])
      }
    }
    let hasFraction = fraction.contains { $0 != UInt8(ascii: "0") }
    if isNegative, hasFraction {
      // -w.f = -(w + 1) + (1 - 0.f)
      fraction = ExactSeconds.complement(fraction)
      whole += 1
    }
    let sum = (isNegative ? -whole : whole) - epoch
    if !hasFraction { return Double(sum) }
    return ExactSeconds.nearest(whole: sum, bytes: fraction.span, digits: 0..<fraction.count)
  }

  /// Appends the text; false, with nothing appended, for a date that has no such text: one that is not finite, too far
  /// away, or so close to 2001 that its fraction needs an exponent.
  static func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    guard seconds.magnitude < 1e15 else { return false }
    let parts = seconds.magnitude.description.utf8.split(separator: UInt8(ascii: "."))
    guard parts.count == 2, let whole = Int(String(decoding: Array(parts[0]), as: UTF8.self)),
      parts[1].allSatisfy({ $0 &- 48 < 10 })
    else { return false }
    var fraction = Array(parts[1])
    let hasFraction = fraction.contains { $0 != UInt8(ascii: "0") }
    var sum = epoch + (seconds < 0 ? -whole : whole)
    if seconds < 0, hasFraction {
      fraction = ExactSeconds.complement(fraction)
      sum -= 1
    }
    if sum < 0, hasFraction {
      // The text is that of -(s + 1) - (1 - 0.f).
      fraction = ExactSeconds.complement(fraction)
      sum += 1
      if sum == 0 { output.append(UInt8(ascii: "-")) }
    }
    output += String(sum).utf8
    if hasFraction { output += [UInt8(ascii: ".")] + fraction }
    return true
  }
}
