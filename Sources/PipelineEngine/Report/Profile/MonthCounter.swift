/// Counts dates by their month in UTC. Consecutive dates of one month cost two comparisons each.
struct MonthCounter: Sendable {
  /// Months since January of year 0 in the proleptic Gregorian calendar.
  private var months: NumberCounter
  /// The month of the previous date: its first second and the first second after it, since 2001-01-01.
  private var start = 0.0
  private var end = 0.0
  /// Dates of that month that are not yet counted in `months`.
  private var pending = 0
  private var month: Int64 = 0

  /// Years 1 to 9999, which ISO 8601 writes with four digits.
  private static let first = Double(CivilCalendar.days(year: 1, month: 1, day: 1) * CivilCalendar.secondsPerDay)
  private static let last = Double(CivilCalendar.days(year: 10_000, month: 1, day: 1) * CivilCalendar.secondsPerDay)

  /// The first day of each month from 1900 to 2099 and of the one after them: a lookup is faster than computing it.
  private static let firstDays = (0...2400).map { index in
    Int32(CivilCalendar.days(year: 1900 + index / 12, month: index % 12 + 1, day: 1))
  }
  private static let tableFirstMonth = 1900 * 12
  private static let tableFirstDay = CivilCalendar.days(year: 1900, month: 1, day: 1)
  private static let tableLastDay = CivilCalendar.days(year: 2100, month: 1, day: 1)
  private let firstDays = Self.firstDays

  init() {
    months = NumberCounter(distinctMax: EntryProfile.monthsMax)
  }

  /// `seconds` since 2001-01-01 UTC, any number.
  @inline(__always)
  mutating func add(_ seconds: Double) {
    if seconds >= start, seconds < end { pending &+= 1 } else { addElsewhere(seconds) }
  }

  private mutating func addElsewhere(_ seconds: Double) {
    flush()
    // Also false for NaN.
    guard seconds >= Self.first, seconds < Self.last else { return months.addOther() }
    var whole = Int(seconds)
    if Double(whole) > seconds { whole -= 1 }
    let days = (whole >= 0 ? whole : whole - (CivilCalendar.secondsPerDay - 1)) / CivilCalendar.secondsPerDay
    month = Int64(number(ofDay: days))
    start = Double(firstDay(Int(month)) * CivilCalendar.secondsPerDay)
    end = Double(firstDay(Int(month) + 1) * CivilCalendar.secondsPerDay)
    pending = 1
  }

  /// The month of a day, from an estimate with the mean length of months that is at most one off.
  private func number(ofDay days: Int) -> Int {
    guard days >= Self.tableFirstDay, days < Self.tableLastDay else {
      let date = CivilCalendar.date(days: days)
      return date.year * 12 + date.month - 1
    }
    var index = (days - Self.tableFirstDay) * 4800 / CivilCalendar.daysPerCycle
    while Int(firstDays[index]) > days { index -= 1 }
    while Int(firstDays[index + 1]) <= days { index += 1 }
    return Self.tableFirstMonth + index
  }

  private func firstDay(_ month: Int) -> Int {
    let index = month - Self.tableFirstMonth
    return firstDays.indices.contains(index)
      ? Int(firstDays[index]) : CivilCalendar.days(year: month / 12, month: month % 12 + 1, day: 1)
  }

  mutating func add(month: Int64, times: Int) { months.add(month, times: times) }
  mutating func addOther(_ times: Int) { months.addOther(times) }

  private mutating func flush() {
    if pending > 0 { months.add(month, times: pending) }
    pending = 0
  }

  /// The counts so far, including `pending` dates.
  var counts: NumberCounter {
    var copy = self
    copy.flush()
    return copy.months
  }

  /// 2014-07.
  static func name(_ month: Int64) -> String {
    let year = String(month / 12)
    let number = month % 12 + 1
    return String(repeating: "0", count: max(0, 4 - year.count)) + year + (number < 10 ? "-0" : "-") + "\(number)"
  }

  /// The inverse of `name`; nil for a text that is not a month's name.
  static func month(named name: String) -> Int64? {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let year = Int64(parts[0]), let month = Int64(parts[1]),
      (1...9999).contains(year), (1...12).contains(month)
    else { return nil }
    return year * 12 + month - 1
  }
}
