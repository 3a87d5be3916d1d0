/// The order of day, month and year in a date of numbers.
enum DateOrder: Sendable, Hashable, CaseIterable {
  case dayMonth, monthDay, yearMonth

  /// The pattern with a mark between the numbers, such as `.` or `/`.
  func pattern(mark: String, yearDigits: Int) -> String {
    let year = yearDigits == 4 ? "yyyy" : "yy"
    let parts =
      switch self {
      case .dayMonth: ["d", "M", year]
      case .monthDay: ["M", "d", year]
      case .yearMonth: [year, "M", "d"]
      }
    return parts.joined(separator: mark)
  }
}

/// The form of a date of numbers: everything but the order.
struct DateForm: Sendable, Hashable {
  /// Between the numbers, with a space where one follows.
  var mark: String
  var isYearFirst: Bool
  var yearDigits: Int
  /// The pattern of what follows the date: a time, or nothing.
  var time: String

  /// Patterns of times after a date, the usual ones first.
  static let times = [
    "H:mm", "H:mm:ss", "H:mm:ssXXX", "H:mmXXX", "H:mm:ss.SSS", "H:mm:ss.SSSXXX", "H:mm' Uhr'", "H'h'mm", "H.mm' Uhr'",
    "H.mm",
  ]

  /// Different for different forms.
  var name: String { "\(mark) \(isYearFirst) \(yearDigits) \(time)" }

  func pattern(_ order: DateOrder) -> String { order.pattern(mark: mark, yearDigits: yearDigits) + time }

  /// The form of a text; nil if it is not three numbers with the same mark, and a time.
  init?(_ bytes: [UInt8]) {
    var at = 0
    var lengths: [Int] = []
    var marks: [String] = []
    while lengths.count < 3 {
      let start = at
      while at < bytes.count, bytes[at].isDigit { at += 1 }
      lengths.append(at - start)
      guard at > start, at - start <= 4 else { return nil }
      if lengths.count == 3 { break }
      guard at < bytes.count, "./-".utf8.contains(bytes[at]) else { return nil }
      var mark = String(Character(Unicode.Scalar(bytes[at])))
      at += 1
      while at < bytes.count, bytes[at] == 32 {
        mark += " "
        at += 1
      }
      marks.append(mark)
    }
    guard marks[0] == marks[1], lengths[1] <= 2 else { return nil }
    mark = marks[0]
    isYearFirst = lengths[0] == 4
    guard isYearFirst ? lengths[2] <= 2 : lengths[0] <= 2 && (lengths[2] == 2 || lengths[2] == 4) else { return nil }
    yearDigits = isYearFirst ? 4 : lengths[2]
    guard let time = Self.time(bytes[at...]) else { return nil }
    self.time = time
  }

  /// The pattern of what follows the date; empty for nothing, nil for what no pattern reads.
  private static func time(_ rest: ArraySlice<UInt8>) -> String? {
    if rest.isEmpty { return "" }
    for (text, pattern) in [(", ", ", "), (" ", " "), ("T", "'T'"), (",", ","), ("  ", "  "), (" um ", "' um '")] {
      let prefix = Array(text.utf8)
      guard rest.starts(with: prefix) else { continue }
      let clock = Array(rest.dropFirst(prefix.count))
      if let time = TimeReader.pattern(clock) { return pattern + time }
    }
    return nil
  }
}
