import Foundation
import PipelineDefinition

@testable import PipelineDefinition

/// Dates are read as counting reads them, and every date that is written is read back bit for bit.
enum DateTarget: FuzzTarget {
  static let name = "dates"
  static let bytesMax = 128
  static let words = [
    "2014-07-14T06:30:00Z", "-0001-", "+12345-01-01", "T", "+09:30", "-00:00", ".123456789", "yyyy", "'T'", "%Y-%m-%d",
  ]
  private static let patterns = [
    "M/d/yy", "dd.MM.yyyy", "yyyyMMddHHmmss", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "d. M. y H:mm", "yyyy/MM/dd HH:mm ZZZZZ",
    "yyyy-MM-dd HH:mm:ss.SSSSSSSSSZ", "''yy''-M-d H'h'm X",
  ]
  static let seeds: [[UInt8]] =
    ["2014-07-14", "2014-07-14T06:30:00.25+09:30", "-0044-03-15 12:00 Z", "+12345-01-01T00:00"].map {
      [0] + Array($0.utf8)
    }
    + [[1, 0x41, 0xB9, 0x73, 0xCA, 0x1C, 0, 0, 1], [1] + [UInt8](repeating: 0xC2, count: 8)]
    + ["yy/M/d;14/7/14", "%d.%m.%Y", "d-M-yyyy HH:mm:ss.SSS ZZZZZ;1-2-2003 04:05:06.789 Z"].map { [2] + Array($0.utf8) }
    + patterns.indices.map { [3, UInt8($0), 7, 222, 7, 14, 6, 30, 15, 1, 2, 3] }
    + ["1405319400.25", "-0.5", "1e3", "-inf"].map { [4] + Array($0.utf8) }

  static func run(_ input: inout FuzzInput) {
    switch input.number(below: 5) {
    case 0: readISO(input.rest)
    case 1: writeAndRead(Double(bitPattern: input.word()))
    case 2: compile(input.text)
    case 3: readPattern(&input)
    default: readSeconds(input.rest)
    }
  }

