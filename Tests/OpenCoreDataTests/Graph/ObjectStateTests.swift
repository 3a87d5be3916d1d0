import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObject, NSManagedObjectContext): changed and committed values, refresh, rollback,
// reset; model validation with Core Data's codes; every attribute type comes back as it went in.

@Suite("Objects know what changed, and go back when asked", .overBothStores)
struct ObjectStateTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func saved(_ stack: Stack) throws -> (NSManagedObjectContext, NSManagedObject) {
    let context = stack.context()
    let object = try context.performAndWait {
      InsertionWay.single.insert(3..<4, into: context, stack.entity)
      try context.save()
      return try #require(try context.fetch(stack.request()).first)
    }
    return (context, object)
  }

  @Test("Changed and committed values follow an edit and a save")
  func changes() throws {
    let (context, object) = try saved(try Stack(folder))
    try context.performAndWait {
      #expect(!object.hasChanges && object.changedValues().isEmpty)
      object.setValue("new", forKey: "place")
      #expect(object.isUpdated && object.hasPersistentChangedValues)
      #expect(object.changedValues() as? [String: String] == ["place": "new"])
      #expect(object.committedValues(forKeys: ["place"]) as? [String: String] == ["place": "Spot 3"])
      try context.save()
      #expect(!object.isUpdated && object.changedValues().isEmpty)
      #expect(object.committedValues(forKeys: ["place"]) as? [String: String] == ["place": "new"])
    }
  }

  @Test("Refresh drops changes, or keeps them over what the store has by now")
  func refresh() throws {
    let stack = try Stack(folder)
    let (context, object) = try saved(stack)
    try stack.sqlite("UPDATE ZSESSION SET ZRATING = 1, Z_OPT = 2")
    context.performAndWait {
      object.setValue("mine", forKey: "place")
      context.refresh(object, mergeChanges: true)
      #expect(object.place == "mine" && object.value(forKey: "rating") as? Int == 1 && object.isUpdated)
      context.refresh(object, mergeChanges: false)
      #expect(object.isFault && !context.hasChanges)
      #expect(object.place == "Spot 3")
    }
  }

  @Test("Rollback gives updated and deleted objects their committed values back, reset forgets them all")
  func rollbackAndReset() throws {
    let (context, object) = try saved(try Stack(folder))
    context.performAndWait {
      object.setValue("mine", forKey: "place")
      context.rollback()
      #expect(object.place == "Spot 3" && !object.hasChanges && !context.hasChanges)
      context.delete(object)
      context.rollback()
      #expect(!object.isDeleted && object.managedObjectContext === context)
      let inserted = NSManagedObject.make(object.entity, in: context)
      context.rollback()
      #expect(inserted.managedObjectContext == nil)
      context.reset()
      #expect(object.managedObjectContext == nil && context.registeredObjects.isEmpty)
    }
  }

  @Test("Defaults of the model apply to single objects, not to batches")
  func defaults() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      _ = NSManagedObject.make(stack.entity, in: context)
      var batch = ObjectBatch(entity: stack.entity)
      batch.appendRow()
      context.insert(batch)
      try context.save()
    }
    #expect(try stack.sqlite("SELECT ifnull(ZRATING, 'nil') FROM ZSESSION ORDER BY Z_PK") == "0\nnil")
  }

  struct Rule: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: Int
    let break_: @Sendable (NSManagedObject) -> Void
  }

  static let rules = [
    Rule(testDescription: "mandatory", code: NSValidationMissingMandatoryPropertyError) {
      $0.setValue(nil, forKey: "place")
    },
    Rule(testDescription: "too large", code: NSValidationNumberTooLargeError) { $0.setValue(6, forKey: "rating") },
    Rule(testDescription: "too small", code: NSValidationNumberTooSmallError) { $0.setValue(0, forKey: "rating") },
    Rule(testDescription: "too long", code: NSValidationStringTooLongError) {
      $0.setValue("abcdefghijklm", forKey: "place")
    },
    Rule(testDescription: "too short", code: NSValidationStringTooShortError) { $0.setValue("", forKey: "place") },
    Rule(testDescription: "two at once", code: NSValidationMultipleErrorsError) {
      $0.setValue(nil, forKey: "place")
      $0.setValue(9, forKey: "rating")
    },
  ]

  private static func strictModel() -> NSManagedObjectModel {
    Sessions.model { entity in
      let place = entity.attributesByName["place"]
      place?.isOptional = false
      place?.maximumLength = 12
      place?.minimumLength = 1
      let rating = entity.attributesByName["rating"]
      rating?.minimumValue = 1
      rating?.maximumValue = 5
    }
  }

  @Test("A broken rule of the model is Core Data's error code, one by one and in bulk", arguments: rules)
  func validation(rule: Rule) throws {
    let stack = try Stack(folder, model: Self.strictModel())
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(1..<2, into: context, stack.entity)
      let object = try #require(context.insertedObjects.first)
      rule.break_(object)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == rule.code)
      let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error].compactMap { $0 }
      #expect(details.allSatisfy { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object })
      let values = object.values
      context.rollback()
      var batch = ObjectBatch(entity: stack.entity)
      batch.appendRow()
      batch.setValues(values, row: 0)
      context.insert(batch)
      let bulk = #expect(throws: NSError.self) { try context.save() }
      #expect(bulk?.code == rule.code)
      context.rollback()
      InsertionWay.bulk.insert(1..<3, into: context, stack.entity)
      try context.save()
    }
  }

  @Test("Every attribute type comes back from the store and through a chain as it went in")
  func attributeTypes() throws {
    // PostgreSQL keeps no NUL: such an object is refused, which PostgreSQLStoreTests tests.
    let zero = StoreKind.current == .server ? "" : "\u{0}"
    let values: [(String, NSAttributeType, NSObject)] = [
      ("a16", .integer16AttributeType, NSNumber(value: Int16.min)),
      ("b32", .integer32AttributeType, NSNumber(value: Int32.max)),
      ("c64", .integer64AttributeType, NSNumber(value: Int64.min)),
      ("d", .doubleAttributeType, NSNumber(value: 0.1)), ("e", .floatAttributeType, NSNumber(value: Float(0.1))),
      ("f", .booleanAttributeType, NSNumber(value: true)),
      ("g", .dateAttributeType, NSDate(timeIntervalSinceReferenceDate: 120303488.92925799)),
      ("h", .stringAttributeType, NSString(string: "Kauaʻi, \"鵠沼\"\n\(zero)x")),
      ("i", .decimalAttributeType, NSDecimalNumber(string: "12.5")),
      ("j", .binaryDataAttributeType, NSData(data: Data([0, 1, 255]))),
      ("k", .UUIDAttributeType, NSUUID()),
      ("l", .URIAttributeType, URL(string: "https://a.b/c?d=e%20f").map { $0 as NSURL } ?? NSURL(fileURLWithPath: "/")),
      ("m", .transformableAttributeType, NSArray(array: [NSString(string: "x"), NSNumber(value: 3)])),
    ]
    let model = Sessions.model { entity in
      entity.properties += values.map { Sessions.attribute($0.0, $0.1) }
    }
    let stack = try Stack(folder, model: model)
    let (writer, middle, child) = stack.chain()
    try child.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: child)
      for (name, _, value) in values { object.setValue(value, forKey: name) }
      _ = NSManagedObject.make(stack.entity, in: child)
      try child.save()
    }
    for context in [middle, writer] { try context.performAndWait { try context.save() } }
    for context in [stack.context(), stack.context(stack.context()), child] {
      try context.performAndWait {
        let objects = try context.fetch(stack.request())
        for (name, type, value) in values {
          let found = objects[0].value(forKey: name) as? NSObject
          #expect(found == value || "\(found as Any)" == "\(Optional(value) as Any)", "\(type)")
          #expect(objects[1].value(forKey: name) == nil, "\(type)")
        }
      }
    }
  }
}
