/// A decimal number as digits: `significand` × 10 to the power of `exponent`; the significand does not end in 0.
///
/// Its bounds are those of Foundation's Decimal: 38 digits, and a last digit between 10^-128 and 10^127.
package struct DecimalText: Sendable, Equatable {
  private(set) var isNegative = false
  private(set) var significand: UInt128 = 0
  private(set) var exponent = 0

  static let digitsMax = 38
  private static let exponents = -128...127
  /// Any number of this many digits survives a conversion to Double and back.
  private static let digitsSafe = 15

  /// Parses digits with an optional sign, point and exponent, like ``NumberText/real(_:)``; nil for anything else,
  /// and for a number out of bounds.
  package init?(_ bytes: Span<UInt8>) {
    var at = 0
    if bytes.has(UInt8(ascii: "-"), at: 0) || bytes.has(UInt8(ascii: "+"), at: 0) {
      isNegative = bytes[0] == UInt8(ascii: "-")
      at = 1
    }
    // Trailing zeros are pending until another digit follows.
    var (digits, zeros, seen, hasPoint) = (0, 0, 0, false)
    while at < bytes.count {
      let digit = bytes[at] &- 48
      if digit < 10 {
        seen += 1
        if hasPoint { exponent -= 1 }
        if digit == 0, significand == 0 {
          // A leading zero.
        } else if digit == 0 {
          zeros += 1
        } else {
          digits += digits == 0 ? 1 : zeros + 1
          guard digits <= Self.digitsMax else { return nil }
          for _ in 0...zeros { significand *= 10 }
          significand += UInt128(digit)
          zeros = 0
        }
      } else if bytes[at] == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else {
        break
      }
      at += 1
    }
    guard seen > 0, let power = Self.power(bytes, from: at) else { return nil }
    exponent += zeros + power
    if significand == 0 { (isNegative, exponent) = (false, 0) }
    guard Self.exponents.contains(exponent) else { return nil }
  }

  /// The exponent after the digits; 0 if the text ends there.
  private static func power(_ bytes: Span<UInt8>, from start: Int) -> Int? {
    if start == bytes.count { return 0 }
    guard bytes[start] | 0x20 == UInt8(ascii: "e") else { return nil }
    var at = start + 1
    let isNegative = bytes.has(UInt8(ascii: "-"), at: at)
    if isNegative || bytes.has(UInt8(ascii: "+"), at: at) { at += 1 }
    guard at < bytes.count, bytes.count - at <= 9, bytes.digitsEnd(from: at) == bytes.count else { return nil }
    var value = 0
    while at < bytes.count {
      value = value * 10 + Int(bytes[at] &- 48)
      at += 1
    }
    return isNegative ? -value : value
  }

  /// Whether a store preserves the number: it keeps a Double, from whose shortest digits a decimal is made.
  var isKeptByStores: Bool {
    if significand < Self.safeBound { return true }
    return kept == self
  }

  /// The number that a store keeps.
  var kept: DecimalText? {
    guard let real = Double(String(decoding: text, as: UTF8.self)) else { return nil }
    return DecimalText(Array("\(real)".utf8).span)
  }

  private static let safeBound: UInt128 = (0..<digitsSafe).reduce(1) { power, _ in power * 10 }

  /// The number in digits: `-0.05`, `12000`; with an exponent, such as `1.5e100`, if there are very many zeros.
  var text: [UInt8] {
    var output: [UInt8] = []
    append(to: &output)
    return output
  }

  package func append(to output: inout [UInt8]) {
    if isNegative { output.append(UInt8(ascii: "-")) }
    let start = output.count
    var rest = significand
    repeat {
      output.append(48 + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    output[start...].reverse()
    let count = output.count - start
    let point = count + exponent
    if exponent >= 0, point <= Self.digitsMax {
      for _ in 0..<exponent { output.append(48) }
    } else if exponent < 0, point > 0 {
      output.insert(UInt8(ascii: "."), at: start + point)
    } else if exponent < 0, -exponent <= Self.digitsMax {
      output.insert(contentsOf: [48, UInt8(ascii: ".")] + Array(repeating: 48, count: -point), at: start)
    } else {
      if count > 1 { output.insert(UInt8(ascii: "."), at: start + 1) }
      output += "e\(point - 1)".utf8
    }
  }
}
