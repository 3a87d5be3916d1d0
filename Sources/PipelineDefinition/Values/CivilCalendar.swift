/// Days and dates of the proleptic Gregorian calendar, counted from Core Data's reference date 2001-01-01.
///
/// Years are astronomical: year 0 is 1 BC, as in ISO 8601.
package enum CivilCalendar {
  package static let secondsPerDay = 86_400
  /// The calendar repeats after 400 years.
  package static let daysPerCycle = 146_097
  static let secondsPerCycle = daysPerCycle * secondsPerDay

  /// Days from 0000-03-01, the origin of the formulas below, to 2001-01-01.
  private static let daysFromMarchOfYearZero = 730_791

  static func isLeap(_ year: Int) -> Bool {
    year & 3 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  package static func daysInMonth(_ month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days from 2001-01-01 to the date, which must exist. The formula uses years that begin in March, so that the leap
  /// day is the last day and month lengths follow one formula.
  package static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfCycle = shifted - cycle * 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * daysPerCycle + dayOfCycle - daysFromMarchOfYearZero
  }

  /// The inverse of `days`.
  package static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + daysFromMarchOfYearZero
    let cycle = (shifted >= 0 ? shifted : shifted - (daysPerCycle - 1)) / daysPerCycle
    let dayOfCycle = shifted - cycle * daysPerCycle
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
