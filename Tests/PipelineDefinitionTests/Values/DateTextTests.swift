import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// Text and back is the same Double, bit for bit, whatever it is.
@Suite struct DateTextTests {
  static let table: [(seconds: Double, text: String)] = [
    (0, "2001-01-01T00:00:00Z"),
    (-0.0, "2001-01-01T00:00:00-00:00"),
    (427_015_800, "2014-07-14T07:30:00Z"),
    (427_015_800.5, "2014-07-14T07:30:00.5Z"),
    (-0.25, "2000-12-31T23:59:59.75Z"),
    (120_303_488.92925799, "2004-10-24T09:38:08.92925799Z"),
    (252_423_993_599, "9999-12-31T23:59:59Z"),
    (252_423_993_600, "+10000-01-01T00:00:00Z"),
    (-63_145_526_400, "0000-01-01T00:00:00Z"),
    (-63_145_526_401, "-0001-12-31T23:59:59Z"),
  ]

  @Test(arguments: table)
  func `A date is written in UTC with as few digits as bring it back`(seconds: Double, text: String) throws {
    #expect(DateText.iso8601(seconds) == text)
    #expect(DateFormat.iso8601.seconds(text: text)?.bits == seconds.bits)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `What is not a date is refused and leaves nothing behind`(seconds: Double) {
    var output: [UInt8] = [65]
    #expect(!DateText.append(seconds, to: &output))
    #expect(output == [65])
    #expect(DateText.iso8601(seconds) == nil)
  }

  static let borders: [Double] = [
    .leastNonzeroMagnitude, .leastNormalMagnitude, .ulpOfOne, 0.1, 1e-7, 1e15, 1e16, 0x1p52 - 0.5, 0x1p53, 0x1p61,
    0x1p62,
    (0x1p62).nextDown, 0x1p63, 0x1p64, 1e22, 1e300, .greatestFiniteMagnitude,
  ]

  @Test(arguments: borders.flatMap { [$0, -$0, $0.nextUp, -$0.nextUp].filter(\.isFinite) })
  func `Values at every border of the arithmetic come back`(seconds: Double) throws {
    let text = try #require(DateText.iso8601(seconds))
    #expect(DateFormat.iso8601.seconds(text: text)?.bits == seconds.bits, "\(text)")
  }

  private static func values(_ random: inout SeededGenerator) -> [Double] {
    var values: [Double] = []
    while values.count < TestLength.rounds(3000, long: 100_000) {
      // Every kind of Double there is, then dates as people have them.
      let any = Double(bitPattern: random.next())
      if any.isFinite { values.append(any) }
      values.append(Double.random(in: -1e9...1e9, using: &random))
      values.append((Double.random(in: -1e9...1e9, using: &random) * 1000).rounded() / 1000)
    }
    return values
  }

  @Test(.seeded) func `Random values come back, and Python reads the same from the text`() throws {
    var random = Randomness.generator()
    let values = Self.values(&random)
    let texts = try values.map { try #require(DateText.iso8601($0)) }
    for (value, text) in zip(values, texts) {
      #expect(DateFormat.iso8601.seconds(text: text)?.bits == value.bits, "\(text)")
    }
    let expected = try pythonLines(PythonDates.script, texts)
    for (value, bits) in zip(values, expected) { #expect(value.bits == bits) }
  }

  @Test(.seeded) func `No text with a digit less would do`() throws {
    var random = Randomness.generator()
    let lines = try Self.values(&random).filter { $0.magnitude < 1e12 }.map { value in
      let text = try #require(DateText.iso8601(value))
      let digits = text.firstIndex(of: ".").map { text[$0...].count - 2 } ?? 0
      return "\(value.bits) \(digits)"
    }
    let answers = try pythonLines(
      """
      import fractions, struct, sys
      for line in sys.stdin:
          bits, digits = line.split()
          value, digits = struct.unpack('>d', bytes.fromhex(bits))[0], int(digits)
          scale = 10 ** max(0, digits - 1)
          low = int(fractions.Fraction(value) * scale // 1)
          print(digits > 0 and any(k / scale == value for k in (low, low + 1)))
      """, lines)
    #expect(answers.allSatisfy { $0 == "False" })
  }

  @Test(.enabled(if: JournalRows.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
  func `The 5,000 dates of a real journal come back`() throws {
    let dates = try JournalRows.dates()
    #expect(dates.count == 5000)
    for date in dates {
      let text = try #require(DateText.iso8601(date))
      #expect(DateFormat.iso8601.seconds(text: text)?.bits == date.bits, "\(text)")
    }
  }
}
