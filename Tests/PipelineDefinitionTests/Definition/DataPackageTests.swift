import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition

/// A Data Package with several resources is a pipeline with parts, its foreign keys are links.
@Suite struct DataPackageTests {
  private func read(_ resources: String, name: String = #""name": "surf", "#) throws -> PipelineDefinition {
    try PipelineDefinition(
      data: Data("{\(name)\"resources\": [\(resources)]}".utf8), file: URL(fileURLWithPath: "datapackage.json"),
      environment: .journal)
  }

  private static let spots = #"""
    {"name": "spots", "path": "spots.csv", "entity": "Spot", "schema": {
      "fields": [{"name": "title", "attribute": "name"}, {"name": "country"}], "primaryKey": ["title", "country"]}}
    """#

  private static func sessions(
    _ keys: String, fields: String = #"{"name": "date"}, {"name": "spot_id"}, {"name": "at"}"#
  )
    -> String
  {
    #"{"name": "sessions", "path": "sessions.csv", "entity": "Session", "schema": {"fields": [\#(fields)], "foreignKeys": [\#(keys)]}}"#
  }

  @Test func `A resource becomes a part, after those that its foreign keys refer to`() throws {
    let key = #"{"fields": ["spot_id", "at"], "reference": {"resource": "spots", "fields": ["title", "country"]}}"#
    let definition = try read(Self.sessions(key) + "," + Self.spots)
    #expect(definition.name == "surf" && definition.parts.map(\.entity) == ["Spot", "Session"])
    #expect(definition.parts.map(\.source) == [["spots.csv"], ["sessions.csv"]])
    #expect(definition.parts[0].key == ["name", "country"])
    let columns = definition.parts[1].columns
    #expect(columns.map(\.attribute) == ["date", "spot.name", "spot.country"])
    #expect(columns.map(\.link) == [nil, LinkDefinition(by: ["name", "country"], ifMissing: .reject), nil])
  }

  @Test func `A foreign key can name the relationship, and a resource its entity by its name`() throws {
    let key = #"{"fields": "at", "relationship": "beach", "reference": {"resource": "spots", "fields": "country"}}"#
    let resources = Self.spots.replacing(#""entity": "Spot", "#, with: "") + "," + Self.sessions(key)
    let definition = try read(resources, name: "")
    #expect(definition.name == "datapackage" && definition.parts.map(\.entity) == ["spots", "Session"])
    #expect(definition.parts[1].columns[2].attribute == "beach.country")
    #expect(definition.parts[1].columns[2].link?.by == ["country"])
  }

  @Test func `Each resource has its own dialect`() throws {
    let semicolons = Self.spots.replacing(#""entity""#, with: #""dialect": {"delimiter": ";"}, "entity""#)
    let definition = try read(semicolons + "," + Self.sessions(""))
    #expect(definition.parts.map(\.dialect.delimiter) == [";", ","])
  }

  static let mistaken: [(keys: String, message: String)] = [
    (#"{"fields": "at", "reference": {"resource": "", "fields": "date"}}"#, "records of its own resource"),
    (#"{"fields": "at", "reference": {"resource": "sessions", "fields": "date"}}"#, "records of its own resource"),
    (#"{"fields": "at", "reference": {"resource": "spot", "fields": "title"}}"#, "did you mean 'spots'?"),
    (
      #"{"fields": "at", "reference": {"resource": "spots", "fields": ["title", "country"]}}"#,
      "refers to 2; name as many"
    ),
    (#"{"fields": "on", "reference": {"resource": "spots", "fields": "title"}}"#, "not in its resource"),
    (#"{"fields": "at", "reference": {"resource": "spots", "fields": "town"}}"#, "not in its resource"),
    (#"{"fields": "at"}"#, "lacks its 'fields' or its 'reference'"),
    (
      #"{"fields": "at", "reference": {"resource": "spots", "fields": "title"}}, "#
        + #"{"fields": "at", "reference": {"resource": "spots", "fields": "country"}}"#,
      "leads to another object already"
    ),
  ]

  @Test(arguments: mistaken)
  func `A foreign key that can't be followed is a mistake by name`(keys: String, message: String) {
    let error = #expect(throws: PipelineError.self) { try read(Self.spots + "," + Self.sessions(keys)) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func `Foreign keys in a circle are refused`() {
    func resource(_ name: String, _ other: String) -> String {
      #"{"name": "\#(name)", "schema": {"fields": [{"name": "a"}, {"name": "b"}], "foreignKeys": "#
        + #"[{"fields": "a", "reference": {"resource": "\#(other)", "fields": "b"}}]}}"#
    }
    let error = #expect(throws: PipelineError.self) { try read(resource("one", "two") + "," + resource("two", "one")) }
    #expect(error?.description.contains("'one', 'two' refer to one another in a circle") == true)
  }

  @Test func `A foreign key to fields that are foreign keys themselves is refused`() {
    let key = #"{"fields": "spot_id", "reference": {"resource": "spots", "fields": "title"}}"#
    let third = Self.sessions(
      #"{"fields": "s", "reference": {"resource": "sessions", "fields": "spot_id"}}"#, fields: #"{"name": "s"}"#
    ).replacing(#""name": "sessions""#, with: #""name": "waves""#)
    let error = #expect(throws: PipelineError.self) {
      try read([Self.spots, Self.sessions(key), third].joined(separator: ","))
    }
    #expect(error?.description.contains("refers to 'spot_id', which is itself in a foreign key") == true)
  }
}
