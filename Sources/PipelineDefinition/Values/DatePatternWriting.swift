extension DatePattern {
  /// Appends the instant in UTC. Components without a letter are omitted and fractions truncated, as TR35 specifies.
  /// False if the value is not finite or its year does not fit.
  func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    // Year 10000 is 2.5 · 10^11 seconds away; no pattern can represent later dates.
    guard seconds.isFinite, seconds.magnitude < 0x1p40 else { return false }
    let floor = Int(seconds.rounded(.down))
    var days = floor / CivilCalendar.secondsPerDay
    var clock = floor % CivilCalendar.secondsPerDay
    if clock < 0 {
      clock += CivilCalendar.secondsPerDay
      days -= 1
    }
    let date = CivilCalendar.date(days: days)
    guard date.year >= 0, date.year <= 9999 else { return false }
    for part in parts {
      switch part {
      case .literal(let byte): output.append(byte)
      case .year(let digits): Self.append(year: date.year, digits: digits, to: &output)
      case .month(let digits): Self.append(date.month, digits: digits, to: &output)
      case .day(let digits): Self.append(date.day, digits: digits, to: &output)
      case .hour(let digits): Self.append(clock / 3600, digits: digits, to: &output)
      case .minute(let digits): Self.append(clock / 60 % 60, digits: digits, to: &output)
      case .second(let digits): Self.append(clock % 60, digits: digits, to: &output)
      case .fraction(let digits): Self.append(fractionOf: seconds, digits: digits, to: &output)
      case .zone(let style): output += style == .basicWithoutZ ? Array("+0000".utf8) : [UInt8(ascii: "Z")]
      }
    }
    return true
  }

  private static func append(_ number: Int, digits: Int, to output: inout [UInt8]) {
    if digits == 1, number < 10 {
      output.append(UInt8(truncatingIfNeeded: number) + 48)
    } else {
      output.appendTwoDigits(number)
    }
  }

  private static func append(year: Int, digits: Int, to output: inout [UInt8]) {
    if digits == 1 {
      output += Array(String(year).utf8)
    } else {
      if digits == 4 { output.appendTwoDigits(year / 100) }
      output.appendTwoDigits(year % 100)
    }
  }

  private static func append(fractionOf seconds: Double, digits: Int, to output: inout [UInt8]) {
    let known = seconds == seconds.rounded(.down) ? [] : DateText.fractionDigits(seconds)
    for index in 0..<digits { output.append(index < known.count ? known[index] : UInt8(ascii: "0")) }
  }
}
