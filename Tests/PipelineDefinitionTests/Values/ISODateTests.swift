import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// ISO 8601 as logs have it: one shape, strictly read, nothing guessed.
@Suite struct ISODateTests {
  static let readable: [(text: String, seconds: Double)] = [
    ("2001-01-01", 0),
    ("2001-01-01T00:00:00Z", 0),
    ("2000-12-31T23:59:59Z", -1),
    ("2014-07-14", 426_988_800),
    ("2014-07-14T07:30:00Z", 427_015_800),
    ("2014-07-14t07:30:00z", 427_015_800),
    ("2014-07-14 07:30:00", 427_015_800),
    ("2014-07-14T07:30", 427_015_800),
    ("2014-07-14 07:30Z", 427_015_800),
    ("2014-07-14T07:30:00 Z", 427_015_800),
    ("2014-07-14T09:30:00+02:00", 427_015_800),
    ("2014-07-14T09:30:00+0200", 427_015_800),
    ("2014-07-14T09:30:00+02", 427_015_800),
    ("2014-07-14 09:30:00 +02:00", 427_015_800),
    ("2014-07-13T22:00:00-09:30", 427_015_800),
    ("2014-07-14T09:30+02:00", 427_015_800),
    ("2014-07-14T07:30:00.5Z", 427_015_800.5),
    ("2014-07-14T07:30:00,25", 427_015_800.25),
    ("2014-07-14T07:30:00.000000000000000000000000Z", 427_015_800),
    ("2014-07-14T09:30:00.5+02:00", 427_015_800.5),
    ("2000-12-31T23:59:59.5Z", -0.5),
    ("2000-02-29", -26_524_800),
    ("2016-02-29T23:59:59Z", 478_483_199),
    ("1900-02-28", -3_182_284_800),
    ("0000-01-01", -63_145_526_400),
    ("9999-12-31T23:59:59Z", 252_423_993_599),
    ("+2014-07-14", 426_988_800),
    ("+02014-07-14", 426_988_800),
    ("-0000-01-01", -63_145_526_400),
    ("2001-01-01T00:00:00-00:00", -0.0),
  ]

  @Test(arguments: readable)
  func `A date is the seconds since 2001 in UTC`(text: String, seconds: Double) throws {
    let read = try #require(DateFormat.iso8601.seconds(text: text))
    #expect(read.bits == seconds.bits, "\(read)")
  }

  static let unreadable = [
    "", " ", "x", "2014", "2014-07", "20140714", "2014-7-14", "2014-07-4", "14-07-14", "2014/07/14", "2014-07-14T",
    "2014-07-14T07", "2014-07-14T7:30:00Z", "2014-07-14T07:30:0Z", "2014-07-14T07:30:00.", "2014-07-14T07:30:00.Z",
    "2014-07-14T07:30:00 ", "2014-07-14T07:30:00  Z", "2014-07-14  07:30:00", "2014-07-14T07:30:00Zx",
    "2014-07-14T07:30:00+", "2014-07-14T07:30:00+2", "2014-07-14T07:30:00+24:00", "2014-07-14T07:30:00+02:60",
    "2014-07-14T07:30:00+02:0", "2014-07-14T07:30:00GMT", "2014-07-14Z", "2014-07-14+02:00", "2014-07-14T07:30.5Z",
    " 2014-07-14", "2014-07-14 ", "+214-07-14", "-214-07-14", "２０１４-07-14", "2014–07–14", "12014-07-14",
  ]

  @Test(arguments: unreadable)
  func `Any other shape is refused`(text: String) {
    #expect(DateFormat.iso8601.seconds(text: text) == nil)
    #expect(!DateFormat.iso8601.isImpossibleDate(text: text))
  }

  static let impossible = [
    "2014-02-29", "1900-02-29", "2100-02-29", "2014-02-30", "2014-04-31", "2014-00-10", "2014-13-01", "2014-07-00",
    "2014-07-32", "2014-07-14T24:00:00Z", "2014-07-14T07:60:00Z", "2014-06-30T23:59:60Z", "2014-02-29T07:30:00.5Z",
    "-0001-02-29",
  ]

