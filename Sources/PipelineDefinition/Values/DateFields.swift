/// A date and time as read from text, before it becomes seconds.
///
/// Plain numbers only, so that reading a date allocates nothing.
struct DateFields {
  var year = 0
  var month = 1
  var day = 1
  var hour = 0
  var minute = 0
  var second = 0
  /// The range of the second's fraction digits in the text.
  var fraction = 0..<0
  /// Offset of the written time from UTC in seconds, positive if ahead.
  var offset = 0
  /// Whether the text says its zone.
  var hasZone = false
  /// Whether the text says a time of the day.
  var hasTime = false
  /// Whether the offset is RFC 3339's `-00:00`: UTC, and the only representation of the instant -0.0.
  var hasNegativeZeroOffset = false
  /// The range of the year's digits if they are too many for an Int; `year` is then the year modulo 400.
  var wideYear = 0..<0
  var isYearNegative = false

  /// Whether the date and time exist in the calendar. There is no hour 24 and no leap second.
  var exists: Bool {
    month >= 1 && month <= 12 && day >= 1 && hour < 24 && minute < 60 && second < 60
      && (day <= 28 || day <= CivilCalendar.daysInMonth(month, of: year))
  }

  /// Seconds since 2001-01-01 UTC without the fraction; the year must not be wide.
  var wholeSeconds: Int {
    CivilCalendar.days(year: year, month: month, day: day) * CivilCalendar.secondsPerDay
      + hour * 3600 + minute * 60 + second - offset
  }

  /// The instant in seconds since 2001-01-01 UTC, rounded correctly; `nil` beyond the largest Double.
  func seconds(in bytes: Span<UInt8>) -> Double? {
    guard wideYear.isEmpty else { return wideSeconds(in: bytes) }
    let value =
      fraction.isEmpty
      ? Double(wholeSeconds) : ExactSeconds.nearest(whole: wholeSeconds, bytes: bytes, digits: fraction)
    return hasNegativeZeroOffset && value == 0 ? -0.0 : value
  }

  /// For years whose seconds exceed an Int: whole cycles of 400 years use wide arithmetic, the rest the usual one.
  private func wideSeconds(in bytes: Span<UInt8>) -> Double? {
    var digits: [UInt8] = []
    for index in wideYear { digits.append(bytes[index]) }
    var fractionDigits: [UInt8] = []
    for index in fraction { fractionDigits.append(bytes[index]) }
    var total = WideInteger(digits: digits)
    _ = total.divide(by: 400)
    // `year` is the remainder of that division, with the year's sign.
    if isYearNegative {
      total.multiply(by: UInt64(CivilCalendar.secondsPerCycle), adding: UInt64(-wholeSeconds))
    } else {
      // Borrowing six cycles makes the rest positive: year 0 is 2001 years before the reference date.
      total.subtract(6)
      let rest = wholeSeconds + 6 * CivilCalendar.secondsPerCycle
      total.multiply(by: UInt64(CivilCalendar.secondsPerCycle), adding: UInt64(rest))
    }
    let value = ExactSeconds.nearest(whole: total, isNegative: isYearNegative, fraction: fractionDigits)
    return value.isFinite ? value : nil
  }
}
