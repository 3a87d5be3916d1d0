/// Strict parsing of numbers: no spaces, no thousands separators, no hexadecimal, no trailing bytes.
package enum NumberText {
  /// An optional sign and digits, within 64 bits.
  @inlinable @inline(__always)
  package static func integer(_ bytes: Span<UInt8>) -> Int64? {
    let count = bytes.count
    guard count > 0 else { return nil }
    let isNegative = bytes[0] == UInt8(ascii: "-")
    var at = isNegative || bytes[0] == UInt8(ascii: "+") ? 1 : 0
    guard at < count else { return nil }
    var value: Int64 = 0
    while at < count {
      let digit = bytes[at] &- 48
      guard digit < 10 else { return nil }
      // It counts downwards because the least value has no positive counterpart.
      let (product, over) = value.multipliedReportingOverflow(by: 10)
      let (next, overNext) = product.subtractingReportingOverflow(Int64(digit))
      if over || overNext { return nil }
      value = next
      at += 1
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }

  /// An integer within 64 bits, which may have a fraction of zeros and an exponent: `3.0`, `1.5e1`. Nil unless the number
  /// is exactly whole.
  package static func wholeNumber(_ bytes: Span<UInt8>) -> Int64? {
    if let value = integer(bytes) { return value }
    guard let parts = decimal(bytes) else { return nil }
    guard parts.isExact else { return integer(droppingZeros: bytes) }
    var (digits, exponent) = (Int64(parts.significand), parts.exponent)
    if digits == 0 { return 0 }
    while exponent < 0, digits % 10 == 0 { (digits, exponent) = (digits / 10, exponent + 1) }
    guard (0...18).contains(exponent) else { return nil }
    for _ in 0..<exponent {
      let (product, over) = digits.multipliedReportingOverflow(by: 10)
      if over { return nil }
      digits = product
    }
    return parts.isNegative ? -digits : digits
  }

  /// An integer with a point and zeros, of any number of digits; nil for anything else.
  private static func integer(droppingZeros bytes: Span<UInt8>) -> Int64? {
    guard let point = (0..<bytes.count).first(where: { bytes[$0] == UInt8(ascii: ".") }),
      (point + 1..<bytes.count).allSatisfy({ bytes[$0] == UInt8(ascii: "0") })
    else { return nil }
    return integer(bytes.extracting(0..<point))
  }

  /// Digits with an optional sign, point and exponent, rounded correctly; `nil` for anything else, for infinities and
  /// for values beyond a Double.
  package static func real(_ bytes: Span<UInt8>) -> Double? {
    guard let parts = decimal(bytes) else { return nil }
    if parts.isExact, parts.exponent >= -22, parts.exponent <= 22 {
      // Both numbers are exact Doubles, and IEEE 754 rounds the single operation correctly.
      let power = exactPowersOfTen[abs(parts.exponent)]
      let value = parts.exponent < 0 ? Double(parts.significand) / power : Double(parts.significand) * power
      return parts.isNegative ? -value : value
    }
    var text = ""
    for index in 0..<bytes.count { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// As `real`, rounded once to single precision; `nil` also for values beyond a Float.
  static func single(_ bytes: Span<UInt8>) -> Float? {
    guard let double = real(bytes) else { return nil }
    let value = Float(double)
    // Halfway between two Floats, the digits before the rounding to Double decide; subnormal Floats are spaced more
    // widely.
    let isHalfway = double.bitPattern & 0x1FFF_FFFF == 0x1000_0000
    guard isHalfway || value.magnitude < .leastNormalMagnitude else { return value.isFinite ? value : nil }
    return Float(String(decoding: bytes.array, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// The length of a text in Unicode scalars, which unlike grapheme clusters do not depend on the Unicode version and
  /// which databases count too. `bytes` are valid UTF-8.
  package static func scalarCount(_ bytes: Span<UInt8>) -> Int {
    var count = 0
    for index in 0..<bytes.count where bytes[index] & 0xC0 != 0x80 { count += 1 }
    return count
  }

  /// Whether the text has more than `limit` Unicode scalars; it counts them only if the number of bytes does not
  /// decide.
  @inline(__always)
  static func isLonger(_ bytes: Span<UInt8>, than limit: Int) -> Bool {
    bytes.count > limit && scalarCount(bytes) > limit
  }

  private static let exactPowersOfTen: [Double] = (0...22).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

  private struct Decimal {
    var isNegative = false
    var significand: UInt64 = 0
    var exponent = 0
    /// Whether the significand contains every digit and is an exact Double.
    var isExact = true
  }

  private static func decimal(_ bytes: Span<UInt8>) -> Decimal? {
    var number = Decimal()
    var at = 0
    if bytes.has(UInt8(ascii: "-"), at: 0) || bytes.has(UInt8(ascii: "+"), at: 0) {
      number.isNegative = bytes[0] == UInt8(ascii: "-")
      at = 1
    }
    let integerStart = at
    readDigits(bytes, &at, into: &number)
    var digits = at - integerStart
    if bytes.has(UInt8(ascii: "."), at: at) {
      at += 1
      let start = at
      readDigits(bytes, &at, into: &number)
      digits += at - start
      number.exponent -= at - start
    }
    guard digits > 0 else { return nil }
    if bytes.has(UInt8(ascii: "e"), at: at) || bytes.has(UInt8(ascii: "E"), at: at) {
      at += 1
      let isNegative = bytes.has(UInt8(ascii: "-"), at: at)
      if isNegative || bytes.has(UInt8(ascii: "+"), at: at) { at += 1 }
      let end = bytes.digitsEnd(from: at)
      guard end > at, end - at <= 9 else { return nil }
      var exponent = 0
      while at < end {
        exponent = exponent * 10 + Int(bytes[at] &- 48)
        at += 1
      }
      number.exponent += isNegative ? -exponent : exponent
    }
    return at == bytes.count ? number : nil
  }

  private static func readDigits(_ bytes: Span<UInt8>, _ at: inout Int, into number: inout Decimal) {
    while at < bytes.count, bytes[at] &- 48 < 10 {
      if number.significand >= 1 << 53 / 10 { number.isExact = false }
      if number.isExact { number.significand = number.significand * 10 + UInt64(bytes[at] &- 48) }
      at += 1
    }
  }
}
