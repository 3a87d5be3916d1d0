import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// Seconds as text, and the choice among formats of the first that loses nothing.
@Suite struct ExactDateFormatTests {
  static let table: [(seconds: Double, text: String)] = [
    (0, "0"), (-0.0, "-0"), (.leastNonzeroMagnitude, "5e-324"), (427_015_800, "427015800"), (-0.25, "-0.25"),
    (0.1, "0.1"), (1e300, "1e+300"),
    (120_303_488.92925799, "120303488.92925799"), (.infinity, "inf"), (-.infinity, "-inf"),
    (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
  ]

  @Test(arguments: table)
  func `Seconds are written as the shortest number that reads back the same`(seconds: Double, text: String) throws {
    let format = try DateFormat("seconds")
    #expect(format.string(seconds) == text)
    #expect(format.seconds(text: text)?.bits == seconds.bits)
  }

  @Test(.seeded, arguments: Randomness.seeds(10, long: 300))
  func `Random doubles come back bit for bit, here and in Python`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let format = try DateFormat("seconds")
    let values = (0..<300).map { _ in Double(bitPattern: random.next()) }.filter { !$0.isNaN }
    let texts = try values.map { try #require(format.string($0)) }
    for (value, text) in zip(values, texts) { #expect(format.seconds(text: text)?.bits == value.bits) }
    let script = "import sys,struct\nfor l in sys.stdin: print(struct.pack('>d', float(l)).hex())"
    #expect(try pythonLines(script, texts) == values.map(\.bits))
  }

  @Test(arguments: ["", "nan", "NaN", "Inf", "infinity", "+inf", "0x1p3", "1e", "1,5", "1 2", "2014-07-14"])
  func `Other texts are not seconds`(text: String) throws {
    #expect(try DateFormat("seconds").seconds(text: text) == nil)
  }

  @Test func `What is not a number is refused by every format and leaves nothing behind`() throws {
    for name in ["seconds", "iso8601", "yyyy-MM-dd"] {
      var output: [UInt8] = [65]
      #expect(try !DateFormat(name).append(.nan, to: &output))
      #expect(try !DateFormat(name).appendExactly(.nan, to: &output))
      #expect(output == [65])
    }
  }

  static let exact: [(format: String, seconds: Double, text: String?)] = [
    ("yyyy-MM-dd", 427_075_200, "2014-07-15"), ("yyyy-MM-dd", 427_015_800, nil),
    ("yyyy-MM-dd HH:mm", 427_015_800, "2014-07-14 07:30"), ("yyyy-MM-dd HH:mm", 427_015_801, nil),
    ("yyyy-MM-dd HH:mm:ss.SSS", 0.125, "2001-01-01 00:00:00.125"), ("yyyy-MM-dd HH:mm:ss.SSS", 0.1 + 0.2, nil),
    ("yyyy-MM-dd", -0.0, nil), ("M/d/yy", 427_075_200, "7/15/14"), ("M/d/yy", 2_000_000_000 - 27_200, nil),
    ("iso8601", 0.1 + 0.2, "2001-01-01T00:00:00.30000000000000004Z"), ("iso8601", .infinity, nil),
    ("seconds", .infinity, "inf"), ("unix", 0, "978307200"), ("unix", -0.0, nil), ("unix", -0.25, "978307199.75"),
  ]

  @Test(arguments: exact)
  func `A format that would lose something is passed over`(format: String, seconds: Double, text: String?) throws {
    var output: [UInt8] = []
    #expect(try DateFormat(format).appendExactly(seconds, to: &output) == (text != nil))
    #expect(String(decoding: output, as: UTF8.self) == text ?? "")
  }
}
