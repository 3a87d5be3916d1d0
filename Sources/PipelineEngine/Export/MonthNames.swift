import OpenCoreData

/// The months of dates in UTC, as the names of files have them.
struct MonthNames {
  /// Of entries without a date.
  static let undated = "undated"

  /// The month named last: its seconds since 2001-01-01 UTC. Entries come in the order of their dates, so nearly every
  /// one is of the same month as the one before.
  private var span = 0.0..<0.0
  private var spanName = ""

  /// `2014-07`; years as ISO 8601 has them. Infinite dates have names of their own.
  mutating func name(of cell: ValueCell) -> String {
    guard cell.kind == .real else { return Self.undated }
    let seconds = cell.real
    if span.contains(seconds) { return spanName }
    guard let text = DateText.iso8601(seconds) else { return seconds < 0 ? "before" : "after" }
    // The year may begin with a sign.
    let yearEnd = text.dropFirst().firstIndex(of: "-") ?? text.endIndex
    let name = String(text.prefix(upTo: text.index(yearEnd, offsetBy: 3, limitedBy: text.endIndex) ?? text.endIndex))
    if seconds.magnitude < 0x1p50 { remember(seconds, name) }
    return name
  }

  private mutating func remember(_ seconds: Double, _ name: String) {
    let day = Int((seconds / Double(CivilCalendar.secondsPerDay)).rounded(.down))
    let date = CivilCalendar.date(days: day)
    let first = day - date.day + 1
    let next = first + CivilCalendar.daysInMonth(date.month, of: date.year)
    span = Double(first * CivilCalendar.secondsPerDay)..<Double(next * CivilCalendar.secondsPerDay)
    spanName = name
  }
}
