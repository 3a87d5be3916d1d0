import Foundation
import PipelineDefinition

@testable import PipelineDefinition

/// Numbers, bytes and UUIDs are read as their grammars, the C library and Foundation read them.
enum NumberTarget: FuzzTarget {
  static let name = "numbers"
  static let bytesMax = 128
  static let words = [
    "1e22", "9007199254740993", "0.1", "-9223372036854775808", "1.234.567,89", "1e-400", "3.4028236e38", "==",
    "urn:uuid:",
  ]
  static let seeds: [[UInt8]] =
    ["42", "-9223372036854775808", "3.5e-3", ".5", "5.", "123456789012345678901234567890.5e-10"].map {
      [0] + Array($0.utf8)
    }
    + ["1.234.567,89", "1 234", "-12,5"].map { [1] + Array($0.utf8) }
    + ["aGVsbG8=", "68656c6c6f", "123e4567-e89b-12d3-a456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}"]
    .map { [2] + Array($0.utf8) } + ["3-5ft", "6'", "flat"].map { [3] + Array($0.utf8) }

  static func run(_ input: inout FuzzInput) {
    switch input.number(below: 4) {
    case 0: readNumber(input.rest)
    case 1: readNotation(&input)
    case 2: readBytes(input.rest)
    default: readQuantity(input.rest)
    }
  }

  private static func readNumber(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let plain = PlainNumber.plain(text)
    let real = plain.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    requireEqual(
      NumberText.real(bytes.span)?.bitPattern, real?.bitPattern, rule: "a number is the nearest Double: \(text)")
    let single = plain.flatMap { Float($0) }.flatMap { $0.isFinite ? $0 : nil }
    requireEqual(
      NumberText.single(bytes.span)?.bitPattern, single?.bitPattern, rule: "a number is the nearest Float: \(text)")
    let parts = PlainNumber.parts(text)
    let isWhole = parts != nil && !text.contains { ".eE".contains($0) }
    requireEqual(
      NumberText.integer(bytes.span), isWhole ? Int64(text) : nil, rule: "a whole number is an Int64: \(text)")
    guard let decimal = DecimalText(bytes.span) else { return }
    guard plain != nil else { broken("a decimal is a number", text) }
    requireEqual(DecimalText(decimal.text.span), decimal, rule: "a decimal is read back")
    _ = decimal.isKeptByStores
    let digits = (parts?.whole.count ?? 0) + (parts?.fraction.count ?? 0)
    guard digits <= 38, let foundation = Decimal(string: text) else { return }
    let own = Decimal(string: String(decoding: decimal.text, as: UTF8.self))
    requireEqual(own, foundation, rule: "a decimal is Foundation's: \(text)")
  }

  private static func readNotation(_ input: inout FuzzInput) {
    let (decimal, group) = input.choice(of: [(",", "."), (".", ","), (",", nil), (".", " "), (",", "'"), ("٫", "٬")])
    let bytes = input.rest
    guard let text = String(validating: bytes, as: UTF8.self), text.count == text.unicodeScalars.count else { return }
    let notation = NumberNotation(decimal: decimal, group: group)
    let found = notation.withPlain(bytes.span, NumberText.real)
    let plain = PlainNumber.ungrouped(text, decimal: Character(decimal), group: group.map { Character($0) })
    let expected = plain.flatMap { NumberText.real(Array($0.utf8).span) }
    requireEqual(found?.bitPattern, expected?.bitPattern, rule: "\(text) with \(decimal) and \(group ?? "no groups")")
  }

  private static func readBytes(_ bytes: [UInt8]) {
    for format in BinaryFormat.allCases {
      guard let count = format.byteCount(of: bytes.span) else { continue }
      var decoded: [UInt8] = []
      format.decode(bytes.span, into: &decoded)
      requireEqual(decoded.count, count, rule: "the number of bytes of \(format) is known beforehand")
      var again: [UInt8] = []
      format.encode(decoded.span, into: &again)
      let text = String(decoding: bytes.filter { $0 != 10 && $0 != 13 }, as: UTF8.self)
      let written = String(decoding: again, as: UTF8.self)
      requireEqual(written, format == .hex ? text.lowercased() : text, rule: "\(format) is written as it was read")
      if format == .base64 { requireEqual(Data(base64Encoded: text), Data(decoded), rule: "base64 is Foundation's") }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    // Foundation also takes texts that are none, such as one with a space for a digit.
    let uuid = UUID(uuidString: text).flatMap { $0.uuidString == text.uppercased() ? $0 : nil }
    guard let value = UUIDText.read(bytes.span) else {
      return requireEqual(uuid, nil, rule: "what Foundation takes for a UUID is one")
    }
    var own: [UInt8] = []
    UUIDText.appendBytes(value, to: &own)
    var written: [UInt8] = []
    guard UUIDText.append(own.span, to: &written) else { broken("a UUID has 16 bytes") }
    let again = String(decoding: written, as: UTF8.self)
    requireEqual(UUID(uuidString: again)?.uuidString, again, rule: "a UUID is written as Foundation writes it")
    requireEqual(UUIDText.read(written.span), value, rule: "a UUID is read back")
    if bytes.count == 36 { requireEqual(text.uppercased(), again, rule: "a UUID keeps its digits") }
  }

  private static let quantities = [
    QuantityPattern(QuantityRule(units: ["ft", "m", "'", "é"], words: ["flat", "Höhe"], min: 0, max: 30)),
    QuantityPattern(
      QuantityRule(units: ["sec"], unitRequired: true, ranges: false), NumberNotation(decimal: ",", group: ".")),
  ]

  private static func readQuantity(_ bytes: [UInt8]) {
    for pattern in quantities {
      _ = pattern.explanation
      let verdict = pattern.verdict(bytes.span)
      let upper = String(decoding: bytes, as: UTF8.self).uppercased()
      guard bytes.allSatisfy({ $0 < 0x80 }) else { continue }
      requireEqual(pattern.verdict(Array(upper.utf8).span), verdict, rule: "letter case is ignored in a quantity")
    }
  }
}
