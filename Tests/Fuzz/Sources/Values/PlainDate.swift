/// Dates by counting: seconds from 2001 to a date, and to a text of one.
enum PlainDate {
  /// Seconds from 2001-01-01 UTC to a date and time, hour, minute and second, that exists; nil for one that does not.
  static func seconds(_ year: Int, _ month: Int, day: Int, clock: [Int]) -> Int? {
    let (hour, minute, second) = (clock[0], clock[1], clock[2])
    guard (1...12).contains(month), day >= 1, day <= length(year, month), (0..<24).contains(hour),
      (0..<60).contains(minute), (0..<60).contains(second)
    else { return nil }
    // 400 years have 146,097 days; the rest is counted year by year.
    let cycles = (year - 2001 - (((year - 2001) % 400) + 400) % 400) / 400
    var days = cycles * 146_097
    var at = 2001 + cycles * 400
    while at < year {
      days += isLeap(at) ? 366 : 365
      at += 1
    }
    for earlier in 1..<13 where earlier < month { days += length(year, earlier) }
    return (days + day - 1) * 86_400 + hour * 3600 + minute * 60 + second
  }

  private static func isLeap(_ year: Int) -> Bool {
    if year % 400 == 0 { return true }
    return year % 4 == 0 && year % 100 != 0
  }

  private static func length(_ year: Int, _ month: Int) -> Int {
    [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// The nearest Double of whole seconds and a fraction's digits, through the number in decimal digits.
  static func nearest(_ whole: Int, fraction: String) -> Double? {
    guard whole < 0, fraction.contains(where: { $0 != "0" }) else { return Double("\(whole).\(fraction)0") }
    // -5 + 0.25 is -(4 + 0.75).
    var digits: [Int] = fraction.compactMap(\.wholeNumberValue).map { 9 - $0 }
    var index = digits.count - 1
    while index >= 0, digits[index] == 9 {
      digits[index] = 0
      index -= 1
    }
    digits[index] += 1
    return Double("-\(-(whole + 1)).\(digits.map(String.init).joined())")
  }

  /// Seconds of a text in ISO 8601 with a year of four to nine digits, as `ISODateReader` says; nil for another text.
  static func iso(_ text: String) -> Double? {
    var left = Substring(text)
    func number(_ count: Int, _ most: Int = 0) -> (value: Int, text: String)? {
      let digits = left.prefix { $0.isASCII && $0.isNumber }.prefix(max(count, most))
      guard digits.count >= count, let value = digits.isEmpty ? 0 : Int(digits) else { return nil }
      left = left.dropFirst(digits.count)
      return (value, String(digits))
    }
    func take(_ choices: String) -> Character? {
      guard let next = left.first, choices.contains(next) else { return nil }
      return left.removeFirst()
    }
    let sign = take("+-")
    guard let year = number(4, sign == nil ? 4 : 9), take("-") != nil, let month = number(2), take("-") != nil,
      let day = number(2)
    else { return nil }
    var clock = [0, 0, 0]
    var (fraction, offset, isMinusZero) = ("", 0, false)
    if take("Tt ") != nil {
      guard let hour = number(2), take(":") != nil, let minute = number(2) else { return nil }
      (clock[0], clock[1]) = (hour.value, minute.value)
      if take(":") != nil {
        guard let second = number(2) else { return nil }
        clock[2] = second.value
        if take(".,") != nil {
          let digits = left.prefix { $0.isASCII && $0.isNumber }
          guard !digits.isEmpty else { return nil }
          (fraction, left) = (String(digits), left.dropFirst(digits.count))
        }
      }
      if take(" ") != nil, left.isEmpty { return nil }
      if take("Zz") == nil, let ahead = take("+-") {
        guard let hours = number(2), hours.value < 24 else { return nil }
        let colon = take(":")
        let minutes = left.isEmpty && colon == nil ? (value: 0, text: "") : number(2)
        guard let minutes, minutes.value < 60 else { return nil }
        offset = (hours.value * 60 + minutes.value) * (ahead == "-" ? -60 : 60)
        isMinusZero = ahead == "-" && offset == 0
      }
    }
    guard left.isEmpty,
      let whole = seconds(sign == "-" ? -year.value : year.value, month.value, day: day.value, clock: clock)
    else { return nil }
    let value = nearest(whole - offset, fraction: fraction)
    return isMinusZero && value == 0 ? -0.0 : value
  }
}