  private static func readISO(_ bytes: [UInt8]) {
    let found = DateFormat.iso8601.seconds(bytes.span)
    if let found { writeAndRead(found) }
    guard let text = String(validating: bytes, as: UTF8.self),
      text.utf8.elementsEqual(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    else { return requireEqual(found, nil, rule: "a date is ASCII") }
    // Years of more digits are checked by writing and reading.
    let digits = bytes.dropFirst().prefix { $0 &- 48 < 10 }.count
    if digits > 9 || text.contains("\r\n") { return }
    requireEqual(
      found?.bitPattern, PlainDate.iso(text)?.bitPattern, rule: "ISO 8601 is read as counting reads it: \(text)")
  }

  private static func writeAndRead(_ value: Double) {
    for format in [DateFormat.iso8601, try? DateFormat("seconds"), try? DateFormat("unix")].compactMap({ $0 }) {
      var text: [UInt8] = []
      guard format.append(value, to: &text) else {
        requireEqual(text, [], rule: "what can't be written appends nothing")
        if format.text == "unix" || !value.isFinite { continue }
        broken("every finite date has a text", "\(value) in \(format.text)")
      }
      // The date of 0.0 and -0.0 is one, and has one text in Unix seconds.
      let shown = "\(value) in \(format.text), written as \(String(decoding: text, as: UTF8.self))"
      requireEqual(format.seconds(text.span), value, rule: "\(shown), is read back")
      var exact: [UInt8] = []
      guard format.appendExactly(value, to: &exact) else {
        if format.text != "unix" { broken("\(shown), is exact") }
        continue
      }
      requireEqual(format.seconds(exact.span)?.bitPattern, value.bitPattern, rule: "\(shown), is exact")
    }
    for pattern in patterns {
      guard let format = try? DateFormat(pattern) else { broken("the pattern \(pattern) is known") }
      var text: [UInt8] = []
      if format.appendExactly(value, to: &text) {
        requireEqual(format.seconds(text.span)?.bitPattern, value.bitPattern, rule: "\(pattern) is exact")
      }
    }
  }

  /// Any pattern gives a format or a reason; its texts give the same date again.
  private static func compile(_ text: String) {
    let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let letters = (try? StrftimePattern.letters(parts[0])) ?? parts[0]
    do throws(PipelineError) {
      let format = try DateFormat(letters)
      _ = format.isImpossibleDate(Array(parts[parts.count - 1].utf8).span)
      guard !DateFormat.names.contains(letters), letters != "infinity",
        let value = format.seconds(Array(parts[parts.count - 1].utf8).span), let again = format.string(value)
      else { return }
      // Two-digit years and missing components lose; a second time nothing is lost.
      guard let second = format.seconds(Array(again.utf8).span) else {
        broken("\(letters) reads its own text \(again)")
      }
      requireEqual(format.string(second), again, rule: "\(letters) writes what it has read")
    } catch {
      if error.message.isEmpty { broken("a refused pattern has a reason") }
    }
  }

  /// A date of chosen components is read from its text.
  private static func readPattern(_ input: inout FuzzInput) {
    let pattern = input.choice(of: patterns)
    let isShort = pattern.contains("yy") && !pattern.contains("yyyy")
    let year =
      isShort
      ? 1950 + input.number(below: 100) : (Int(input.byte()) << 8 | Int(input.byte())) % 10_000
    let (month, day) = (input.number(below: 14), input.number(below: 33))
    let (hour, minute, second) = (input.number(below: 25), input.number(below: 61), input.number(below: 61))
    let fraction = pad((Int(input.byte()) << 16 | Int(input.byte()) << 8 | Int(input.byte())) % 1_000_000_000, 9)
    var text = pattern == patterns[3] ? pattern.replacingOccurrences(of: "'T'", with: "\u{1}") : pattern
    for (letters, value) in [
      ("yyyy", pad(year, 4)), ("yy", pad(year % 100, 2)), ("y", "\(year)"), ("MM", pad(month, 2)), ("M", "\(month)"),
      ("dd", pad(day, 2)), ("d", "\(day)"), ("HH", pad(hour, 2)), ("'h'", "\u{2}"), ("H", "\(hour)"),
      ("mm", pad(minute, 2)), ("m", "\(minute)"), ("ss", pad(second, 2)), ("SSSSSSSSS", fraction),
      ("SSS", String(fraction.prefix(3))), ("XXX", "Z"), ("X", "Z"), ("ZZZZZ", "+00:00"), ("''", "'"), ("\u{1}", "T"),
      ("\u{2}", "h"),
    ] { text = text.replacingOccurrences(of: letters, with: value) }
    if pattern.hasSuffix("SZ") { text = text.replacingOccurrences(of: "Z", with: "+0000") }
    let hasTime = pattern.contains("H")
    let whole = PlainDate.seconds(
      year, month, day: day,
      clock: [hasTime ? hour : 0, hasTime ? minute : 0, pattern.contains("s") ? second : 0])
    let digits = pattern.contains("SSSSSSSSS") ? fraction : pattern.contains("SSS") ? String(fraction.prefix(3)) : ""
    let expected = whole.flatMap { PlainDate.nearest($0, fraction: digits) }
    let found = (try? DateFormat(pattern))?.seconds(Array(text.utf8).span)
    requireEqual(found, expected, rule: "\(text) is read by \(pattern)")
  }

  private static func pad(_ number: Int, _ count: Int) -> String {
    String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
  }

  private static func readSeconds(_ bytes: [UInt8]) {
    for name in ["seconds", "unix", "infinity"] {
      guard let format = try? DateFormat(name) else { broken("\(name) is a format") }
      guard let value = format.seconds(bytes.span) else { continue }
      if value.isFinite { writeAndRead(value) }
      let text = String(decoding: bytes, as: UTF8.self)
      if name == "seconds", value.isFinite { requireEqual(Double(text), value, rule: "seconds are a number") }
      if name == "unix" {
        let parts = text.split(separator: ".")
        // Exact in Foundation's decimals, up to 38 digits.
        guard text.utf8.count < 30, parts.count <= 2, let number = Decimal(string: text) else { continue }
        let sum = number - 978_307_200
        requireEqual(value, Double("\(sum)"), rule: "\(text) is read as an exact sum")
      }
    }
  }
}
