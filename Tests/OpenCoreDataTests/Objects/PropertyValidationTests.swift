import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObject, "Validation"; NSPropertyDescription, setValidationPredicates): a class's own
// check of a property takes part in validateValue(_:forKey:) and so in each save, and may replace the value; a value
// must match every validation predicate, or the error has the predicate's warning, the key, the value and the predicate;
// nil is not checked; rows inserted in bulk are validated as single ones.

/// Lists its checks, as methods and as a block.
final class CheckedSession: NSManagedObject {
  override class var propertyValidators: [String: PropertyValidator] {
    [
      "rating": validator(CheckedSession.validateRating),
      "place": { _, value in value = (value as? String)?.trimmingCharacters(in: .whitespaces) },
    ]
  }

  func validateRating(_ value: inout Any?) throws {
    guard let rating = value as? Int, rating == 13 else { return }
    throw NSError(domain: "surf", code: 13, userInfo: [NSLocalizedDescriptionKey: "\(place ?? "") is unlucky"])
  }
}

@Suite("Values pass the class's checks and the model's predicates")
struct PropertyValidationTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func insert(_ rows: [(String, Int)], by way: InsertionWay, into context: NSManagedObjectContext, stack: Stack)
  {
    switch way {
    case .single:
      for (place, rating) in rows {
        NSManagedObject.make(stack.entity, in: context).setValuesForKeys(["place": place, "rating": rating])
      }
    case .bulk:
      var batch = ObjectBatch(entity: stack.entity)
      for (place, rating) in rows {
        batch.appendRow()
        batch.setText(place, at: 1)
        batch.setInteger(Int64(rating), at: 2)
      }
      context.insert(batch)
    }
  }

  @Test("A listed check replaces values and refuses them", arguments: InsertionWay.allCases)
  func validators(way: InsertionWay) throws {
    let model = Sessions.model(className: "OpenCoreDataTests.CheckedSession") {
      $0.attributesByName["place"]?.maximumLength = 6
    }
    let stack = try Stack(folder, model: model)
    let context = stack.context()
    try context.performAndWait {
      // Only without its spaces is the place short enough for the model.
      insert([("  Nazaré  ", 1)], by: way, into: context, stack: stack)
      try context.save()
      #expect(try sqlite(stack.file, "SELECT '<' || ZPLACE || '>' FROM ZSESSION") == "<Nazaré>")
      insert([("Nazaré", 13)], by: way, into: context, stack: stack)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.domain == "surf" && error?.code == 13 && error?.localizedDescription == "Nazaré is unlucky")
      var value: Any? = 13
      let object = try #require(context.insertedObjects.first)
      #expect(throws: NSError.self) { try object.validateValue(&value, forKey: "rating") }
      value = "  trim me "
      #expect(throws: NSError.self) { try object.validateValue(&value, forKey: "place") }
      #expect(value as? String == "trim me")
    }
  }

  private static func attribute(_ entity: NSEntityDescription, _ name: String) -> NSAttributeDescription {
    entity.attributesByName[name] ?? NSAttributeDescription()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let key: String
    let good: [StoredValue]
    let bad: [StoredValue]
    init(_ format: String, _ key: String, good: [StoredValue], bad: [StoredValue]) {
      (testDescription, self.key, self.good, self.bad) = (format, key, good, bad)
    }
  }

  static let cases = [
    Case("SELF >= 1", "rating", good: [.integer(1), .null], bad: [.integer(0), .integer(-3)]),
    Case("SELF BETWEEN {1, 5} AND SELF != 3", "rating", good: [.integer(5)], bad: [.integer(3), .integer(6)]),
    Case("SELF IN {1, 2}", "rating", good: [.integer(2)], bad: [.integer(3)]),
    Case("SELF.length < 4", "place", good: [.text("abc"), .text(""), .null], bad: [.text("abcd"), .text("a🏄b")]),
    Case("length >= 2", "place", good: [.text("ab")], bad: [.text("a")]),
    Case("SELF MATCHES '[a-z]+[0-9]?'", "place", good: [.text("reef1")], bad: [.text("Reef"), .text("reef12")]),
    Case("SELF BEGINSWITH[c] 'la' OR SELF == 'x'", "place", good: [.text("Laguna"), .text("x")], bad: [.text("y")]),
    Case("NOT SELF CONTAINS 'rip'", "place", good: [.text("calm")], bad: [.text("a rip here")]),
    Case("SELF >= CAST(0, \"NSDate\")", "date", good: [.real(0), .null], bad: [.real(-1)]),
  ]

  @Test("A predicate over SELF checks values, single and in bulk", arguments: cases, InsertionWay.allCases)
  func predicates(one: Case, way: InsertionWay) throws {
    let predicate = NSPredicate(format: one.testDescription)
    let model = Sessions.model { entity in
      Self.attribute(entity, "rating").defaultValue = nil
      Self.attribute(entity, one.key).setValidationPredicates([predicate], withValidationWarnings: ["Not that."])
    }
    let stack = try Stack(folder, model: model)
    let context = stack.context()
    let slot = try #require(stack.entity.slot(named: one.key))
    func insert(_ values: [StoredValue]) {
      var batch = ObjectBatch(entity: stack.entity)
      for value in values {
        if way == .single {
          NSManagedObject.make(stack.entity, in: context).setStoredValue(value, at: slot)
        } else {
          batch.appendRow()
          batch.setValue(value, row: batch.count - 1, slot: slot)
        }
      }
      context.insert(batch)
    }
    try context.performAndWait {
      insert(one.good)
      try context.save()
      for bad in one.bad {
        insert([bad])
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectValidationError && error?.localizedDescription == "Not that.")
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == one.key)
        #expect(error?.userInfo[NSValidationPredicateErrorKey] as? NSPredicate == predicate)
        #expect(error?.userInfo[NSValidationObjectErrorKey] is NSManagedObject)
        #expect(error?.userInfo[NSValidationValueErrorKey] != nil)
        let typed = try #require(error as? CocoaError)
        #expect(typed.validationKey == one.key && typed.validationPredicate == predicate)
        #expect(typed.validationObject is NSManagedObject && typed.validationValue != nil)
        #expect(typed.affectedStores == nil && typed.persistentStoreSaveConflicts == nil)
        context.rollback()
      }
    }
  }

  @Test("The first predicate that fails tells its warning, or says itself what it wants; a block is asked too")
  func warnings() throws {
    let rating = NSAttributeDescription()
    rating.name = "rating"
    rating.attributeType = .integer16AttributeType
    rating.setValidationPredicates(
      [
        NSPredicate(format: "SELF > 0"), NSPredicate(format: "SELF < 6"),
        NSPredicate { value, _ in value as? Int != 4 },
      ], withValidationWarnings: ["Too small.", "", "No fours."])
    #expect(rating.constraintViolation(of: .integer(0))?.message == "Too small.")
    #expect(rating.constraintViolation(of: .integer(4))?.message == "No fours.")
    let own = rating.constraintViolation(of: .integer(9))
    #expect(own?.message == "rating does not match SELF < 6. Give it a value that does." && own?.predicateIndex == 1)
    #expect(rating.constraintViolation(of: .integer(5)) == nil && rating.constraintViolation(of: .null) == nil)
    rating.setValidationPredicates(nil, withValidationWarnings: nil)
    #expect(rating.constraintViolation(of: .integer(0)) == nil && rating.validationWarnings.isEmpty)
  }

  @Test("A predicate that can't be asked of a value stops the program when it is set, or when the model comes into use")
  func unusable() async {
    let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Sessions.attribute("rating", .integer16AttributeType).setValidationPredicates(
        [NSPredicate(format: "place == 'x'")], withValidationWarnings: ["w"])
    }
    #expect(key.message.contains("The validation predicate 'place == \"x\"' of 'rating' can't be evaluated."))
    #expect(key.message.contains("A value that is an integer has no 'place'."))
    let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Sessions.attribute("rating", .integer16AttributeType).setValidationPredicates(
        [NSPredicate(format: "SELF == 'five'")], withValidationWarnings: ["w"])
    }
    #expect(type.message.contains("SELF is an integer, and \"five\" is not."))
    let late = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let attribute = NSAttributeDescription()
      attribute.name = "late"
      attribute.setValidationPredicates([NSPredicate(format: "SELF.length > 1")], withValidationWarnings: ["w"])
      attribute.attributeType = .dateAttributeType
      _ = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model { $0.properties += [attribute] })
    }
    #expect(late.message.contains("A value that is a date has no 'length'."))
  }
}
