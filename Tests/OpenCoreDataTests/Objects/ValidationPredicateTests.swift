import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData

// Rule (Apple documentation: NSPropertyDescription, setValidationPredicates): predicates of any form are evaluated on the
// value of a property: of an attribute of any type, and of a relationship.

@Suite("Validation predicates of any form are evaluated on values")
struct ValidationPredicateTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: NSAttributeType
    let good: @Sendable () -> Any
    let bad: @Sendable () -> Any
    init(
      _ format: String, _ type: NSAttributeType, good: @escaping @Sendable @autoclosure () -> Any,
      bad: @escaping @Sendable @autoclosure () -> Any
    ) {
      (testDescription, self.type, self.good, self.bad) = (format, type, good, bad)
    }
  }

  private static let web = "https://example.org/a.png"
  static let cases = [
    Case(
      "SELF.scheme == 'https'", .URIAttributeType, good: URL(string: web) as Any, bad: URL(string: "ftp://x.y") as Any),
    Case(
      "absoluteString ENDSWITH 'png'", .URIAttributeType, good: URL(string: web) as Any, bad: URL(string: "x:y") as Any),
    Case("lowercaseString == SELF", .stringAttributeType, good: "reef", bad: "Reef"),
    Case("SELF.integerValue BETWEEN {1, 5}", .stringAttributeType, good: "3 feet", bad: "reef"),
    Case("length(SELF) > 2 AND SELF.length < 5", .stringAttributeType, good: "reef", bad: "Nazaré"),
    Case("SELF.stringValue.length == 4", .integer32AttributeType, good: 1234, bad: 99),
    Case("SELF.length > 1", .binaryDataAttributeType, good: Data([1, 2]), bad: Data([1])),
    Case(
      "timeIntervalSinceReferenceDate >= 10", .dateAttributeType,
      good: Date(timeIntervalSinceReferenceDate: 10), bad: Date(timeIntervalSinceReferenceDate: 9)),
    Case("SELF.@count > 1 AND ANY SELF == 'b'", .transformableAttributeType, good: ["a", "b"], bad: ["a", "c"]),
    Case("height > 3", .transformableAttributeType, good: ["height": 4], bad: ["height": 2]),
    Case("height > 3", .transformableAttributeType, good: ["height": 4], bad: "no height"),
  ]

  @Test("A predicate reads properties of the value", arguments: cases)
  func properties(one: Case) throws {
    let attribute = NSAttributeDescription()
    attribute.name = "value"
    attribute.attributeType = one.type
    attribute.setValidationPredicates([NSPredicate(format: one.testDescription)], withValidationWarnings: ["Not that."])
    let stack = try Stack(try TemporaryFolder(), model: Sessions.model { $0.properties += [attribute] })
    let context = stack.context()
    try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      object.setValue(one.good(), forKey: "value")
      try context.save()
      object.setValue(one.bad(), forKey: "value")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectValidationError)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "value")
      // A value that lacks the property is a violation that says so.
      let lacks = one.bad() as? String == "no height"
      #expect(error?.localizedDescription.contains(lacks ? "can't be compared with" : "Not that.") == true)
      object.setValue(nil, forKey: "value")
      try context.save()
    }
  }

  private static let xml = """
    <model>
      <entity name="Team">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="members" optional="YES" toMany="YES" destinationEntity="Member" inverseName="team" inverseEntity="Member"/>
      </entity>
      <entity name="Member">
        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
        <relationship name="team" optional="YES" maxCount="1" destinationEntity="Team" inverseName="members" inverseEntity="Team"/>
      </entity>
    </model>
    """

  @Test("Those of a relationship are evaluated on its object, or on the set of its objects, also of packed rows")
  func relationships() throws {
    let model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    let (team, member) = (model.entitiesByName["Team"], model.entitiesByName["Member"])
    let teams = try #require(member?.relationshipsByName["team"])
    teams.setValidationPredicates([NSPredicate(format: "name BEGINSWITH 'A'")], withValidationWarnings: ["No A."])
    try #require(team?.relationshipsByName["members"]).setValidationPredicates(
      [NSPredicate(format: "SELF.@count < 3 AND (SELF.@count == 0 OR ANY SELF.rating > 3)")],
      withValidationWarnings: [""])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
      try context.save()
      func add(_ rating: Int) -> NSManagedObject {
        let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
        member.setValue(rating, forKey: "rating")
        member.setValue(team, forKey: "team")
        return member
      }
      team.setValue("Bay", forKey: "name")
      _ = add(4)
      #expect(throws: NSError.self) { try context.save() }
      team.setValue("Atlantic", forKey: "name")
      try context.save()
      _ = add(1)
      try context.save()
      _ = add(2)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "members")
      #expect(error?.localizedDescription.contains("Team.members does not match") == true)
      context.rollback()
      #expect((team.value(forKey: "members") as? Set<NSManagedObject>)?.count == 2)
    }
  }
}
