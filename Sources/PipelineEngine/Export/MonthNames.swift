import PersistentStores

/// The months of dates in UTC, as they appear in file names.
struct MonthNames {
  /// For entries without a date.
  static let undated = "undated"

  /// The range of the previous month in seconds since 2001-01-01 UTC. Entries are sorted by date, so nearly every one
  /// has the same month as the previous one.
  private var span = 0.0..<0.0
  private var spanName = ""

  /// `2014-07`, with the year as in ISO 8601. Infinite dates have names of their own.
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
