import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: UndoManager, groupsByEvent; NSManagedObjectContext, rollback(), reset(),
// processPendingChanges(); NSSnapshotEventType): what is one group, and what is not recorded.

/// Notes which events gave values back.
final class UndoneSession: NSManagedObject {
  static let events = Locked<[String]>([])

  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    let names: [(NSSnapshotEventType, String)] = [
      (.undoInsertion, "insertion"), (.undoDeletion, "deletion"), (.undoUpdate, "update"), (.rollback, "rollback"),
    ]
    let found = names.filter { flags.contains($0.0) }.map(\.1).joined(separator: "+")
    Self.events.withLock { $0.append(found) }
  }
}

@Suite("What an undo takes back", .serialized)
struct UndoEventTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Sessions.model(className: "OpenCoreDataTests.UndoneSession"))
    context = stack.context()
    UndoneSession.events.withLock { $0 = [] }
  }

  private func saved(_ place: String) throws -> NSManagedObject {
    let session = NSManagedObject.make(stack.entity, in: context)
    session.setValue(place, forKey: "place")
    try context.save()
    return session
  }

  @Test("On a private queue each asynchronous block is an event; synchronous ones are in the group that is open")
  func privateQueue() async throws {
    let (context, entity) = (self.context, stack.entity)
    context.performAndWait { context.undoManager = UndoManager() }
    for _ in 0..<2 {
      await context.perform {
        _ = NSManagedObject.make(entity, in: context)
        context.processPendingChanges()
        _ = NSManagedObject.make(entity, in: context)
      }
    }
    context.performAndWait {
      #expect(context.undoManager?.groupingLevel == 0)
      _ = NSManagedObject.make(entity, in: context)
    }
    context.performAndWait {
      _ = NSManagedObject.make(entity, in: context)
      #expect(context.insertedObjects.count == 6)
      context.undo()
      #expect(context.insertedObjects.count == 4)
      context.undo()
      #expect(context.insertedObjects.count == 2)
    }
  }

  @Test("On the main queue each turn is an event")
  @MainActor
  func mainQueue() async throws {
    let context = NSManagedObjectContext(concurrencyType: .mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    context.undoManager = UndoManager()
    for _ in 0..<2 {
      _ = NSManagedObject.make(stack.entity, in: context)
      _ = NSManagedObject.make(stack.entity, in: context)
      await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
      await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
    }
    context.undo()
    #expect(context.insertedObjects.count == 2)
    context.undo()
    #expect(context.insertedObjects.isEmpty)
  }

  @Test("Without groups by event, what the program does not group is a group for each event")
  func ungrouped() throws {
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let session = NSManagedObject.make(stack.entity, in: context)
    context.processPendingChanges()
    session.setValue("one", forKey: "place")
    manager.beginUndoGrouping()
    session.setValue("two", forKey: "place")
    manager.endUndoGrouping()
    context.undo()
    #expect(session.place == "one")
    context.undo()
    #expect(session.place == nil && session.isInserted)
    context.undo()
    #expect(context.insertedObjects.isEmpty)
  }

  @Test("What is processed while recording is disabled stays")
  func disabled() throws {
    let session = try saved("Rincon")
    context.undoManager = UndoManager()
    session.setValue(1, forKey: "rating")
    context.processPendingChanges()
    context.undoManager?.disableUndoRegistration()
    session.setValue("Ulu", forKey: "place")
    context.processPendingChanges()
    context.undoManager?.enableUndoRegistration()
    session.setValue(2, forKey: "rating")
    context.undo()
    #expect(session.place == "Ulu" && session.value(forKey: "rating") as? Int == 0)
  }

  @Test("A rollback and a reset leave nothing to undo or redo")
  func rollbackAndReset() throws {
    let session = try saved("Rincon")
    let manager = UndoManager()
    context.undoManager = manager
    for end in [context.rollback, context.reset] {
      session.setValue("Ulu", forKey: "place")
      manager.undo()
      session.setValue(3, forKey: "rating")
      end()
      #expect(!manager.canUndo && !manager.canRedo)
      context.undo()
    }
    #expect(!context.hasChanges)
  }

  @Test("What others have saved is not taken back: only the values of the group are")
  func merging() throws {
    let session = try saved("Rincon")
    context.undoManager = UndoManager()
    session.setValue(1, forKey: "rating")
    context.processPendingChanges()
    let other = stack.context()
    let (context, id) = (self.context, session.objectID)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { notification in
      nonisolated(unsafe) let notification = notification
      context.performAndWait { context.mergeChanges(fromContextDidSave: notification) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try other.performAndWait {
      try other.existingObject(with: id).setValue("Ulu", forKey: "place")
      _ = NSManagedObject.make(stack.entity, in: other)
      try other.save()
    }
    #expect(session.place == "Ulu" && session.value(forKey: "rating") as? Int == 1)
    context.undo()
    #expect(session.place == "Ulu" && session.value(forKey: "rating") as? Int == 0)
    #expect(try context.count(for: stack.request()) == 2)
    #expect(context.undoManager?.canUndo == false)
    context.redo()
    context.refresh(session, mergeChanges: true)
    context.undo()
    #expect(session.value(forKey: "rating") as? Int == 0)
  }

  @Test("An object that others have deleted is left out")
  func deletedElsewhere() throws {
    let session = try saved("Rincon")
    context.undoManager = UndoManager()
    session.setValue(1, forKey: "rating")
    try context.save()
    context.refresh(session, mergeChanges: false)
    try sqlite(stack.file, "DELETE FROM ZSESSION")
    context.undo()
    #expect(session.isDeleted && context.updatedObjects.isEmpty)
    try context.save()
  }

  @Test("Objects are notified of what gave their values back")
  func awaking() throws {
    let session = try saved("Rincon")
    context.undoManager = UndoManager()
    session.setValue(1, forKey: "rating")
    context.undo()
    context.delete(session)
    context.undo()
    _ = NSManagedObject.make(stack.entity, in: context)
    context.undo()
    #expect(UndoneSession.events.withLock { $0 } == ["update", "deletion", "insertion"])
  }

  @Test("A manager that is replaced forgets the context's changes, and that of a freed context can be used on")
  func replaced() throws {
    let (first, second) = (UndoManager(), UndoManager())
    var other: NSManagedObjectContext? = stack.context()
    other?.undoManager = first
    context.undoManager = first
    let session = NSManagedObject.make(stack.entity, in: context)
    context.processPendingChanges()
    first.endUndoGrouping()
    #expect(first.canUndo)
    context.undoManager = second
    #expect(!first.canUndo)
    session.setValue("Ulu", forKey: "place")
    other = nil
    first.undo()
    context.undo()
    #expect(other == nil && session.place == nil && session.isInserted)
  }

  @Test("An object whose deletion was saved is inserted into the store that it was in")
  func stores() throws {
    let second = folder.file("second.sqlite")
    try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: second)
    let session = NSManagedObject.make(stack.entity, in: context)
    context.assign(session, to: stack.coordinator.persistentStores[1])
    try context.save()
    context.undoManager = UndoManager()
    context.delete(session)
    try context.save()
    context.undo()
    try context.save()
    #expect(try sqlite(second, "SELECT count(*) FROM ZSESSION") == "1")
  }
}
