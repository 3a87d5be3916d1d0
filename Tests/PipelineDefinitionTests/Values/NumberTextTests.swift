import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// Numbers are read strictly and rounded correctly.
@Suite struct NumberTextTests {
  static let integers: [(text: String, value: Int64?)] = [
    ("0", 0), ("-0", 0), ("+7", 7), ("-7", -7), ("007", 7), ("9223372036854775807", .max),
    ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil), ("", nil), ("-", nil),
    ("+", nil), ("1.0", nil), ("1e3", nil), (" 1", nil), ("1 ", nil), ("1,000", nil), ("0x10", nil), ("six", nil),
    ("--1", nil), ("٣", nil), ("99999999999999999999999999", nil),
  ]

  @Test(arguments: integers)
  func `A whole number is digits with an optional sign, within 64 bits`(text: String, value: Int64?) {
    #expect(NumberText.integer(text: text) == value)
  }

  static let reals: [(text: String, value: Double?)] = [
    ("3.9", 3.9), ("-3.9", -3.9), ("+.5", 0.5), ("5.", 5), ("0", 0), ("-0", -0.0), ("1e3", 1000), ("1E-3", 0.001),
    ("1.7976931348623157e308", .greatestFiniteMagnitude), ("1e309", nil), ("5e-324", .leastNonzeroMagnitude),
    ("1e-400", 0), ("", nil), (".", nil), ("-", nil), ("e5", nil), ("1e", nil), ("1e+", nil), ("nan", nil),
    ("inf", nil), ("Infinity", nil), ("0x1p3", nil), ("1,5", nil), ("1 5", nil), (" 1", nil), ("1 ", nil),
    ("1.5ft", nil),
    ("1.2.3", nil), ("--1", nil), ("1e9999999999", nil),
  ]

  @Test(arguments: reals)
  func `A number is digits with an optional sign, point and exponent`(text: String, value: Double?) {
    #expect(NumberText.real(text: text)?.bits == value?.bits)
  }

  @Test(.seeded) func `Numbers of any length and size round as Python's do`() throws {
    var random = Randomness.generator()
    let texts = (0..<TestLength.rounds(5000, long: 100_000)).map { index in
      var text = index % 3 == 0 ? "-" : ""
      for _ in 0..<Int.random(in: 1...25, using: &random) { text += String(Int.random(in: 0...9, using: &random)) }
      if index % 2 == 0 {
        text += "."
        for _ in 0..<Int.random(in: 0...25, using: &random) { text += String(Int.random(in: 0...9, using: &random)) }
      }
      return index % 5 == 0 ? text + "e\(Int.random(in: -330...280, using: &random))" : text
    }
    let expected = try pythonLines(
      "import struct, sys\nfor line in sys.stdin: print(struct.pack('>d', float(line)).hex())", texts)
    for (text, bits) in zip(texts, expected) { #expect(NumberText.real(text: text)?.bits == bits, "\(text)") }
  }

  static let lengths: [(text: String, count: Int)] = [
    ("", 0), ("abc", 3), ("été", 3), ("日本", 2), ("🏄🏽", 2), ("e\u{301}", 2),
  ]

  @Test(arguments: lengths)
  func `A text's length is counted in Unicode scalars`(text: String, count: Int) {
    let bytes = Array(text.utf8)
    let counted = NumberText.scalarCount(bytes.span)
    let isLonger = (NumberText.isLonger(bytes.span, than: count), NumberText.isLonger(bytes.span, than: count - 1))
    #expect(counted == count)
    #expect(isLonger == (false, true))
  }
}
