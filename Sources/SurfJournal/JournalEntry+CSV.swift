import Foundation
import PipelineEngine

extension JournalEntry {
  /// The day of the session as the journal app displays it: month, day and two-digit year in UTC, `7/14/14`. Empty
  /// without a date.
  public func stringForDate() -> String {
    guard let date else { return "" }
    return Self.shortDate?.string(date.timeIntervalSinceReferenceDate) ?? ""
  }

  /// The entry as a line of the journal app's own export: date, height, period, wind, location and rating, unquoted,
  /// ended by a line feed.
  public func csv() -> String {
    let fields = [
      stringForDate(), height ?? "", period ?? "", wind ?? "", location ?? "", rating?.stringValue ?? "",
    ]
    return fields.joined(separator: ",") + "\n"
  }

  private static let shortDate = try? DateFormat("M/d/yy")
}
