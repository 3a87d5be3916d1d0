import Foundation

/// Dates as people write them in a predicate: `2014-07-14`, `2014-07-14T08:30`, `2014-07-14 08:30:00.25Z`,
/// `2014-07-14T08:30:00+02:00` (ISO 8601, extended form). Without a time zone they are in UTC, as in the store.
enum ISO8601Text {
  static func date(_ text: String) -> Date? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2), scanner.take("-"),
      let day = scanner.digits(2)
    else { return nil }
    var seconds = 0.0
    if !scanner.isAtEnd {
      guard scanner.take("T") || scanner.take(" "), let time = scanner.secondsOfDay() else { return nil }
      guard let offset = scanner.offsetSeconds() else { return nil }
      seconds = time - offset
    }
    guard scanner.isAtEnd, let midnight = midnight(year: year, month: month, day: day) else { return nil }
    return midnight.addingTimeInterval(seconds)
  }

  private static func midnight(year: Int, month: Int, day: Int) -> Date? {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let components = DateComponents(calendar: calendar, year: year, month: month, day: day)
    guard components.isValidDate(in: calendar) else { return nil }
    return calendar.date(from: components)
  }

  private struct Scanner {
    let bytes: [UInt8]
    var index = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ character: Character) -> Bool {
      guard index < bytes.count, bytes[index] == character.asciiValue else { return false }
      index += 1
      return true
    }

    mutating func digits(_ count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard index < bytes.count, (0x30...0x39).contains(bytes[index]) else { return nil }
        value = value * 10 + Int(bytes[index]) - 0x30
        index += 1
      }
      return value
    }

    /// `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`.
    mutating func secondsOfDay() -> Double? {
      guard let hours = digits(2), hours < 24, take(":"), let minutes = digits(2), minutes < 60 else {
        return nil
      }
      let whole = Double(hours * 3600 + minutes * 60)
      guard take(":") else { return whole }
      let start = index
      guard let seconds = digits(2), seconds < 60 else { return nil }
      guard take(".") else { return whole + Double(seconds) }
      guard digits(1) != nil else { return nil }
      while digits(1) != nil {}
      return Double(String(decoding: bytes[start..<index], as: UTF8.self)).map { whole + $0 }
    }

    /// Seconds east of Greenwich; 0 for a missing zone and for `Z`.
    mutating func offsetSeconds() -> Double? {
      if isAtEnd || take("Z") { return 0 }
      guard let sign = take("+") ? 1.0 : take("-") ? -1.0 : nil, let hours = digits(2), hours < 24 else {
        return nil
      }
      _ = take(":")
      guard let minutes = isAtEnd ? 0 : digits(2), minutes < 60 else { return nil }
      return sign * Double(hours * 3600 + minutes * 60)
    }
  }
}
