import Foundation

/// The offsets of a time zone from UTC, for times that do not say theirs.
///
/// A table, so that finding an offset allocates nothing and asks no library. Where clocks are set forward, a time that
/// was skipped counts from the offset before; where they are set back, a time that occurred twice is the first one.
package struct ZoneRules: Sendable {
  package let name: String
  /// For each change but the first offset, the local seconds since 2001-01-01 from which the next offset applies.
  private let starts: [Int]
  /// One more than `starts`.
  private let offsets: [Int]

  /// Looks a zone up by its IANA name, such as `Europe/Berlin`; nil if the system does not know it.
  package init?(_ name: String) {
    guard let zone = TimeZone(identifier: name), Self.isName(name) else { return nil }
    self.name = name
    func offset(_ seconds: Int) -> Int {
      zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(seconds)))
    }
    var (starts, offsets) = ([Int](), [offset(Self.range.lowerBound)])
    var at = Self.range.lowerBound
    while at < Self.range.upperBound {
      let next = at + Self.step
      let (before, after) = (offsets[offsets.count - 1], offset(next))
      if before != after {
        var (low, high) = (at, next)
        while high - low > 1 {
          let middle = low + (high - low) / 2
          if offset(middle) == before { low = middle } else { high = middle }
        }
        starts.append(high + max(before, after))
        offsets.append(after)
      }
      at = next
    }
    (self.starts, self.offsets) = (starts, offsets)
  }

  /// The offset at a local time, in seconds; positive if ahead of UTC.
  func offset(atLocal seconds: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= seconds { low = middle + 1 } else { high = middle }
    }
    return offsets[low]
  }

  /// The names that people and the tz database use; Foundation also accepts `GMT+2` and abbreviations, whose meaning
  /// differs between systems.
  private static func isName(_ name: String) -> Bool {
    name == "UTC" || name == "GMT" || name.contains("/")
  }

  /// 1900 to 2100; before and after, the first and the last offset apply.
  private static let range =
    CivilCalendar.days(year: 1900, month: 1, day: 1) * CivilCalendar.secondsPerDay..<CivilCalendar.days(
      year: 2100, month: 1, day: 1) * CivilCalendar.secondsPerDay
  /// No zone has changed its clocks twice within two weeks and back.
  private static let step = 14 * CivilCalendar.secondsPerDay
}
