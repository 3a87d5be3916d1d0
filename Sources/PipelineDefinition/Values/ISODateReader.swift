/// Reads ISO 8601 dates and date-times (RFC 3339 with extensions).
///
/// `yyyy-MM-dd`, alone or with `T` or one space and `HH:mm`, `HH:mm:ss` or `HH:mm:ss.f…` (point or comma, any number
/// of digits), then `Z`, `±HH:mm`, `±HHmm`, `±HH` (after an optional space) or nothing, which means UTC. A date
/// without a time is midnight UTC. Years outside 0000–9999 use ISO 8601's expanded form: a sign and at least four
/// digits.
package enum ISODateReader {
  /// Seconds since 2001-01-01 UTC, or `nil` for anything else.
  static func seconds(_ bytes: Span<UInt8>) -> Double? {
    if let value = wholeSecondsUTC(bytes) { return value }
    guard let fields = fields(bytes), fields.exists else { return nil }
    return fields.seconds(in: bytes)
  }

  /// The fast path: valid dates `yyyy-MM-ddTHH:mm:ssZ` and `yyyy-MM-dd`. `nil` for all others, which the general path
  /// reads.
  @inline(__always)
  package static func wholeSecondsUTC(_ bytes: Span<UInt8>) -> Double? {
    let count = bytes.count
    guard count == 20 || count == 10 else { return nil }
    guard let year = bytes.fourDigits(at: 0), bytes[4] == UInt8(ascii: "-"),
      let month = bytes.twoDigits(at: 5), bytes[7] == UInt8(ascii: "-"),
      let day = bytes.twoDigits(at: 8)
    else { return nil }
    var fields = DateFields()
    fields.year = year
    fields.month = month
    fields.day = day
    if count == 20 {
      guard bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
        bytes[19] == UInt8(ascii: "Z"), let hour = bytes.twoDigits(at: 11), let minute = bytes.twoDigits(at: 14),
        let second = bytes.twoDigits(at: 17)
      else { return nil }
      fields.hour = hour
      fields.minute = minute
      fields.second = second
    }
    return fields.exists ? Double(fields.wholeSeconds) : nil
  }

  /// The components, whether or not the day exists; `nil` if the syntax differs.
  static func fields(_ bytes: Span<UInt8>) -> DateFields? {
    var fields = DateFields()
    var at = 0
    guard readYear(bytes, &at, into: &fields), bytes.has(UInt8(ascii: "-"), at: at),
      let month = bytes.twoDigits(at: at + 1), bytes.has(UInt8(ascii: "-"), at: at + 3),
      let day = bytes.twoDigits(at: at + 4)
    else { return nil }
    fields.month = month
    fields.day = day
    at += 6
    if at == bytes.count { return fields }
    guard bytes[at] == UInt8(ascii: "T") || bytes[at] == UInt8(ascii: "t") || bytes[at] == 32 else { return nil }
    at += 1
    guard readTime(bytes, &at, into: &fields), ZoneReader.read(bytes, &at, into: &fields) else { return nil }
    return at == bytes.count ? fields : nil
  }

  private static func readYear(_ bytes: Span<UInt8>, _ at: inout Int, into fields: inout DateFields) -> Bool {
    let isSigned = bytes.has(UInt8(ascii: "-"), at: 0) || bytes.has(UInt8(ascii: "+"), at: 0)
    guard isSigned else {
      guard let year = bytes.fourDigits(at: 0) else { return false }
      fields.year = year
      at = 4
      return true
    }
    fields.isYearNegative = bytes[0] == UInt8(ascii: "-")
    at = bytes.digitsEnd(from: 1)
    guard at - 1 >= 4 else { return false }
    var start = 1
    while start < at, bytes[start] == UInt8(ascii: "0") { start += 1 }
    // Ten digits of years are 3 · 10^17 seconds; more digits need the wide path.
    let isWide = at - start > 10
    var year = 0
    for index in start..<at {
      year = year * 10 + Int(bytes[index] &- 48)
      if isWide { year %= 400 }
    }
    if isWide { fields.wideYear = start..<at }
    fields.year = fields.isYearNegative ? -year : year
    return true
  }

  private static func readTime(_ bytes: Span<UInt8>, _ at: inout Int, into fields: inout DateFields) -> Bool {
    guard let hour = bytes.twoDigits(at: at), bytes.has(UInt8(ascii: ":"), at: at + 2),
      let minute = bytes.twoDigits(at: at + 3)
    else { return false }
    fields.hour = hour
    fields.minute = minute
    fields.hasTime = true
    at += 5
    guard bytes.has(UInt8(ascii: ":"), at: at) else { return true }
    guard let second = bytes.twoDigits(at: at + 1) else { return false }
    fields.second = second
    at += 3
    if bytes.has(UInt8(ascii: "."), at: at) || bytes.has(UInt8(ascii: ","), at: at) {
      let end = bytes.digitsEnd(from: at + 1)
      guard end > at + 1 else { return false }
      fields.fraction = (at + 1)..<end
      at = end
    }
    return true
  }
}

/// Reads the zone at the end of a date-time: `Z`, `±HH`, `±HHmm`, `±HH:mm`, after at most one space; no zone means
/// UTC.
enum ZoneReader {
  static func read(_ bytes: Span<UInt8>, _ at: inout Int, into fields: inout DateFields) -> Bool {
    if bytes.has(32, at: at) {
      at += 1
      if at == bytes.count { return false }
    }
    guard at < bytes.count else { return true }
    let mark = bytes[at]
    fields.hasZone = true
    if mark == UInt8(ascii: "Z") || mark == UInt8(ascii: "z") {
      at += 1
      return true
    }
    guard mark == UInt8(ascii: "+") || mark == UInt8(ascii: "-"), let hours = bytes.twoDigits(at: at + 1),
      hours < 24
    else { return false }
    at += 3
    var minutes = 0
    if bytes.has(UInt8(ascii: ":"), at: at) {
      guard let value = bytes.twoDigits(at: at + 1) else { return false }
      minutes = value
      at += 3
    } else if let value = bytes.twoDigits(at: at) {
      minutes = value
      at += 2
    }
    guard minutes < 60 else { return false }
    let ahead = hours * 3600 + minutes * 60
    fields.offset = mark == UInt8(ascii: "-") ? -ahead : ahead
    fields.hasNegativeZeroOffset = mark == UInt8(ascii: "-") && ahead == 0
    return true
  }
}
