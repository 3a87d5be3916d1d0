/// A cheap look at whether a text is a date or a time in any of the usual forms.
enum DateLook {
  /// `date`, `time` or `dateTime` for digits with the marks of dates; nil for another text.
  static func kind(_ bytes: [UInt8]) -> CellKind? {
    if timeLength(bytes, from: 0) == bytes.count { return .time }
    guard let dateEnd = dateLength(bytes) else { return nil }
    if dateEnd == bytes.count { return .date }
    var at = dateEnd
    if bytes[at] == UInt8(ascii: ",") { at += 1 }
    guard at < bytes.count, bytes[at] == 32 || bytes[at] | 0x20 == UInt8(ascii: "t") else { return nil }
    at += 1
    return timeLength(bytes, from: at) == bytes.count ? .dateTime : nil
  }

  /// The end of three numbers with the same mark between them.
  private static func dateLength(_ bytes: [UInt8]) -> Int? {
    var at = 0
    var values: [Int] = []
    var lengths: [Int] = []
    var mark: UInt8?
    while true {
      let start = at
      var value = 0
      while at < bytes.count, bytes[at].isDigit, at - start < 4 {
        value = value * 10 + Int(bytes[at] &- 48)
        at += 1
      }
      guard at > start else { return nil }
      values.append(value)
      lengths.append(at - start)
      if values.count == 3 { break }
      guard at < bytes.count, "./-".utf8.contains(bytes[at]), mark == nil || mark == bytes[at] else { return nil }
      mark = bytes[at]
      at += 1
      if at < bytes.count, bytes[at] == 32, mark == UInt8(ascii: ".") { at += 1 }
    }
    if at < bytes.count, bytes[at].isDigit { return nil }
    let isYearFirst = lengths[0] == 4
    guard lengths[1] <= 2, isYearFirst ? lengths[2] <= 2 : lengths[0] <= 2 && lengths[2] != 3 && lengths[2] != 1
    else { return nil }
    // Month and day, in either order; with two digits the first number may also be the year.
    let pairs = isYearFirst ? [(1, 2)] : lengths[2] == 2 ? [(0, 1), (1, 2)] : [(0, 1)]
    let exists = pairs.contains { one, two in
      min(values[one], values[two]) >= 1 && min(values[one], values[two]) <= 12 && max(values[one], values[two]) <= 31
    }
    return exists ? at : nil
  }

  /// The end of `H:mm`, `H:mm:ss` with a fraction, and a zone or AM and PM after it; nil if there is none.
  private static func timeLength(_ bytes: [UInt8], from start: Int) -> Int? {
    var at = start
    func digits(_ most: Int) -> Int {
      let first = at
      while at < bytes.count, bytes[at].isDigit, at - first < most { at += 1 }
      return at - first
    }
    guard digits(2) > 0, at < bytes.count, bytes[at] == UInt8(ascii: ":") else { return nil }
    at += 1
    guard digits(2) == 2 else { return nil }
    if at < bytes.count, bytes[at] == UInt8(ascii: ":") {
      at += 1
      guard digits(2) == 2 else { return nil }
      if at < bytes.count, bytes[at] == UInt8(ascii: ".") || bytes[at] == UInt8(ascii: ",") {
        at += 1
        guard digits(18) > 0 else { return nil }
      }
    }
    if at == bytes.count { return at }
    let rest = Array(bytes[at...]).text.lowercased().filter { $0 != " " }
    if ["z", "utc", "uhr", "h", "am", "pm", "a.m.", "p.m."].contains(rest) { return bytes.count }
    let isZone =
      (rest.first == "+" || rest.first == "-") && rest.count >= 3 && rest.count <= 6
      && rest.dropFirst().allSatisfy { $0.isNumber || $0 == ":" }
    return isZone ? bytes.count : nil
  }

  /// Whether a text is a date with the name of a month: `14. Juli 2014`, `Jul 14, 2014`.
  static func isNamed(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 7, bytes.count <= 32, bytes.count(where: \.isDigit) >= 2 else { return false }
    return MonthNames.words(bytes.text) != nil
  }
}
