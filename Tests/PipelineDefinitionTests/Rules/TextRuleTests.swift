import Foundation
import Testing

@testable import PipelineDefinition

/// Formats and forbidden values of texts.
@Suite struct TextRuleTests {
  static let formats: [(format: TextFormat, text: String, fits: Bool)] = [
    (.uuid, "123e4567-e89b-12d3-a456-426614174000", true),
    (.uuid, "123E4567-E89B-12D3-A456-42661417400F", true),
    (.uuid, "123e4567e89b12d3a456426614174000", false),
    (.uuid, "123e4567-e89b-12d3-a456-42661417400g", false),
    (.uuid, "{123e4567-e89b-12d3-a456-426614174000}", false),
    (.uuid, "123e4567-e89b-12d3-a45-6426614174000", false),
    (.uri, "https://example.org/a%20b?q=1#x", true),
    (.uri, "mailto:a@example.org", true),
    (.uri, "urn:isbn:0451450523", true),
    (.uri, "http://[2001:db8::7]/c=GB", true),
    (.uri, "example.org/a", false),
    (.uri, "https:", false),
    (.uri, "1http://example.org", false),
    (.uri, "https://example.org/a b", false),
    (.uri, "https://example.org/%2", false),
    (.uri, "https://example.org/%zz", false),
    (.uri, "https://example.org/ü", false),
    (.email, "name@example.org", true),
    (.email, "first.last+surf@sub.example-site.co.uk", true),
    (.email, "söre@exämple.de", true),
    (.email, "name@localhost", false),
    (.email, "name@@example.org", false),
    (.email, "name", false),
    (.email, "@example.org", false),
    (.email, "name@", false),
    (.email, ".name@example.org", false),
    (.email, "na..me@example.org", false),
    (.email, "name@-example.org", false),
    (.email, "name@example-.org", false),
    (.email, "name@example..org", false),
    (.email, "na me@example.org", false),
    (.email, String(repeating: "a", count: 64) + "@example.org", true),
    (.email, String(repeating: "a", count: 65) + "@example.org", false),
    (.email, "a@" + String(repeating: "b.", count: 126) + "b", false),
  ]

  @Test(arguments: formats)
  func `A format takes what has its shape`(format: TextFormat, text: String, fits: Bool) throws {
    let parser = try FieldParser(ColumnDefinition("c", rules: [ValueRule(.format(format))]), type: .text, now: 0)
    #expect(parser.parse(text: text).value == (fits ? .text : nil))
  }

  @Test func `Refusals say what to write`() throws {
    let rules = [ValueRule(.notOneOf(["n/a", "none"])), ValueRule(.format(.email))]
    let parser = try FieldParser(ColumnDefinition("c", rules: rules), type: .text, now: 0)
    #expect(parser.parse(text: "").value == .null)
    #expect(
      parser.issues(text: "none").map(\.message) == [
        "is one of the values that are not allowed; correct it, or leave the field empty"
      ])
    #expect(
      parser.issues(text: "N/A").map(\.message) == [
        "is not an e-mail address; write it like name@example.org, or leave the field empty"
      ])
  }

  @Test func `A number may be forbidden too, a format is for texts`() throws {
    let column = ColumnDefinition("c", rules: [ValueRule(.notOneOf(["0"]))])
    let parser = try FieldParser(column, type: .integer16, now: 0)
    #expect(parser.parse(text: " 0 ").value == nil)
    #expect(parser.parse(text: "1").value == .integer(1))
    let error = #expect(throws: PipelineError.self) {
      try FieldParser(ColumnDefinition("c", rules: [ValueRule(.format(.uuid))]), type: .integer16, now: 0)
    }
    #expect(error?.message.contains("the rule 'format' is for texts") == true)
  }

  @Test func `Unique is not a matter of one field`() throws {
    let parser = try FieldParser(ColumnDefinition("c", rules: [ValueRule(.unique)]), type: .integer16, now: 0)
    #expect(parser.parse(text: "1").value == .integer(1))
  }
}
