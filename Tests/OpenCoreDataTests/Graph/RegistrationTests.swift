import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (SDK headers: NSManagedObjectContext): a context holds changed objects strongly and others weakly, unless
// retainsRegisteredObjects is set; an object stays the one of its identity as long as anybody holds it.

@Suite("A context keeps what has changes, and knows what others keep", .overBothStores)
struct RegistrationTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  @Test("An object asked for by its ID before a child hands it up is the one that is pending afterwards")
  func askedForEarly() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    let id = child.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: child)
      object.setValue("early", forKey: "place")
      return object.objectID
    }
    let early = writer.performAndWait { writer.object(with: id) }
    #expect(early.isFault && !early.isInserted)
    try child.performAndWait { try child.save() }
    try writer.performAndWait {
      #expect(early.place == "early" && early.isInserted && writer.insertedObjects == [early])
      #expect(writer.object(with: id) === early)
      try writer.save()
      #expect(!early.isInserted && !early.objectID.isTemporaryID)
      #expect(writer.object(with: early.objectID) === early && writer.registeredObjects == [early])
    }
  }

  @Test(
    "An object whose fault found nothing before a child hands it up is there afterwards", arguments: [false, true])
  func firedEarly(obtainsID: Bool) throws {
    let writer = stack.context()
    let child = stack.context(writer)
    let id = try child.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: child)
      object.setValue("early", forKey: "place")
      if obtainsID { try child.obtainPermanentIDs(for: [object]) }
      return object.objectID
    }
    let early = writer.performAndWait { writer.object(with: id) }
    writer.performAndWait { #expect(early.place == nil && early.isDeleted) }
    try child.performAndWait { try child.save() }
    try writer.performAndWait {
      #expect(early.place == "early" && early.isInserted && !early.isDeleted && writer.deletedObjects.isEmpty)
      #expect(writer.object(with: id) === early && writer.insertedObjects == [early])
      try writer.save()
      #expect(writer.object(with: early.objectID) === early && early.place == "early")
    }
    #expect(try stack.sqlite("SELECT ZPLACE FROM ZSESSION") == "early")
  }

  @Test(
    "A context that retains what is registered keeps it over saves, until it is reset",
    arguments: InsertionWay.allCases)
  func retaining(way: InsertionWay) throws {
    let context = stack.context()
    context.retainsRegisteredObjects = true
    try context.performAndWait {
      way.insert(0..<5, into: context, stack.entity)
      try context.save()
      _ = try context.fetch(stack.request())
      #expect(context.registeredObjects.count == 5)
      context.reset()
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test("Objects that the client holds stay registered over a save, the others go", arguments: InsertionWay.allCases)
  func heldOnes(way: InsertionWay) throws {
    let context = stack.context()
    context.changeNotificationContents = .objectIDs
    try context.performAndWait {
      way.insert(0..<50, into: context, stack.entity)
      var held = Array(context.insertedObjects.prefix(3))
      try context.save()
      #expect(context.registeredObjects == Set(held))
      for object in held {
        #expect(context.object(with: object.objectID) === object && !object.hasChanges && object.version == 1)
      }
      held = []
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test("Contexts and what is pending in them go when the last reference to them goes")
  func nothingLeaks() throws {
    weak var context: NSManagedObjectContext?
    weak var object: NSManagedObject?
    try autoreleasing {
      let made = stack.context(stack.context())
      context = made
      try made.performAndWait {
        InsertionWay.single.insert(0..<3, into: made, stack.entity)
        InsertionWay.bulk.insert(3..<6, into: made, stack.entity)
        object = made.insertedObjects.first
        _ = try made.fetch(stack.request())
        made.processPendingChanges()
      }
      #expect(object != nil)
    }
    #expect(context == nil && object == nil)
  }

  private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }

  @Test("Many objects with IDs obtained early cost no more to change than others")
  func manyObtained() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<4000, into: context, stack.entity)
      let objects = context.insertedObjects.sorted { ($0.place ?? "") < ($1.place ?? "") }
      try context.obtainPermanentIDs(for: objects)
      let spent = ContinuousClock().measure {
        for object in objects { object.setValue(5, forKey: "rating") }
        for object in objects { _ = context.registeredObject(for: object.objectID) }
      }
      #expect(spent < .seconds(3), "it is quadratic if it takes long")
      try context.save()
      #expect(objects[0].objectID.uriRepresentation().lastPathComponent == "p1")
    }
    let found = try stack.sqlite("SELECT count(*), min(Z_PK), max(Z_PK), sum(ZRATING) FROM ZSESSION")
    #expect(found == "4000|1|4000|20000")
  }

  @Test("Ten thousand objects fetched while pending in the parent are looked up as fast as others")
  func manyAwaited() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    writer.performAndWait { InsertionWay.bulk.insert(0..<10_000, into: writer, stack.entity) }
    try child.performAndWait {
      let objects = try child.fetch(stack.request())
      let ids = objects.map(\.objectID)
      let spent = ContinuousClock().measure { for id in ids { _ = child.object(with: id) } }
      try writer.performAndWait { try writer.save() }
      let spentAfter = ContinuousClock().measure { for id in ids { _ = child.object(with: id) } }
      #expect(spent < .seconds(3) && spentAfter < .seconds(3), "it is quadratic if it takes long")
      #expect(!objects.contains { $0.objectID.isTemporaryID })
      child.graph.adoptPermanentIDs()
      #expect(child.graph.unresolvedIDs.isEmpty)
    }
  }

  @Test("What a child changed or deleted reaches the parent without reading the store")
  func adoptionReadsNothing() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    try writer.performAndWait {
      InsertionWay.bulk.insert(0..<90, into: writer, stack.entity)
      try writer.save()
    }
    try child.performAndWait {
      let objects = try child.fetch(stack.request())
      for object in objects[..<60] { object.setValue(4, forKey: "rating") }
      for object in objects[60...] { child.delete(object) }
      let sql = try Trace.of(stack) { try child.save() }
      #expect(sql.isEmpty)
    }
    try writer.performAndWait { try writer.save() }
    #expect(try stack.sqlite("SELECT count(*), sum(ZRATING), sum(Z_OPT) FROM ZSESSION") == "60|240|108")
  }
}
