/// Writes dates as ISO 8601 in UTC such that reading gives the same Double, bit for bit.
///
/// Whole seconds have no fraction, others the fewest fraction digits that suffice. Years outside 0000–9999 use the
/// expanded form (a sign, at least four digits). -0.0, which exists in memory but not in SQLite, is written with
/// `-00:00`.
package enum DateText {
  /// The text; `nil` for values that are not dates: NaN and infinities.
  package static func iso8601(_ seconds: Double) -> String? {
    var bytes: [UInt8] = []
    return append(seconds, to: &bytes) ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Appends the text; false, with nothing appended, if `seconds` is not finite.
  package static func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    // Within ±2^62 the whole seconds fit an Int, with a margin for the calendar's arithmetic.
    guard seconds.magnitude < 0x1p62 else {
      return seconds.isFinite ? appendWide(seconds, to: &output) : false
    }
    let floor = seconds.rounded(.down)
    appendClock(Int(floor), cycles: nil, to: &output)
    if floor != seconds {
      output.append(UInt8(ascii: "."))
      output += fractionDigits(seconds)
    }
    if seconds == 0, seconds.sign == .minus {
      output += Array("-00:00".utf8)
    } else {
      output.append(UInt8(ascii: "Z"))
    }
    return true
  }

  /// Appends `yyyy-MM-ddTHH:mm:ss` for seconds since 2001; `cycles`, for the wide case, replaces the year's digits.
  private static func appendClock(_ seconds: Int, cycles: ((Int) -> String)?, to output: inout [UInt8]) {
    var days = seconds / CivilCalendar.secondsPerDay
    var clock = seconds % CivilCalendar.secondsPerDay
    if clock < 0 {
      clock += CivilCalendar.secondsPerDay
      days -= 1
    }
    let date = CivilCalendar.date(days: days)
    if let cycles {
      output += Array(cycles(date.year).utf8)
    } else if date.year >= 0, date.year <= 9999 {
      output.appendTwoDigits(date.year / 100)
      output.appendTwoDigits(date.year % 100)
    } else {
      let digits = String(date.year.magnitude)
      output += Array("\(date.year < 0 ? "-" : "+")\(String(repeating: "0", count: max(0, 4 - digits.count)))".utf8)
      output += Array(digits.utf8)
    }
    output.append(UInt8(ascii: "-"))
    output.appendTwoDigits(date.month)
    output.append(UInt8(ascii: "-"))
    output.appendTwoDigits(date.day)
    output.append(UInt8(ascii: "T"))
    output.appendTwoDigits(clock / 3600)
    output.append(UInt8(ascii: ":"))
    output.appendTwoDigits(clock / 60 % 60)
    output.append(UInt8(ascii: ":"))
    output.appendTwoDigits(clock % 60)
  }

  /// The digits of the second's fraction, counted upwards from the preceding whole second: the fewest that identify
  /// the Double.
  ///
  /// The standard library's description has the fewest significant digits. An integer below 2^53 is itself a Double,
  /// so these digits never round across a whole second, and the fewest significant digits are also the fewest
  /// fraction digits.
  static func fractionDigits(_ seconds: Double) -> [UInt8] {
    let text = Array(seconds.magnitude.description.utf8)
    let exponentMark = text.firstIndex(of: UInt8(ascii: "e"))
    let mantissa = text[..<(exponentMark ?? text.endIndex)]
    let point = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex
    var digits: [UInt8]
    if let exponentMark, let exponent = Int(String(decoding: text[(exponentMark + 1)...], as: UTF8.self)) {
      // The description of a value with a fraction has an exponent only if the value is tiny: d.ddde-NN.
      digits = Array(repeating: UInt8(ascii: "0"), count: max(0, -exponent - 1))
      digits += mantissa[..<point] + mantissa[point...].dropFirst()
    } else {
      digits = Array(mantissa[point...].dropFirst())
    }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return seconds < 0 ? ExactSeconds.complement(digits) : digits
  }

  /// Whole cycles of 400 years use wide arithmetic; such values have no fraction.
  private static func appendWide(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    let isNegative = seconds < 0
    var cycles = WideInteger(UInt64(seconds.magnitude.significandBitPattern | 1 << 52))
    var doublings = Int(seconds.exponent) - 52
    while doublings > 0 {
      let step = min(doublings, 32)
      cycles.multiply(by: 1 << UInt64(step))
      doublings -= step
    }
    var rest = Int(cycles.divide(by: UInt64(CivilCalendar.secondsPerCycle)))
    if isNegative {
      // The rest counts backwards from the reference date; with one more cycle it counts forwards.
      cycles.multiply(by: 1, adding: 1)
      rest = CivilCalendar.secondsPerCycle - rest
    }
    let years = cycles
    appendClock(rest, cycles: { wideYear(years, isNegative: isNegative, yearOfCycle: $0) }, to: &output)
    output.append(UInt8(ascii: "Z"))
    return true
  }

  private static func wideYear(_ cycles: WideInteger, isNegative: Bool, yearOfCycle: Int) -> String {
    var year = cycles
    if isNegative {
      year.multiply(by: 400)
      year.subtract(UInt64(yearOfCycle))
      return "-" + year.digits
    }
    year.multiply(by: 400, adding: UInt64(yearOfCycle))
    return "+" + year.digits
  }
}

extension [UInt8] {
  /// Appends 0…99 as two digits.
  @inline(__always)
  mutating func appendTwoDigits(_ value: Int) {
    append(UInt8(truncatingIfNeeded: value / 10) + 48)
    append(UInt8(truncatingIfNeeded: value % 10) + 48)
  }
}
