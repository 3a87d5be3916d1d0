import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition

/// A Table Schema, and a Data Package with one, are pipelines.
@Suite struct TableSchemaTests {
  private func read(_ text: String) throws -> PipelineDefinition {
    try PipelineDefinition(
      data: Data(text.utf8), file: URL(fileURLWithPath: "surf.schema.json"), environment: .journal)
  }

  static let schema = #"""
    {
      "fields": [
        {"name": "date", "type": "date", "format": "%d.%m.%Y", "constraints": {"required": true}},
        {"name": "location", "title": "Spot", "type": "string", "constraints": {"maxLength": 200, "unique": false}},
        {"name": "rating", "type": "integer", "groupChar": ".", "decimalChar": ",",
         "constraints": {"minimum": 1, "maximum": 5, "enum": [1, 2, 3, 4, 5]}}
      ],
      "missingValues": ["", "NA"], "primaryKey": ["date", "location"], "fieldsMatch": ["subset"]
    }
    """#

  @Test func `A schema's fields, formats, constraints, missing values and key are those of a pipeline`() throws {
    let definition = try read(Self.schema)
    #expect(definition.name == "surf")
    #expect(definition.columns.map(\.name) == ["date", "location", "rating"])
    #expect(definition.columns[0].formats == ["d.M.yyyy"])
    #expect(definition.columns[0].rules == [ValueRule(.required)])
    #expect(definition.columns[1].synonyms == ["Spot"])
    #expect(definition.columns[1].rules == [ValueRule(.length(min: nil, max: 200))])
    #expect(
      Set(definition.columns[2].rules) == [
        ValueRule(.oneOf(["1", "2", "3", "4", "5"])), ValueRule(.range(min: nil, max: 5)),
        ValueRule(.range(min: 1, max: nil)),
      ])
    #expect(definition.key == ["date", "location"])
    #expect(definition.dialect.nullSequences == ["", "NA"])
    #expect(definition.dialect.fieldsMatch == .subset)
    #expect((definition.dialect.decimalChar, definition.dialect.groupChar) == (",", "."))
  }

  @Test func `A package adds the path, the encoding and the dialect of its resource`() throws {
    let package = #"""
      {"name": "logs", "licenses": [{"name": "CC0"}], "resources": [
        {"name": "surf", "path": "surf.csv", "encoding": "windows-1252", "format": "csv",
         "dialect": {"delimiter": ";", "quoteChar": "'", "header": true, "csvddfVersion": 1.2, "nullSequence": "-"},
         "schema": \#(Self.schema.replacing(#""missingValues": ["", "NA"], "#, with: ""))}]}
      """#
    let definition = try read(package)
    #expect(definition.name == "surf")
    #expect(definition.source == ["surf.csv"])
    #expect(definition.columns.count == 3)
    #expect(
      (definition.dialect.delimiter, definition.dialect.quote, definition.dialect.encoding) == (
        ";", "'", "windows-1252"
      ))
    #expect(definition.dialect.nullSequences == ["-"])
  }

  static let mistaken: [(text: String, message: String)] = [
    (#"{"fields": [{"name": "date", "type": "date", "format": "%d %b %Y"}]}"#, "%b, which is not supported"),
    (#"{"resources": []}"#, "no resource with a schema"),
    (
      #"{"fields": [{"name": "a", "decimalChar": ","}, {"name": "b", "decimalChar": "."}]}"#,
      "the field 'b' has another 'decimalChar'"
    ),
    (
      #"{"fields": ["date"], "foreignKeys": [{"fields": "date", "reference": {"resource": "a", "fields": "b"}}]}"#,
      "describe all of them in one Data Package"
    ),
  ]

  @Test(arguments: mistaken)
  func `What a pipeline can't follow is a mistake`(text: String, message: String) {
    let error = #expect(throws: PipelineError.self) { try read(text) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func `A mistake in a schema is reported with its source location there`() {
    let error = #expect(throws: PipelineError.self) {
      try read("{\"fields\": [\n  {\"name\": \"date\",\n   \"constraints\": {\"minimum\": true}}]}")
    }
    #expect(error?.mistakes.first?.line == 3)
  }

  static let formats = [
    ("%Y-%m-%d", "yyyy-M-d"), ("%d/%m/%y %H:%M", "d/M/yy H:m"), ("%Y%m%d", "yyyyMMdd"),
    ("%d. %m um %H%%", "d. M 'um' H%"),
    ("%Y-%m-%dT%H:%M:%S%z", "yyyy-MM-dd'T'HH:mm:ssXX"),
  ]

  @Test(arguments: formats)
  func `Directives of strftime become letters`(directives: String, letters: String) throws {
    let found = try StrftimePattern.letters(directives)
    #expect(found == letters)
    if directives.contains("Y") || directives.contains("y") { _ = try DateFormat(found) }
  }
}
