import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import SystemSupport
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObject, "Faulting and Uniquing"; SDK headers): a fault loads its values when one
// is read and calls awakeFromFetch, in which setting values is not a change; refreshing turns an object into a fault
// and says so to it; a fault whose row is gone is marked deleted and reads nil; a batch of faults loads together.

/// Notes the calls that have to do with faults.
final class WakingSession: NSManagedObject {
  static let calls = Locked<[String]>([])
  override class var lifecycleHooks: LifecycleHooks { [.awakeFromFetch] }

  override func awakeFromFetch() {
    Self.calls.withLock { $0.append("awake \(value(forKey: "place") ?? "nil")") }
    setValue(1.5, forKey: "score")
  }
  override func willTurnIntoFault() { Self.calls.withLock { $0.append("will") } }
  override func didTurnIntoFault() { Self.calls.withLock { $0.append("did") } }
}

@Suite("Faults load when they are read", .overBothStores, .serialized)
struct FaultingTests {
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    let model = Sessions.model(className: "OpenCoreDataTests.WakingSession") { entity in
      let score = Sessions.attribute("score", .doubleAttributeType)
      score.isTransient = true
      entity.properties += [score]
    }
    stack = try Stack(folder, model: model)
    try stack.sqlite(
      "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE, ZRATING) VALUES (1, 1, 1, 'one', 1), (2, 1, 1, 'two', 2),"
        + "(3, 1, 1, 'three', 3), (4, 1, 1, 'four', 4), (5, 1, 1, 'five', 5); UPDATE Z_PRIMARYKEY SET Z_MAX = 5")
    WakingSession.calls.withLock { $0 = [] }
  }

  private var calls: [String] {
    WakingSession.calls.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }

  @Test("Reading fulfils a fault once, and what awakeFromFetch sets is not a change")
  func waking() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      #expect(calls.isEmpty && objects.allSatisfy { $0.isFault })
      #expect(
        objects[1].place == "two" && objects[1].place == "two" && objects[1].value(forKey: "score") as? Double == 1.5)
      #expect(calls == ["awake two"])
      #expect(!objects[1].hasChanges && !context.hasChanges && objects[1].changedValues().isEmpty)
      objects[1].setValue("2", forKey: "place")
      #expect(Set(objects[1].changedValues().keys) == ["place"])
      try context.save()
    }
    #expect(try stack.sqlite("SELECT Z_OPT, ZPLACE FROM ZSESSION WHERE Z_PK = 2") == "2|2")
  }

  @Test("A change of a transient attribute alone writes nothing and leaves the version")
  func transientOnly() throws {
    let context = stack.context()
    try context.performAndWait {
      let object = try #require(try context.fetch(stack.request()).first)
      object.setValue(9.0, forKey: "score")
      #expect(object.isUpdated && !object.hasPersistentChangedValues)
      try context.save()
      #expect(!context.hasChanges && object.value(forKey: "score") as? Double == 9)
      object.setValue("next", forKey: "place")
      try context.save()
    }
    #expect(try stack.sqlite("SELECT Z_OPT FROM ZSESSION WHERE Z_PK = 1") == "2")
  }

  @Test("Without faults asked for, objects come awake")
  func returnsObjectsAsFaults() throws {
    let context = stack.context()
    try context.performAndWait {
      let request = stack.request()
      request.returnsObjectsAsFaults = false
      request.fetchLimit = 2
      let objects = try context.fetch(request)
      #expect(objects.allSatisfy { !$0.isFault })
      #expect(calls == ["awake one", "awake two"])
    }
  }

  @Test("Refreshing tells the object, a fault is left in peace but forgets what was fetched for it")
  func refreshing() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      _ = objects[0].place
      context.refresh(objects[0], mergeChanges: false)
      #expect(calls == ["awake one", "will", "did"] && objects[0].isFault)
      try stack.sqlite("UPDATE ZSESSION SET ZPLACE = ZPLACE || '!', Z_OPT = 2")
      context.refresh(objects[1], mergeChanges: false)
      #expect(calls.isEmpty)
      #expect(objects[1].place == "two!" && objects[2].place == "three")
      context.refreshAllObjects()
      #expect(objects[2].isFault && objects[2].place == "three!")
    }
  }

  @Test("Refreshing all keeps the changes of objects that have some, over newer values of the store")
  func refreshAll() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      objects[0].setValue("mine", forKey: "place")
      let new = NSManagedObject.make(stack.entity, in: context)
      context.delete(objects[4])
      try stack.sqlite("UPDATE ZSESSION SET ZRATING = 9, Z_OPT = 2")
      context.refreshAllObjects()
      #expect(objects[0].place == "mine" && objects[0].value(forKey: "rating") as? Int == 9)
      #expect(context.updatedObjects == [objects[0]] && context.insertedObjects == [new])
      #expect(context.deletedObjects == [objects[4]])
    }
  }

  @Test(
    "A fault whose row is gone is marked deleted and reads nil, a rollback makes it a fault again, a save forgets it")
  func inaccessible() throws {
    let context = stack.context()
    try context.performAndWait {
      let request = stack.request()
      request.includesPropertyValues = false
      let objects = try context.fetch(request)
      #expect(objects.allSatisfy { $0.isFault && $0.values.isEmpty })
      try stack.sqlite("DELETE FROM ZSESSION WHERE Z_PK IN (2, 3)")
      #expect(objects[1].place == nil && objects[1].isDeleted && context.deletedObjects == [objects[1]])
      context.rollback()
      #expect(objects[1].isFault && !objects[1].isDeleted && !context.hasChanges)
      #expect(objects[1].place == nil && objects[2].place == nil && objects[0].place == "one")
      try context.save()
      #expect(!context.hasChanges && objects[1].managedObjectContext == nil)
      #expect(throws: NSError.self) { try context.existingObject(with: objects[1].objectID) }
    }
  }

  @Test("A batch loads together, one whose row is gone among them, and each read fulfils the fault of one object")
  func batchWithGap() throws {
    let context = stack.context()
    try context.performAndWait {
      let request = stack.request()
      request.fetchBatchSize = 3
      let objects = try context.fetch(request)
      try stack.sqlite("DELETE FROM ZSESSION WHERE Z_PK = 2")
      #expect(objects[1].place == nil && objects[1].isDeleted)
      #expect(objects[0].place == "one" && objects[2].place == "three")
      #expect(calls == ["awake one", "awake three"])
      context.refresh(objects[3], mergeChanges: false)
      #expect(objects[4].place == "five" && objects[3].place == "four")
    }
  }

  @Test("A batch of rows that are pending in the parent survives the parent's save")
  func batchAcrossSave() throws {
    let writer = stack.context()
    let child = stack.context(writer)
    let objects = try child.performAndWait {
      writer.performAndWait { InsertionWay.bulk.insert(0..<4, into: writer, stack.entity) }
      let request = stack.request()
      request.fetchBatchSize = 4
      let objects = try child.fetch(request)
      for object in objects { child.refresh(object, mergeChanges: false) }
      return objects
    }
    try writer.performAndWait { try writer.save() }
    child.performAndWait { #expect(objects.compactMap(\.place).count == 9) }
  }

  @Test("Reset leaves faults without a context")
  func afterReset() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      _ = objects[0].place
      let pending = NSManagedObject.make(stack.entity, in: context)
      pending.setValue("pending", forKey: "place")
      context.reset()
      #expect(objects.allSatisfy { $0.managedObjectContext == nil && !$0.hasChanges })
      #expect((objects + [pending]).allSatisfy { $0.isFault && "\($0)".contains("<fault>") } && !pending.isInserted)
      #expect(context.registeredObjects.isEmpty && !context.hasChanges)
      #expect(try context.fetch(stack.request())[0] !== objects[0])
    }
  }
}
