/// The format of a date that none of a column's formats can read, for the advice of a message.
package struct LikelyDateFormat: Sendable {
  /// The format, or the two that are possible.
  package let text: String
  /// The formats that read the text, and those that must not.
  private let reading: [DateFormat]
  private let refusing: [DateFormat]

  private init?(_ reading: [String], not refusing: [String] = []) {
    text = reading.joined(separator: " or ")
    func formats(_ names: [String]) -> [DateFormat] { names.compactMap { try? DateFormat($0) } }
    (self.reading, self.refusing) = (formats(reading), formats(refusing))
    if self.reading.count < reading.count || self.refusing.count < refusing.count { return nil }
  }

  private func matches(_ bytes: Span<UInt8>) -> Bool {
    for format in reading where format.seconds(bytes) == nil { return false }
    for format in refusing where format.seconds(bytes) != nil { return false }
    return true
  }

  /// At most seven: the number of a message has no space for more.
  private static let known: [LikelyDateFormat] = [
    LikelyDateFormat(["d.M.yyyy"]),
    LikelyDateFormat(["d.M.yy"]),
    LikelyDateFormat(["d/M/yyyy"], not: ["M/d/yyyy"]),
    LikelyDateFormat(["M/d/yyyy"], not: ["d/M/yyyy"]),
    LikelyDateFormat(["d/M/yyyy", "M/d/yyyy"]),
    LikelyDateFormat(["d/M/yy"], not: ["M/d/yy"]),
    LikelyDateFormat(["M/d/yy"], not: ["d/M/yy"]),
  ].compactMap(\.self)

  /// The number from 1 of the format that a text is likely to have; 0 for none.
  static func number(of bytes: Span<UInt8>) -> Int {
    for (index, format) in known.enumerated() where format.matches(bytes) { return index + 1 }
    return 0
  }

  /// The format with this number; nil for 0.
  static func format(_ number: Int) -> LikelyDateFormat? { number > 0 ? known[number - 1] : nil }

  /// The seconds since 2001 of a text in a format that has one meaning only: day, month and year with dots.
  package static func secondsWithDots(_ bytes: Span<UInt8>) -> Double? {
    let number = number(of: bytes)
    return number == 1 || number == 2 ? known[number - 1].reading[0].seconds(bytes) : nil
  }
}
