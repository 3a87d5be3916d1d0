import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PipelineDefinition
@testable import PipelineEngine

/// What a definition may say about columns that lead to related entities, by itself and against its model.
@Suite struct LinkDefinitionTests {
  private static let model = """
    <model>
      <entity name="Session">
        <attribute name="date" optional="YES" attributeType="Date"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
        <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="sessions" inverseEntity="Spot"/>
        <relationship name="first" optional="YES" maxCount="1" destinationEntity="Spot"/>
        <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board"/>
        <relationship name="next" optional="YES" maxCount="1" destinationEntity="Session"/>
        <relationship name="coach" optional="YES" maxCount="1" destinationEntity="Person"/>
      </entity>
      <entity name="Spot">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="country" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" destinationEntity="Session" inverseName="spot" inverseEntity="Session"/>
      </entity>
      <entity name="Board">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="owner" maxCount="1" destinationEntity="Person"/>
      </entity>
      <entity name="Person" isAbstract="YES">
        <attribute name="name" optional="YES" attributeType="String"/>
      </entity>
      <entity name="Coach" parentEntity="Person"/>
    </model>
    """

  private func mistakes(_ columns: String, _ members: String = "") throws -> [String] {
    let text = "{\"name\": \"p\", \"entity\": \"Session\", \"columns\": [\"date\", \(columns)]\(members)}"
    let model = try NSManagedObjectModel.load(xml: Data(Self.model.utf8))
    do {
      let review = PipelineReview(try PipelineDefinition(data: Data(text.utf8)), model: model)
      return review.error?.mistakes.map { "\($0.path): \($0.message)" } ?? []
    } catch {
      return error.mistakes.map { "\($0.path): \($0.message)" }
    }
  }

  private static let name = #"{"name": "spot", "attribute": "spot.name", "link": {"ifMissing": "create"}}"#

  @Test func `A link is read with its defaults, and columns of its relationship share it`() throws {
    let columns = Self.name + #", {"name": "country", "attribute": "spot.country"}"#
    #expect(try mistakes(columns) == [])
    let text = "{\"name\": \"p\", \"entity\": \"Session\", \"columns\": [\"date\", \(columns)]}"
    let definition = try PipelineDefinition(data: Data(text.utf8))
    #expect(definition.columns[1].link == LinkDefinition(by: ["name"], ifMissing: .create))
    #expect(definition.linkedColumns.map(\.relationship) == ["spot"])
    #expect(definition.linkedColumns.first?.columns.map(\.attribute) == ["name", "country"])
    let encoded = try JSONDecoder().decode(PipelineDefinition.self, from: JSONEncoder().encode(definition))
    #expect(encoded == definition)
  }

  @Test func `Links to entries of the own entity and to records by their names are allowed`() throws {
    #expect(try mistakes(#"{"name": "next", "attribute": "next.date", "link": {}}"#) == [])
    #expect(try mistakes(#"{"name": "spot", "attribute": "spot.@record", "link": {}}"#) == [])
    #expect(try mistakes(#"{"name": "number", "attribute": "@record"}"#) == [])
  }

  /// The columns, more members, and words of the one mistake.
  @Test(arguments: [
    (#"{"name": "spot", "attribute": "spot.name"}"#, "", "columns[1]: 'spot.name' belongs to a related object"),
    (#"{"name": "rating", "link": {"by": "name"}}"#, "", "columns[1].link: 'rating' is an attribute of the entity"),
    (#"{"name": "x", "attribute": "spot.sessions.date", "link": {}}"#, "", "is not a relationship and an attribute"),
    (
      #"{"name": "x", "attribute": "spot.name", "link": {"by": ["name", "country"]}}"#, "",
      "no column fills 'spot.country'"
    ),
    (#"{"name": "x", "attribute": "spot.name", "link": {"by": ["name", "name"]}}"#, "", "'name' is listed twice"),
    (#"{"name": "x", "attribute": "spot.name", "link": {"ifMissing": "make"}}"#, "", "'make' is none of"),
    (#"{"name": "x", "attribute": "spto.name", "link": {}}"#, "", "Session has no relationship 'spto'"),
    (#"{"name": "x", "attribute": "spot.nmae", "link": {}}"#, "", "Spot has no attribute 'nmae'"),
    (#"{"name": "x", "attribute": "boards.name", "link": {}}"#, "", "leads to many Board"),
    (#"{"name": "x", "attribute": "spot.name", "link": {"separator": ";"}}"#, "", "leads to one Spot; remove"),
    (#"{"name": "x", "attribute": "coach.name", "link": {"ifMissing": "create"}}"#, "", "Person is abstract"),
    (
      #"{"name": "x", "attribute": "boards.name", "link": {"ifMissing": "create", "separator": ";"}}"#, "",
      "every Board needs its relationship 'owner'"
    ),
    (
      #"{"name": "x", "attribute": "next.date", "link": {"ifMissing": "create"}}"#, "",
      "one that is missing can't be distinguished from one that comes later"
    ),
    (
      #"{"name": "x", "attribute": "spot.@record", "link": {"ifMissing": "create"}}"#, "",
      "one that is missing can't be distinguished from one that comes later"
    ),
    (
      #"{"name": "x", "attribute": "spot.@record", "link": {}}, {"name": "y", "attribute": "spot.name"}"#, "",
      "'@record' alone says which record is meant"
    ),
    (
      name + #", {"name": "x", "attribute": "first.name", "link": {"ifMissing": "leave"}}"#, "",
      "lead to the same objects of Spot"
    ),
    (
      name + #", {"name": "x", "attribute": "first.name", "link": {"ifMissing": "leave", "ifDifferent": "update"}}"#,
      "",
      "one of them changes their values"
    ),
    (name, #", "key": ["spot.name"]"#, "key[0]: 'spot.name' belongs to a related object"),
    (
      name, #", "recordRules": [{"rule": "anyOf", "columns": ["spot", "date"]}]"#,
      "'spot' belongs to a related object"
    ),
    (
      #"{"name": "spot", "attribute": "spot.name", "link": {}, "rules": ["unique"]}"#, "", "'spot' can't be unique"
    ),
  ])
  func `What can't be is a mistake with a remedy`(_ columns: String, _ members: String, expected: String) throws {
    let found = try mistakes(columns, members)
    #expect(found.contains { $0.contains(expected) }, "\(found)")
    #expect(found.count == 1, "\(found)")
  }

  @Test func `A pipeline that leads to related objects is explained`() throws {
    let text = "{\"name\": \"p\", \"entity\": \"Session\", \"columns\": [\(Self.name)]}"
    let model = try NSManagedObjectModel.load(xml: Data(Self.model.utf8))
    let review = PipelineReview(try PipelineDefinition(data: Data(text.utf8)), model: model)
    let topic = review.explanation.first { $0.name == "Leads to" }
    #expect(topic?.lines == ["spot: the Spot with this name; a missing one is created with the values of its columns"])
  }
}
