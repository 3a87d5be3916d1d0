import Foundation

/// The nearest Double of the exact sum of whole seconds and a decimal fraction.
///
/// Adding the two in floating point rounds twice and changes stored dates by a bit. Here the sum is one rational
/// number, rounded once, to even at a tie (IEEE 754).
enum ExactSeconds {
  /// `whole + 0.digits`; the digits are `bytes[digits]` and already validated.
  static func nearest(whole: Int, bytes: Span<UInt8>, digits: Range<Int>) -> Double {
    var end = digits.upperBound
    while end > digits.lowerBound, bytes[end - 1] == UInt8(ascii: "0") { end -= 1 }
    let count = end - digits.lowerBound
    if count == 0 { return Double(whole) }
    if count < powersOfTen.count {
      var fraction: UInt64 = 0
      for index in digits.lowerBound..<end { fraction = fraction * 10 + UInt64(bytes[index] &- 48) }
      let (scaled, over) = whole.multipliedReportingOverflow(by: Int(powersOfTen[count]))
      let (sum, overSum) = scaled.addingReportingOverflow(Int(fraction))
      if !over, !overSum {
        let quotient = nearestQuotient(sum.magnitude, powersOfTen[count])
        return sum < 0 ? -quotient : quotient
      }
    }
    var text: [UInt8] = []
    for index in digits.lowerBound..<end { text.append(bytes[index]) }
    return nearest(whole: WideInteger(UInt64(whole.magnitude)), isNegative: whole < 0, fraction: text)
  }

  /// The same for any magnitude: `±whole + 0.fraction`.
  static func nearest(whole: WideInteger, isNegative: Bool, fraction: [UInt8]) -> Double {
    var whole = whole
    var fraction = fraction
    if isNegative, fraction.contains(where: { $0 != UInt8(ascii: "0") }) {
      // -w + f = -((w - 1) + (1 - f))
      whole.subtract(1)
      fraction = complement(fraction)
    }
    // The C library's conversion is correctly rounded at any length.
    let text = "\(isNegative ? "-" : "")\(whole.digits).\(String(decoding: fraction, as: UTF8.self))0"
    return Double(text) ?? .infinity
  }

  /// The digits of `1 - 0.digits`, for digits that are not all zero.
  static func complement(_ digits: [UInt8]) -> [UInt8] {
    var result = digits
    var borrow = true
    for index in digits.indices.reversed() {
      let digit = digits[index] - 48
      let turned = borrow ? (10 - digit) % 10 : 9 - digit
      if borrow, digit != 0 { borrow = false }
      result[index] = turned + 48
    }
    return result
  }

  static let powersOfTen: [UInt64] = (0...18).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

  /// `numerator / denominator`, correctly rounded; both are positive, and the denominator is at most 10^18.
  static func nearestQuotient(_ numerator: UInt, _ denominator: UInt64) -> Double {
    let exactMax: UInt64 = 1 << 53
    let top = UInt64(numerator)
    if top <= exactMax, denominator <= exactMax {
      // Both convert exactly, and IEEE 754 rounds one division correctly.
      return Double(top) / Double(denominator)
    }
    // 64 quotient bits, 53 of which remain; the others and the remainder determine the rounding.
    let topShift = top.leadingZeroBitCount
    let bottomShift = denominator.leadingZeroBitCount
    let dividend = top << UInt64(topShift)
    let divisor = denominator << UInt64(bottomShift)
    var exponent = bottomShift - topShift - 64
    let halves: (high: UInt64, low: UInt64)
    if dividend >= divisor {
      halves = (dividend >> 1, dividend << 63)
      exponent += 1
    } else {
      halves = (dividend, 0)
    }
    let (quotient, remainder) = divisor.dividingFullWidth(halves)
    var significand = quotient >> 11
    let dropped = quotient & 0x7FF
    if dropped > 0x400 || (dropped == 0x400 && (remainder != 0 || significand & 1 == 1)) { significand += 1 }
    let power = Double(bitPattern: UInt64(1023 + exponent + 11) << 52)
    return Double(significand) * power
  }
}
