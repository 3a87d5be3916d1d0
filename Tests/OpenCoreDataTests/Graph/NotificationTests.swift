import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import SystemSupport
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, "Notifications"; SDK headers): names and keys are Apple's; an
// object is announced as inserted or as updated, not as both; a rollback takes back what was announced; a fetch posts
// nothing.

@Suite("Contexts announce what changed, under Apple's names", .overBothStores)
struct NotificationTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  @Test("Names and keys are Apple's strings")
  func names() {
    #expect(
      Notification.Name.NSManagedObjectContextObjectsDidChange.rawValue
        == "NSObjectsChangedInManagingContextNotification")
    #expect(Notification.Name.NSManagedObjectContextWillSave.rawValue == "NSManagingContextWillSaveChangesNotification")
    #expect(Notification.Name.NSManagedObjectContextDidSave.rawValue == "NSManagingContextDidSaveChangesNotification")
    #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
    #expect(
      [
        NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey, NSInvalidatedObjectsKey,
        NSInvalidatedAllObjectsKey, NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey,
      ] == [
        "inserted", "updated", "deleted", "refreshed", "invalidated", "invalidatedAll", "inserted_objectIDs",
        "updated_objectIDs", "deleted_objectIDs",
      ])
    #expect(NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue == NSInsertedObjectIDsKey)
  }

  @Test(
    "An insertion carries the edits made before it was announced; later ones are updates",
    arguments: InsertionWay.allCases)
  func insertionThenEdit(way: InsertionWay) throws {
    let context = stack.context()
    let log = NotificationLog([context])
    try context.performAndWait {
      way.insert(0..<2, into: context, stack.entity)
      let object = try #require(context.insertedObjects.first)
      object.setValue("early", forKey: "place")
      context.processPendingChanges()
      object.setValue("late", forKey: "place")
      context.processPendingChanges()
      context.processPendingChanges()
    }
    #expect(log.lines == ["0 change inserted 2", "0 change updated 1"])
  }

  @Test("What was inserted and deleted again before anybody heard of it is not announced at all")
  func insertedAndDeleted() throws {
    let context = stack.context()
    let log = NotificationLog([context])
    context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      context.delete(object)
      let other = NSManagedObject.make(stack.entity, in: context)
      context.processPendingChanges()
      context.delete(other)
      context.processPendingChanges()
    }
    #expect(log.lines.filter { $0 != "0 change" } == ["0 change inserted 1", "0 change deleted 1"])
  }

  @Test(
    "A rollback takes back the insertions that were announced, in either form of contents, and is silent of others",
    arguments: InsertionWay.allCases, [ChangeNotificationContents.objects, .objectIDs])
  func rollback(way: InsertionWay, contents: ChangeNotificationContents) throws {
    let context = stack.context()
    context.changeNotificationContents = contents
    let log = NotificationLog([context])
    let suffix = contents == .objects ? "" : "_objectIDs"
    context.performAndWait {
      way.insert(0..<3, into: context, stack.entity)
      context.rollback()
      way.insert(0..<3, into: context, stack.entity)
      context.processPendingChanges()
      NSManagedObject.make(stack.entity, in: context).setValue("unheard of", forKey: "place")
      context.rollback()
    }
    #expect(log.lines == ["0 change inserted\(suffix) 3", "0 change deleted\(suffix) 3"])
  }

  @Test("A rollback announces objects that have their committed values back, a reset that everything is void")
  func rollbackOfUpdates() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      let log = NotificationLog([context])
      objects[0].setValue("x", forKey: "place")
      context.delete(objects[1])
      context.rollback()
      context.refresh(objects[2], mergeChanges: false)
      context.processPendingChanges()
      // Only objects that are held are announced.
      withExtendedLifetime(objects) { context.reset() }
      #expect(log.lines == ["0 change refreshed 2", "0 change refreshed 1", "0 change invalidatedAll 3"])
    }
  }

  @Test("A save announces sets of objects, then sets of their IDs, permanent ones at the root")
  func contentsOfSave() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    try child.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: child, stack.entity)
      try child.save()
    }
    try writer.performAndWait { try writer.save() }
    let log = NotificationLog([child, writer])
    try child.performAndWait {
      let objects = try child.fetch(stack.request())
      objects[0].setValue("x", forKey: "place")
      child.delete(objects[1])
      _ = NSManagedObject.make(stack.entity, in: child)
      try child.save()
    }
    let seen = Noted<[NSManagedObjectID]>()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSaveObjectIDs, object: writer, queue: nil
    ) { note in
      let ids = ["inserted", "updated", "deleted"].map { key in
        note.userInfo?[key + "_objectIDs"] as? Set<NSManagedObjectID>
      }
      seen.set(ids.flatMap { $0 ?? [] })
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try writer.performAndWait { try writer.save() }
    let all = "deleted 1 inserted 1 updated 1"
    let ids = "deleted_objectIDs 1 inserted_objectIDs 1 updated_objectIDs 1"
    #expect(
      log.lines == [
        "0 change \(all)", "0 willSave", "0 didSave \(all)", "0 didSaveIDs \(ids)",
        "1 change \(all)", "1 willSave", "1 didSave \(all)", "1 didSaveIDs \(ids)",
      ])
    #expect(seen.value?.map { $0.uriRepresentation().lastPathComponent } == ["p4", "p1", "p2"])
  }

  @Test("With IDs for contents, a save makes no object, and the collection is what the set would be")
  func identifiersOnly() throws {
    let context = stack.context()
    context.changeNotificationContents = .objectIDs
    let seen = Noted<[String]>()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { note in
      let ids = note.userInfo?[NSInsertedObjectIDsKey] as? ObjectIDCollection
      seen.set(ids.map { $0.map { $0.uriRepresentation().lastPathComponent } } ?? [])
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      let ids = context.insert(Self.batch(stack.entity, 4))
      context.delete(context.object(with: ids[1]))
      context.processPendingChanges()
      #expect(context.graph.insertions.segments[0].handles.isEmpty)
      try context.save()
      #expect(ids.map { $0.uriRepresentation().lastPathComponent.prefix(1) } == ["p", "t", "p", "p"])
    }
    #expect(seen.value == ["p1", "p2", "p3"])
  }

  private static func batch(_ entity: NSEntityDescription, _ count: Int) -> ObjectBatch {
    var batch = ObjectBatch(entity: entity)
    for _ in 0..<count { batch.appendRow() }
    return batch
  }

  @Test("Fetching, counting and looking up post nothing")
  func reading() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stack.entity)
      try context.save()
      let log = NotificationLog([context])
      for object in try context.fetch(stack.request()) { _ = object.place }
      _ = try context.count(for: stack.request())
      #expect(log.lines.isEmpty)
    }
  }

  @Test("A private parent announces what a child saved when the save is over; perform announces after its block")
  func parentAnnounces() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    let log = NotificationLog([child, writer])
    try child.performAndWait {
      InsertionWay.bulk.insert(0..<2, into: child, stack.entity)
      try child.save()
    }
    #expect(log.lines.last == "1 change inserted 2")
  }
}

/// A value that an observer leaves for the test.
final class Noted<Value: Sendable>: Sendable {
  private let kept = Locked<Value?>(nil)
  var value: Value? { kept.withLock { $0 } }
  func set(_ value: Value) { kept.withLock { $0 = value } }
}
