extension DatePattern {
  /// The components of `bytes`, whether or not the day exists; `nil` if the syntax differs.
  func fields(_ bytes: Span<UInt8>) -> DateFields? {
    var fields = DateFields()
    var at = 0
    for part in parts {
      guard read(part, of: bytes, at: &at, into: &fields) else { return nil }
    }
    return at == bytes.count ? fields : nil
  }

  private func read(
    _ part: Part, of bytes: Span<UInt8>, at: inout Int, into fields: inout DateFields
  ) -> Bool {
    switch part {
    case .literal(let byte):
      guard bytes.has(byte, at: at) else { return false }
      at += 1
    case .year(let digits):
      guard let year = Self.year(bytes, &at, digits: digits) else { return false }
      fields.year = year
    case .month(let digits):
      guard let month = Self.number(bytes, &at, digits: digits) else { return false }
      fields.month = month
    case .day(let digits):
      guard let day = Self.number(bytes, &at, digits: digits) else { return false }
      fields.day = day
    case .hour(let digits):
      guard let hour = Self.number(bytes, &at, digits: digits) else { return false }
      fields.hour = hour
      fields.hasTime = true
    case .minute(let digits):
      guard let minute = Self.number(bytes, &at, digits: digits) else { return false }
      fields.minute = minute
    case .second(let digits):
      guard let second = Self.number(bytes, &at, digits: digits) else { return false }
      fields.second = second
    case .fraction(let digits):
      guard bytes.digitsEnd(from: at) >= at + digits else { return false }
      fields.fraction = at..<(at + digits)
      at += digits
    case .zone:
      let start = at
      guard ZoneReader.read(bytes, &at, into: &fields), at > start else { return false }
    }
    return true
  }

  private static func year(_ bytes: Span<UInt8>, _ at: inout Int, digits: Int) -> Int? {
    switch digits {
    case 2:
      guard let short = bytes.twoDigits(at: at) else { return nil }
      at += 2
      let century = windowStart - windowStart % 100
      return century + short < windowStart ? century + 100 + short : century + short
    case 4:
      guard let year = bytes.fourDigits(at: at) else { return nil }
      at += 4
      return year
    default:
      let end = bytes.digitsEnd(from: at)
      guard end > at, end - at <= 9 else { return nil }
      var year = 0
      while at < end {
        year = year * 10 + Int(bytes[at] &- 48)
        at += 1
      }
      return year
    }
  }

  private static func number(_ bytes: Span<UInt8>, _ at: inout Int, digits: Int) -> Int? {
    if let value = bytes.twoDigits(at: at) {
      at += 2
      return value
    }
    guard digits == 1, at < bytes.count, bytes[at] &- 48 < 10 else { return nil }
    let value = Int(bytes[at] &- 48)
    at += 1
    return value
  }
}
