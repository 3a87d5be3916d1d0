/// A ``UnitConversion`` compiled for bytes. Converting allocates nothing.
struct UnitConverter: Sendable {
  /// A number as written: its digits without the point, and how many of them follow the point.
  private struct Number {
    var range: Range<Int>
    var isNegative = false
    var significand: UInt64 = 0
    var fractionDigits = 0
  }

  private let conversion: UnitConversion
  /// Units of the same kind, longest spelling first: `m/s` before `m`.
  private let units: [(spelling: [UInt8], unit: MeasureUnit)]
  private let shownUnit: [UInt8]
  /// What precedes the fraction, in the text and in the result.
  private let decimal: [UInt8]

  init(_ conversion: UnitConversion, decimal: [UInt8] = NumberNotation.plain.decimal) {
    self.conversion = conversion
    self.decimal = decimal
    units =
      MeasureUnit.allCases.filter { $0.isSpeed == conversion.from.isSpeed }
      .flatMap { unit in unit.spellings.map { (Array($0.utf8), unit) } }
      .sorted { $0.0.count > $1.0.count }
    shownUnit = conversion.unitShown ? Array(conversion.to.rawValue.utf8) : []
  }

  /// Writes the quantity `text` in the target unit to `output`; false, with nothing written, if it is not a quantity.
  func convert(_ text: Span<UInt8>, to output: inout [UInt8]) -> Bool {
    let trimmed = text.trimmedRange
    var at = trimmed.lowerBound
    let end = trimmed.upperBound
    guard let low = number(text, at: &at, end: end, signAllowed: true) else { return false }
    let unitOfLow = unit(text, at: &at, end: end)
    var high: Number?
    if at < end {
      guard skipRangeMark(text, &at), let second = number(text, at: &at, end: end, signAllowed: false) else {
        return false
      }
      high = second
    }
    let unitOfHigh = high == nil ? nil : unit(text, at: &at, end: end)
    guard at == end, unitOfLow == nil || unitOfHigh == nil || unitOfLow == unitOfHigh else { return false }
    // In `3ft-5` it is ambiguous whether the unit applies to the 5.
    guard high == nil || unitOfLow == nil || unitOfHigh != nil else { return false }
    let unit = unitOfHigh ?? unitOfLow ?? conversion.from
    write(low, of: text, in: unit, to: &output)
    if let high {
      output.append(UInt8(ascii: "-"))
      write(high, of: text, in: unit, to: &output)
    }
    output += shownUnit
    return true
  }

  // MARK: Reading

  private func number(_ text: Span<UInt8>, at: inout Int, end: Int, signAllowed: Bool) -> Number? {
    var number = Number(range: at..<at)
    var index = at
    if signAllowed, text.has(UInt8(ascii: "-"), at: index) || text.has(UInt8(ascii: "+"), at: index) {
      number.isNegative = text[index] == UInt8(ascii: "-")
      index += 1
    }
    let digitsStart = index
    while index < end, text[index] &- 48 < 10 {
      // No length or speed has more digits.
      guard number.significand < 1_000_000_000_000 else { return nil }
      number.significand = number.significand * 10 + UInt64(text[index] &- 48)
      index += 1
    }
    guard index > digitsStart else { return nil }
    let fraction = index + decimal.count
    if text.has(decimal, at: index), fraction < end, text[fraction] &- 48 < 10 {
      index = fraction
      while index < end, text[index] &- 48 < 10 {
        // Later digits do not change the result.
        if number.significand < 100_000_000_000_000_000 {
          number.significand = number.significand * 10 + UInt64(text[index] &- 48)
          number.fractionDigits += 1
        }
        index += 1
      }
    }
    number.range = at..<index
    at = index
    return number
  }

  /// The unit at `at`, after an optional space. Anything else is left unread.
  private func unit(_ text: Span<UInt8>, at: inout Int, end: Int) -> MeasureUnit? {
    let start = text.has(32, at: at) ? at + 1 : at
    for (spelling, unit) in units where start + spelling.count <= end {
      let stop = start + spelling.count
      guard text.extracting(start..<stop).equalsIgnoringCase(spelling, from: 0) else { continue }
      // `m` does not begin `mi`.
      if stop < end, (text[stop] | 0x20) &- 97 < 26 || text[stop] == UInt8(ascii: "/") { continue }
      at = stop
      return unit
    }
    return nil
  }

  /// Skips `-` or `–` (U+2013) with spaces around it.
  private func skipRangeMark(_ text: Span<UInt8>, _ at: inout Int) -> Bool {
    if text.has(32, at: at) { at += 1 }
    if text.has(UInt8(ascii: "-"), at: at) {
      at += 1
    } else if text.has(0xE2, at: at), text.has(0x80, at: at + 1), text.has(0x93, at: at + 2) {
      at += 3
    } else {
      return false
    }
    if text.has(32, at: at) { at += 1 }
    return true
  }

  // MARK: Writing

  private func write(_ number: Number, of text: Span<UInt8>, in unit: MeasureUnit, to output: inout [UInt8]) {
    if unit == conversion.to {
      for index in number.range { output.append(text[index]) }
      return
    }
    // At most 10^18 · 3.6·10^6 · 10^9, far below 2^128.
    let dividend = UInt128(number.significand) * UInt128(unit.size) * Self.power(conversion.digits)
    let divisor = UInt128(conversion.to.size) * Self.power(number.fractionDigits)
    let rounded = (2 * dividend + divisor) / (2 * divisor)
    if number.isNegative, rounded > 0 { output.append(UInt8(ascii: "-")) }
    write(rounded, fractionDigits: conversion.digits, &output)
  }

  private func write(_ value: UInt128, fractionDigits: Int, _ output: inout [UInt8]) {
    let scale = Self.power(fractionDigits)
    Self.write(value / scale, digits: 1, &output)
    var fraction = value % scale
    var digits = fractionDigits
    while digits > 0, fraction % 10 == 0 {
      fraction /= 10
      digits -= 1
    }
    guard digits > 0 else { return }
    output += decimal
    Self.write(fraction, digits: digits, &output)
  }

  /// Pads with leading zeros to `digits` digits.
  private static func write(_ value: UInt128, digits: Int, _ output: inout [UInt8]) {
    if value >= 10 || digits > 1 { write(value / 10, digits: digits - 1, &output) }
    output.append(UInt8(value % 10) + 48)
  }

  private static func power(_ exponent: Int) -> UInt128 { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