  @Test(arguments: impossible)
  func `A day or time that does not exist is refused, and known as such`(text: String) {
    #expect(DateFormat.iso8601.seconds(text: text) == nil)
    #expect(DateFormat.iso8601.isImpossibleDate(text: text))
  }

  @Test(.seeded) func `Days exist or not as Python's calendar has them, and fractions round as its fractions do`()
    throws
  {
    var random = Randomness.generator()
    var texts: [String] = []
    for index in 0..<TestLength.rounds(4000, long: 100_000) {
      let year = Int.random(in: 0...9999, using: &random)
      // One in a few is beyond the four digits, some of them far beyond what a Double can place.
      let wide = index % 5 == 0 ? Self.wideYear(&random) : Self.digits(year, 4)
      var text = "\(wide)-\(Self.digits(.random(in: 1...12, using: &random), 2))"
      text += "-\(Self.digits(.random(in: 1...31, using: &random), 2))"
      text += "T\(Self.digits(.random(in: 0...23, using: &random), 2))"
      text += ":\(Self.digits(.random(in: 0...59, using: &random), 2))"
      text += ":\(Self.digits(.random(in: 0...59, using: &random), 2))"
      if index % 4 != 0 { text += "." + Self.fraction(&random) }
      let zones = ["Z", "+02:00", "-09:30", "+14:00", "-23:59"]
      texts.append(text + zones[Int.random(in: 0..<zones.count, using: &random)])
    }
    let expected = try pythonLines(PythonDates.script, texts)
    for (text, bits) in zip(texts, expected) {
      #expect(DateFormat.iso8601.seconds(text: text)?.bits ?? "none" == bits, "\(text)")
    }
  }

  @Test(arguments: [
    // Halfway between two Doubles, and a hair to either side: ties go to even.
    "2001-01-01T00:00:01.00000000000000011102230246251565404236316680908203125Z",
    "2001-01-01T00:00:01.00000000000000011102230246251565404236316680908203124Z",
    "2001-01-01T00:00:01.00000000000000011102230246251565404236316680908203126Z",
    "2001-01-01T00:00:01.00000000000000033306690738754696212708950042724609375Z",
    "2014-07-14T07:30:00.00000002980232238769531250Z", "2014-07-14T07:30:00.00000002980232238769531251Z",
    "2000-12-31T23:59:59.99999999999999999999999999999999Z", "2000-12-31T23:59:59.000000000000000000000001Z",
    "9999-12-31T23:59:59.999999999999999Z", "0000-01-01T00:00:00.000000000000001Z",
  ])
  func `A fraction at a tie rounds once, to even`(text: String) throws {
    let expected = try pythonLines(PythonDates.script, [text])
    #expect(DateFormat.iso8601.seconds(text: text)?.bits == expected[0])
  }

  private static func digits(_ value: Int, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  private static func wideYear(_ random: inout SeededGenerator) -> String {
    var text = Bool.random(using: &random) ? "+" : "-"
    let leading = Int.random(in: 1...9, using: &random)
    text += String(leading)
    for _ in 0..<Int.random(in: 3...60, using: &random) { text += String(Int.random(in: 0...9, using: &random)) }
    return text
  }

  private static func fraction(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...30, using: &random)).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
  }
}

/// The same reading in Python, with whole numbers of any size and fractions instead of Doubles.
enum PythonDates {
  static let script = #"""
    import datetime, fractions, re, struct, sys
    shape = re.compile(r'([+-]?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$')
    sys.set_int_max_str_digits(0) if hasattr(sys, 'set_int_max_str_digits') else None
    for line in sys.stdin:
        year, month, day, hour, minute, second, digits, zone = shape.match(line.strip()).groups()
        year = int(year)
        near = year % 400 + 400
        try:
            date = datetime.date(near, int(month), int(day))
        except ValueError:
            print('none')
            continue
        days = date.toordinal() - datetime.date(2001, 1, 1).toordinal() + (year - near) // 400 * 146097
        total = fractions.Fraction(days * 86400 + int(hour) * 3600 + int(minute) * 60 + int(second))
        if zone != 'Z':
            ahead = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
            total += ahead if zone[0] == '-' else -ahead
        if digits:
            total += fractions.Fraction(int(digits), 10 ** len(digits))
        print(struct.pack('>d', total.numerator / total.denominator).hex())
    """#
}
