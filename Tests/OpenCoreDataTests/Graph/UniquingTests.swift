import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (SDK headers: NSManagedObjectContext, NSManagedObjectID): within a context there is one object per identity,
// whichever ID it is asked by and however it came there; objects without a context have an ID of their own; permanent
// IDs obtained early keep the object inserted.

@Suite("A context has one object per identity, also while the identity changes", .overBothStores)
struct UniquingTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  @Test(
    "What a sibling fetched while it was pending is the same object after the save", arguments: InsertionWay.allCases)
  func siblingAcrossSave(way: InsertionWay) throws {
    let (writer, middle, child) = stack.chain()
    try child.performAndWait {
      way.insert(0..<4, into: child, stack.entity)
      try child.save()
    }
    let sibling = stack.context(middle)
    let before = try sibling.performAndWait { try sibling.fetch(stack.request()) }
    let temporary = before.map(\.objectID)
    #expect(!temporary.contains { !$0.isTemporaryID })
    for context in [middle, writer] { try context.performAndWait { try context.save() } }
    try sibling.performAndWait {
      let after = try sibling.fetch(stack.request())
      #expect(after.count == 4 && zip(before, after).allSatisfy { $0 === $1 })
      for (object, old) in zip(before, temporary) {
        #expect(!object.objectID.isTemporaryID)
        #expect(sibling.object(with: object.objectID) === object && sibling.object(with: old) === object)
        #expect(sibling.registeredObject(for: old) === object)
        #expect(try sibling.existingObject(with: object.objectID) === object)
      }
      #expect(sibling.registeredObjects.count == 4)
    }
  }

  @Test("An edit in a sibling of what was pending when it was fetched reaches its row after the save")
  func editAcrossSave() throws {
    let (writer, middle, child) = stack.chain()
    try child.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: child, stack.entity)
      try child.save()
    }
    let sibling = stack.context(middle)
    try sibling.performAndWait {
      let object = try #require(try sibling.fetch(stack.request()).first { $0.place == "Spot 1" })
      object.setValue("Edited", forKey: "place")
      let doomed = try #require(try sibling.fetch(stack.request()).first { $0.place == "Spot 2" })
      sibling.delete(doomed)
    }
    for context in [middle, writer] { try context.performAndWait { try context.save() } }
    try sibling.performAndWait {
      let shown = try sibling.fetch(stack.request())
      #expect(shown.compactMap(\.place) == ["Spot 0", "Edited"])
      try sibling.save()
    }
    for context in [middle, writer] { try context.performAndWait { try context.save() } }
    #expect(try stack.sqlite("SELECT Z_PK, Z_OPT, ZPLACE FROM ZSESSION") == "1|1|Spot 0\n2|2|Edited")
  }

  @Test("IDs that one context obtained are the IDs of every other that shows the objects")
  func obtainedElsewhere() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    let objects = try child.performAndWait {
      InsertionWay.single.insert(0..<3, into: child, stack.entity)
      let objects = child.insertedObjects.sorted { ($0.place ?? "") < ($1.place ?? "") }
      try child.save()
      return objects
    }
    let permanent = try writer.performAndWait {
      let pending = try writer.fetch(stack.request())
      try writer.obtainPermanentIDs(for: [pending[1]])
      #expect(pending[1].isInserted && writer.insertedObjects.count == 3)
      return pending[1].objectID
    }
    try child.performAndWait {
      #expect(!permanent.isTemporaryID && objects[1].objectID == permanent)
      #expect(child.object(with: permanent) === objects[1])
      let found = try child.fetch(stack.request())
      #expect(found[1] === objects[1])
    }
    try writer.performAndWait { try writer.save() }
    #expect(objects[1].objectID == permanent)
    #expect(Set(objects.map(\.objectID)).count == 3)
    #expect(try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION") == "1|Spot 1\n2|Spot 0\n3|Spot 2")
  }

  @Test("IDs can't be obtained for another context's objects, nor from a store that is read-only")
  func obtainingMisused() throws {
    let (one, two) = (stack.context(), stack.context())
    one.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: one)
      two.performAndWait { _ = #expect(throws: NSError.self) { try two.obtainPermanentIDs(for: [object]) } }
      let detached = NSManagedObject(entity: stack.entity, insertInto: nil)
      _ = #expect(throws: NSError.self) { try one.obtainPermanentIDs(for: [detached]) }
      #expect(detached.objectID.isTemporaryID && object.objectID.isTemporaryID)
    }
  }

  @Test("Objects without a context have temporary IDs of their own, and get a context's when they enter it")
  func detached() throws {
    let one = NSManagedObject(entity: stack.entity, insertInto: nil)
    let two = NSManagedObject(entity: stack.entity, insertInto: nil)
    #expect(one.objectID.isTemporaryID && one.objectID != two.objectID && one.objectID == one.objectID)
    #expect(one.objectID.entity === stack.entity && !one.isInserted && one.managedObjectContext == nil)
    one.setValue("before", forKey: "place")
    let context = stack.context()
    try context.performAndWait {
      context.insert(one)
      #expect(one.isInserted && context.object(with: one.objectID) === one)
      context.insert(one)
      #expect(context.insertedObjects == [one], "inserting it again does nothing")
      try context.save()
      #expect(one.objectID.uriRepresentation().lastPathComponent == "p1")
    }
    #expect(try stack.sqlite("SELECT ZPLACE FROM ZSESSION") == "before")
  }

  @Test("Inserting what waits for its deletion keeps it, with its changes")
  func insertingDeleted() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<2, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      objects[0].setValue("changed", forKey: "place")
      for object in objects { context.delete(object) }
      #expect(context.deletedObjects.count == 2 && context.updatedObjects.isEmpty)
      for object in objects { context.insert(object) }
      #expect(context.deletedObjects.isEmpty && context.updatedObjects == [objects[0]])
      #expect(!objects[1].hasChanges && !objects[1].isDeleted)
      try context.save()
    }
    #expect(try stack.sqlite("SELECT Z_OPT, ZPLACE FROM ZSESSION") == "2|changed\n1|Spot 1")
  }

  @Test("Deleting twice is deleting once, whether or not the object was ever saved")
  func deletingTwice() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<1, into: context, stack.entity)
      try context.save()
      let saved = try #require(try context.fetch(stack.request()).first)
      let pending = NSManagedObject.make(stack.entity, in: context)
      for object in [saved, pending, saved, pending] { context.delete(object) }
      #expect(context.deletedObjects == [saved])
      #expect(pending.isDeleted && pending.managedObjectContext == nil)
      try context.save()
    }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "0")
  }

  @Test(
    "A URI leads to its object only in exactly its form",
    arguments: ["p+1", "p-1", "p", "p1x", "1", "t1", "p99999999999999999999"])
  func uriForms(key: String) throws {
    let uuid = stack.coordinator.persistentStores[0].identifier
    let uri = try #require(URL(string: "x-coredata://\(uuid)/Session/\(key)"))
    #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
  }
}
