import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// The parser reads texts and plain numbers by itself: they must be what Foundation reads, and what Foundation refuses
/// must be refused, except for escapes that it refuses without a reason.
@Suite(.seeded) struct JSONParsingTests {
  private static let rounds = TestLength.rounds(300, long: 20_000)

  @Test func `Random documents are read as Foundation reads them`() throws {
    var random = Randomness.generator()
    for _ in 0..<Self.rounds {
      let encoder = JSONEncoder()
      if Bool.random(using: &random) { encoder.outputFormatting = [.prettyPrinted, .sortedKeys] }
      let document = try encoder.encode(JSONValue.array([Self.value(&random, depth: 0)]))
      let expected = try JSONDecoder().decode(JSONValue.self, from: document)
      #expect(try JSONValue(parsing: document) == expected, "\(String(decoding: document, as: UTF8.self))")
    }
  }

  private static func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
    switch Int.random(in: 0...(depth < 4 ? 6 : 4), using: &random) {
    case 0: .null
    case 1: .bool(Bool.random(using: &random))
    case 2: .number(Double(Int.random(in: -2_000...2_000_000_000_000_000_000, using: &random)))
    case 3: .number(Double(bitPattern: UInt64.random(in: 0..<0x7FF0_0000_0000_0000, using: &random)))
    case 4: .string(text(&random))
    case 5: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth + 1) })
    default:
      .object(
        Dictionary(
          (0..<Int.random(in: 0...3, using: &random)).map { _ in (text(&random), value(&random, depth: depth + 1)) },
          uniquingKeysWith: { $1 }))
    }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    let scalars = ["a", "\"", "'", "\\", "/", "\n", "\t", "\u{1}", "\u{7F}", "é", "\u{301}", "𝄞", "\u{2028}", " "]
    return (0..<Int.random(in: 0...6, using: &random)).map { _ in scalars.randomElement(using: &random) ?? "" }.joined()
  }

  static let words = [
    "0", "7", "007", "-0", "+1", "1e3", "0x1F", ".5", "5.", "123456789012345", "1234567890123456",
    "99999999999999999999", "1_000", "12a", "\"a\tb\"", "\"a\u{0}b\"", "'a\"b'", "\"\\x41\"", "\"\\ud800\"",
  ]

  @Test(arguments: words) func `Words are what Foundation's JSON5 takes them for`(_ word: String) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    // A line break ends a number, behind which Foundation would read on.
    let expected = try? decoder.decode(JSONValue.self, from: Data((word + "\n").utf8))
    #expect((try? JSONValue(parsing: Data(word.utf8))) == expected)
  }

  /// After a backslash.
  private static let escapes: [[UInt8]] =
    (1...255).filter { ![10, 13, UInt8(ascii: "v"), UInt8(ascii: "0")].contains($0) }.map { [$0] }
    + [
      "x4", "x41", "xe9", "xE9", "u00e9", "u00E9x", "u12", "u{41}", "u+041", "u 041", "ud83c\\udf0a", "ud83c", "udf0a",
      "ud83cx", "ud83c\\u0041", "ud83c\\ud83c", "ud83c\\xdf", "ud83c\\n", "uDBFF\\uDFFF", "\u{E9}", "n\u{7F}é",
    ].map { Array($0.utf8) } + [[110, 0xC3], [110, 0xED, 0xA0, 0x80]]

  @Test(arguments: [UInt8(ascii: "\""), UInt8(ascii: "'")])
  func `Escapes are what Foundation's JSON5 takes them for`(_ quote: UInt8) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    for escape in Self.escapes {
      let document = Data([quote, 97, 92] + escape + [quote])
      let expected = try? decoder.decode(JSONValue.self, from: document)
      #expect((try? JSONValue(parsing: document)) == expected, "\(String(decoding: document, as: UTF8.self))")
    }
  }

  @Test(arguments: [
    (#""a\u0000b""#, "a\0b"), (#"'\x00'"#, "\0"), (#""\0a""#, "\0a"), (#""\v""#, "\u{B}"), ("\"a\\\nb\"", "ab"),
  ])
  func `NUL, vertical tabs and continued lines are read as JSON5 has them`(_ document: String, _ text: String) throws {
    #expect(try JSONValue(parsing: Data(document.utf8)) == .string(text))
  }

  @Test(arguments: [#""\01""#, #""\d""#, #""\""#])
  func `Unknown escapes are refused`(_ document: String) {
    #expect(throws: PipelineError.self) { try JSONValue(parsing: Data(document.utf8)) }
  }

  @Test func `A text that is not UTF-8 is refused`() {
    #expect(throws: PipelineError.self) { try JSONValue(parsing: Data([0x22, 0x61, 0xFF, 0x22])) }
  }

  @Test func `Each value has the line and column at which it begins`() throws {
    var parser = JSONLocatingParser(Data("{\n  \"é\": [1,\n 22],\n  b: {\"c\": 'x'}}".utf8))
    _ = try parser.read()
    let found = parser.locations.mapValues { "\($0.line):\($0.column)" }
    #expect(found == ["": "1:1", "é": "2:3", "é[0]": "2:9", "é[1]": "3:2", "b": "4:3", "b.c": "4:7"])
  }
}
