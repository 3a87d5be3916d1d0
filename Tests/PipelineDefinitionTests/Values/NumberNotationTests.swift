import TestSupport
import Testing

@testable import PipelineDefinition

/// Numbers with a decimal comma and groups are read as those with a point are, bit for bit.
@Suite struct NumberNotationTests {
  private func real(_ text: String, _ decimal: String = ",", group: String? = ".") -> Double? {
    let bytes = Array(text.utf8)
    return NumberNotation(decimal: decimal, group: group).withPlain(bytes.span, NumberText.real)
  }

  static let good: [(text: String, value: Double)] = [
    ("3,9", 3.9), ("-0,1", -0.1), ("+1.234,5", 1234.5), ("1.234.567,89", 1_234_567.89), ("12", 12), ("1,5e3", 1500),
    (",5", 0.5), ("5,", 5), ("999.999", 999_999),
  ]

  @Test(arguments: good)
  func `A comma is read as a point is`(text: String, value: Double) { #expect(real(text) == value) }

  @Test(arguments: [
    "1.5", "1.23", "1234.567", ".123", "1..234", "1.234.5", "1,2,3", "3,9 m", "1,234.5", "", ",", "1.2345",
  ])
  func `A point in the wrong position makes no number, instead of another one`(text: String) {
    #expect(real(text) == nil)
  }

  @Test func `Groups may be parted by characters of several bytes`() {
    #expect(real("1\u{202F}234\u{202F}567,5", ",", group: "\u{202F}") == 1_234_567.5)
    #expect(real("1'234.5", ".", group: "'") == 1234.5)
    #expect(real("1,234.5", ".", group: ",") == 1234.5)
    #expect(real("1.234", ",", group: nil) == nil)
  }

  @Test(.seeded) func `Rounding is that of the plain number, however long it is`() {
    var seeded = Randomness.generator()
    for _ in 0..<2000 {
      let digits = (0..<Int.random(in: 1...40, using: &seeded)).map { _ in
        "\(Int.random(in: 0...9, using: &seeded))"
      }.joined()
      let point = Int.random(in: 0...digits.count, using: &seeded)
      let plain = digits.prefix(point) + "." + digits.dropFirst(point)
      let bytes = Array(plain.utf8)
      #expect(
        real(String(plain).replacing(".", with: ","), ",", group: nil)?.bitPattern
          == NumberText.real(bytes.span)?.bitPattern)
    }
    let long = String(repeating: "1", count: 100) + ",5"
    #expect(real(long, ",", group: nil) == Double(String(repeating: "1", count: 100) + ".5"))
  }

  @Test func `A column of each type of number reads the notation, and its message writes it`() throws {
    var definition = PipelineDefinition(
      name: "p", columns: ["i", "r", "s", "d", "b"].map { ColumnDefinition($0) }, entity: "E")
    definition.dialect.decimalChar = ","
    definition.dialect.groupChar = "."
    definition.dialect.trueValues = ["Ja", "WAHR"]
    definition.dialect.falseValues = ["nein"]
    let types: [String: ColumnType] = ["i": .integer32, "r": .real, "s": .single, "d": .decimal, "b": .boolean]
    let parsers = try ColumnSet(definition, types: types).parsers
    #expect(parsers[0].parse(text: "1.234").value == .integer(1234))
    #expect(parsers[1].parse(text: " 1.234,5 ").value == .real(1234.5))
    #expect(parsers[2].parse(text: "0,1").value == .real(Double(Float(0.1))))
    #expect(parsers[3].parse(text: "1.234,50").value == .encoded)
    #expect(parsers[4].parse(text: "JA").value == .integer(1))
    #expect(parsers[4].parse(text: "nein").value == .integer(0))
    #expect(parsers[4].parse(text: "true").value == nil)
    #expect(parsers[1].issues(text: "3.9")[0].message.contains("write it like 3,9") == true)
    #expect(parsers[4].issues(text: "no")[0].message.contains("'ja' or 'wahr' or 'nein'") == true)
  }

  @Test func `The message for a number in another notation says how to declare it`() throws {
    let parser = try FieldParser(ColumnDefinition("r"), type: .real, now: 0)
    #expect(parser.issues(text: "3,9")[0].message.contains("declare \"decimalChar\": \",\"") == true)
    #expect(parser.issues(text: "abc")[0].message.contains("decimalChar") == false)
  }
}
