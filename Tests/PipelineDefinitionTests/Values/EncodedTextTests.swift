import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// Texts that stand for other bytes or digits are read and written as others read and write them: base64 and
/// hexadecimal (RFC 4648), UUIDs (RFC 9562), URIs (RFC 3986), decimal digits, single precision (IEEE 754).
@Suite struct EncodedTextTests {
  private func bytes(_ text: String, _ format: BinaryFormat) -> [UInt8]? {
    let text = Array(text.utf8)
    guard let count = format.byteCount(of: text.span) else { return nil }
    var output: [UInt8] = []
    format.decode(text.span, into: &output)
    #expect(output.count == count)
    return output
  }

  @Test(.seeded, arguments: BinaryFormat.allCases)
  func `Random bytes are written as Python writes them, and come back`(format: BinaryFormat) throws {
    var random = Randomness.generator()
    let values = (0..<TestLength.rounds(200, long: 5000)).map { length in
      (0..<(1 + length % 67)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    let written = values.map { value in
      var text: [UInt8] = []
      format.encode(value.span, into: &text)
      return String(decoding: text, as: UTF8.self)
    }
    let name = format == .hex ? "bytes.hex" : "lambda b: base64.b64encode(b).decode()"
    let answers = try pythonLines(
      "import sys, base64\nf = \(name)\nfor line in sys.stdin: print(f(bytes(map(int, line.split(',')))))",
      values.map { $0.map(String.init).joined(separator: ",") })
    #expect(written == answers)
    #expect(written.map { bytes($0, format) } == values)
  }

  @Test(arguments: [
    ("aGVsbG8=", "hello"), ("aGVs\r\nbG8=\n", "hello"), ("aGVsbG8", nil), ("aGVsbG9=", nil), ("aGVsbG8==", nil),
    ("aGV sbG8=", nil), ("=", nil), ("a=Vs", nil), ("aG-_", nil), ("YQ==", "a"), ("YR==", nil),
  ])
  func `Base64 is taken padded, with no bit that stands for nothing`(text: String, expected: String?) {
    #expect(bytes(text, .base64) == expected.map { Array($0.utf8) })
  }

  @Test(arguments: [("68656C6c6f", "hello"), ("6", nil), ("6g", nil), ("68 65", nil), ("0x68", nil)])
  func `Hexadecimal digits are taken in pairs, in any case`(text: String, expected: String?) {
    #expect(bytes(text, .hex) == expected.map { Array($0.utf8) })
  }

  @Test(arguments: [
    "123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000",
    "{123e4567-e89b-12d3-a456-426614174000}", "URN:uuid:123e4567-e89b-12d3-a456-426614174000",
    "123e4567e89b12d3a456426614174000",
  ])
  func `A UUID is read in every spelling and written in one`(text: String) throws {
    var value: [UInt8] = []
    let number = UUIDText.read(Array(text.utf8).span)
    UUIDText.appendBytes(try #require(number), to: &value)
    var written: [UInt8] = []
    let isWritten = UUIDText.append(value.span, to: &written)
    #expect(isWritten)
    #expect(String(decoding: written, as: UTF8.self) == "123E4567-E89B-12D3-A456-426614174000")
    #expect(UUID(uuidString: String(decoding: written, as: UTF8.self)) != nil)
  }

  @Test(arguments: [
    "123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a456_426614174000", "x",
    "(123e4567-e89b-12d3-a456-426614174000)", "123e4567-e89b-12d3-a456-42661417400g",
    "{123e4567e89b12d3a456426614174000}",
  ])
  func `What is not a UUID is not taken for one`(text: String) {
    let number = UUIDText.read(Array(text.utf8).span)
    #expect(number == nil)
  }

  @Test(arguments: [
    ("https://example.org/a%20b?c=d#e", true), ("spots/7", true), ("mailto:a@example.org", true), ("a b", false),
    ("%2", false), ("%zz", false), ("é", false), ("a|b", false), ("", true),
  ])
  func `A URI has the characters of one`(text: String, isOne: Bool) {
    let fits = TextFormat.isURIReference(Array(text.utf8).span)
    #expect(fits == isOne)
  }

  // MARK: Decimals

  private func written(_ text: String) -> String? {
    DecimalText(Array(text.utf8).span).map { String(decoding: $0.text, as: UTF8.self) }
  }

  @Test(arguments: [
    ("1.10", "1.1"), ("-0", "0"), ("-0.050", "-0.05"), ("+12e3", "12000"), ("1200", "1200"), (".5", "0.5"), ("5.", "5"),
    ("00100.00100", "100.001"), ("1e-3", "0.001"), ("12345e-3", "12.345"), ("1e100", "1e100"), ("1.5E+60", "1.5e60"),
    ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"), ("1e-60", "1e-60"),
    ("100000000000000000000000000000000000000000", "1e41"), ("0e999", "0"), ("1e-128", "1e-128"), ("1e128", nil),
    ("1e-129", nil), ("999999999999999999999999999999999999999", nil), ("", nil), (".", nil), ("e5", nil), ("1e", nil),
    ("1.2.3", nil), ("1,5", nil), ("0x1", nil), ("--1", nil), ("1e+-2", nil), ("1 ", nil), ("nan", nil),
  ])
  func `A decimal is written with the digits that count`(text: String, expected: String?) {
    #expect(written(text) == expected)
  }

  @Test(.seeded) func `Random decimals keep every digit, and it is known which a Double gives back`() throws {
    var random = Randomness.generator()
    let texts = (0..<TestLength.rounds(2000, long: 50_000)).map { _ in
      let count = Int.random(in: 1...22, using: &random)
      let digits = (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
      let point = Int.random(in: 0...count, using: &random)
      let sign = Bool.random(using: &random) ? "-" : ""
      let power = Bool.random(using: &random) ? "e\(Int.random(in: -30...30, using: &random))" : ""
      return sign + digits.prefix(point) + "." + digits.dropFirst(point) + power
    }
    let answers = try pythonLines(
      """
      import sys
      from decimal import Decimal, getcontext
      getcontext().prec = 60
      for line in sys.stdin:
          value = Decimal(line.strip())
          print(int(Decimal(repr(float(value))) == value), value)
      """, texts)
    let ours = try texts.map { text in
      let read = DecimalText(Array(text.utf8).span)
      let number = try #require(read, "\(text)")
      return (number.isKeptByStores, String(decoding: number.text, as: UTF8.self))
    }
    let equal = try pythonLines(
      """
      import sys
      from decimal import Decimal
      for line in sys.stdin:
          left, right = line.split()
          print(int(Decimal(left) == Decimal(right)))
      """, zip(ours, answers).map { "\($0.1) \($1.dropFirst(2))" })
    #expect(equal.allSatisfy { $0 == "1" })
    #expect(ours.map(\.0) == answers.map { $0.hasPrefix("1") })
    #expect(Set(ours.map(\.0)).count == 2)
  }

  @Test(.seeded) func `Single precision is rounded once`() throws {
    var random = Randomness.generator()
    var texts = ["0.1", "3.4028235e38", "1e-45", "16777217", "16777219", "1.00000005960464477539062500001", "7e-46"]
    texts += (0..<TestLength.rounds(500, long: 20_000)).map { _ in
      let value = Float(bitPattern: UInt32.random(in: 0..<0x7F7F_FFFF, using: &random))
      // Halfway to the next Float, and a little off it.
      let middle = (Double(value) + Double(value.nextUp)) / 2
      return "\(middle)" + (Bool.random(using: &random) && !"\(middle)".contains("e") ? "000000000000000000000001" : "")
    }
    let answers = try pythonLines(
      """
      import sys, ctypes
      strtof = ctypes.CDLL(None).strtof
      strtof.restype, strtof.argtypes = ctypes.c_float, [ctypes.c_char_p, ctypes.c_void_p]
      for line in sys.stdin: print(repr(strtof(line.strip().encode(), None)))
      """, texts)
    for (text, answer) in zip(texts, answers) {
      let value = NumberText.single(Array(text.utf8).span)
      #expect(value.map { Double($0) } == Double(answer), "\(text)")
    }
    for text in ["3.5e38", "-1e39", "1e400", "inf", "x"] {
      let value = NumberText.single(Array(text.utf8).span)
      #expect(value == nil, "\(text)")
    }
  }
}
