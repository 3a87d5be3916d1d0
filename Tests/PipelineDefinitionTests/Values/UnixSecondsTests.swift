@testable import PipelineDefinition
import TestSupport
import Testing

/// The date format `unix` reads and writes seconds since 1970 exactly.
@Suite(.seeded) struct UnixSecondsTests {
  @Test(arguments: [
    ("0", -978_307_200.0), ("978307200", 0), ("1405323000", 427_015_800), ("-1", -978_307_201),
    ("978307200.5", 0.5), ("-0.5", -978_307_200.5), ("978307199.75", -0.25), ("1405323000.0", 427_015_800),
  ])
  func `A number counts from 1970`(_ example: (text: String, seconds: Double)) throws {
    #expect(try DateFormat("unix").seconds(Array(example.text.utf8).span) == example.seconds)
  }

  @Test(arguments: ["", "-", ".5", "1.", "1e9", "+1", "1405323000000000000", "1 2", "0x1", "inf", "1.5.5"])
  func `Anything else is not a date`(_ text: String) throws {
    #expect(try DateFormat("unix").seconds(Array(text.utf8).span) == nil)
  }

  @Test func `What is written is read again bit for bit, and Python agrees`() throws {
    var random = Randomness.generator()
    let format = try DateFormat("unix")
    var texts: [String] = []
    var dates: [Double] = []
    for _ in 0..<2000 {
      let date = (Double.random(in: -3e9...3e9, using: &random) * 1000).rounded() / 1000
      let exact = Bool.random(using: &random) ? date : Double.random(in: -3e9...3e9, using: &random)
      let text = try #require(format.string(exact))
      #expect(format.seconds(Array(text.utf8).span) == exact, "\(text)")
      texts.append(text)
      dates.append(exact)
    }
    let sums = try python(
      """
      import sys
      from fractions import Fraction
      print("\\n".join(repr(float(Fraction(line) - 978307200)) for line in sys.stdin.read().split()))
      """, input: texts.joined(separator: "\n"))
    #expect(sums.split(separator: "\n").map { Double($0) } == dates)
  }
}
