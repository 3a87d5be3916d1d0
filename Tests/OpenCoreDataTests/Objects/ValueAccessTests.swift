import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObject, "Managing Change Events", "Accessing Data"; NSManagedObject.h): primitive
// values are set without a change, between willChangeValue and didChangeValue with one; changedValues tells the new
// values since the last save, changedValuesForCurrentEvent the old ones since the last ObjectsDidChange, committedValues
// the last saved ones, none of them transient attributes; hasPersistentChangedValues differs from hasChanges.

/// Accessors written by hand, as Apple documents them.
final class AccessedSession: NSManagedObject {
  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
  var spot: String? {
    get {
      willAccessValue(forKey: "place")
      defer { didAccessValue(forKey: "place") }
      return primitiveValue(forKey: "place") as? String
    }
    set {
      willChangeValue(forKey: "place")
      setPrimitiveValue(newValue, forKey: "place")
      didChangeValue(forKey: "place")
    }
  }
}

@Suite("What changed is known by event, by save and by store")
struct ValueAccessTests {
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    let model = Sessions.model(className: "OpenCoreDataTests.AccessedSession") { entity in
      let mood = Sessions.attribute("mood", .stringAttributeType)
      mood.isTransient = true
      entity.properties += [mood]
    }
    stack = try Stack(folder, model: model)
    try sqlite(
      stack.file,
      "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE, ZRATING) VALUES (1, 1, 1, 'one', 1);"
        + "UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
  }

  private func onObject(_ body: (NSManagedObjectContext, AccessedSession) throws -> Void) throws {
    let context = stack.context()
    try context.performAndWait {
      try body(context, try #require(try context.fetch(stack.request()).first as? AccessedSession))
    }
  }

  @Test("A text that only its scalars tell from the old one is a change, and is saved")
  func scalars() throws {
    let context = stack.context()
    try context.performAndWait {
      let session = NSManagedObject.make(stack.entity, in: context)
      session.setValue("Caf\u{E9}", forKey: "place")
      try context.save()
      session.setValue("Cafe\u{301}", forKey: "place")
      #expect(session.changedValues().keys.sorted() == ["place"])
      try context.save()
    }
    #expect(
      try sqlite(stack.file, "SELECT hex(ZPLACE), Z_OPT FROM ZSESSION ORDER BY Z_PK DESC LIMIT 1") == "43616665CC81|2")
  }

  @Test("Accessors made of primitive values load faults and record changes")
  func handWritten() throws {
    try onObject { context, object in
      #expect(object.isFault && object.spot == "one" && !object.isFault && !object.hasChanges)
      object.spot = "two"
      #expect(object.isUpdated && object.changedValues() as? [String: String] == ["place": "two"])
      try context.save()
    }
    #expect(try sqlite(stack.file, "SELECT ZPLACE, Z_OPT FROM ZSESSION") == "two|2")
  }

  @Test("A primitive value alone makes no change, and is saved with the next one")
  func primitiveAlone() throws {
    try onObject { context, object in
      object.setPrimitiveValue("quiet", forKey: "place")
      #expect(!object.hasChanges && !context.hasChanges && object.spot == "quiet")
      #expect(object.hasPersistentChangedValues)
      try context.save()
      #expect(try sqlite(stack.file, "SELECT ZPLACE, Z_OPT FROM ZSESSION") == "one|1")
      object.setValue(5, forKey: "rating")
      try context.save()
      #expect(!object.hasPersistentChangedValues)
    }
    #expect(try sqlite(stack.file, "SELECT ZPLACE, ZRATING, Z_OPT FROM ZSESSION") == "quiet|5|2")
  }

  @Test("A primitive value of a fault is nil until something loads it")
  func primitiveOfFault() throws {
    let context = stack.context()
    try context.performAndWait {
      let id = try #require(try context.fetch(stack.request()).first?.objectID)
      context.reset()
      let object = context.object(with: id)
      #expect(object.primitiveValue(forKey: "place") == nil && object.isFault && object.faultingState != 0)
      object.willAccessValue(forKey: nil)
      #expect(object.primitiveValue(forKey: "place") as? String == "one" && object.faultingState == 0)
    }
  }

  @Test("Values of the current event are the old ones, also for those who are notified, and then forgotten")
  func event() throws {
    try onObject { context, object in
      object.setValue("two", forKey: "place")
      object.setValue("three", forKey: "place")
      object.setValue("calm", forKey: "mood")
      #expect(object.changedValuesForCurrentEvent() as? [String: String] == ["place": "one"])
      let reported = Locked<[String]>([])
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { notification in
        for object in notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [] {
          let line = object.changedValuesForCurrentEvent().map { "\($0.key) \($0.value)" }.sorted().joined(
            separator: ", ")
          reported.withLock { $0.append(line) }
        }
      }
      defer { NotificationCenter.default.removeObserver(token) }
      context.processPendingChanges()
      #expect(object.changedValuesForCurrentEvent().isEmpty)
      object.setValue(2, forKey: "rating")
      object.setValue("two", forKey: "place")
      context.processPendingChanges()
      #expect(reported.withLock { $0 } == ["place one", "place three, rating 1"])
      #expect(object.changedValues()["place"] as? String == "two" && object.changedValues()["rating"] as? Int == 2)
      #expect(object.committedValues(forKeys: ["place", "rating", "mood"]).count == 2)
      context.refresh(object, mergeChanges: false)
      #expect(object.changedValuesForCurrentEvent().isEmpty && object.changedValues().isEmpty)
    }
  }

  @Test("What a change handler changes belongs to the next event")
  func changeInHandler() throws {
    try onObject { context, object in
      let isFirst = Locked(true)
      let seen = Locked<[String]>([])
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { notification in
        guard let set = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>, let one = set.first
        else { return }
        seen.withLock { $0.append("\(one.changedValuesForCurrentEvent()["place"] ?? "none")") }
        let answers = isFirst.withLock { first in
          defer { first = false }
          return first
        }
        if answers { one.setValue("answer", forKey: "place") }
      }
      defer { NotificationCenter.default.removeObserver(token) }
      object.setValue("two", forKey: "place")
      context.processPendingChanges()
      #expect(object.changedValuesForCurrentEvent() as? [String: String] == ["place": "two"])
      context.processPendingChanges()
      #expect(seen.withLock { $0 } == ["one", "two"])
    }
  }

  @Test("A transient change is a change, but none to save; its value stays until a refresh takes it")
  func transient() throws {
    try onObject { context, object in
      object.setValue("calm", forKey: "mood")
      #expect(object.hasChanges && !object.hasPersistentChangedValues && object.changedValues().isEmpty)
      try context.save()
      #expect(!object.hasChanges && object.value(forKey: "mood") as? String == "calm")
      _ = try context.fetch(stack.request())
      #expect(object.value(forKey: "mood") as? String == "calm")
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "mood") == nil)
    }
    #expect(try sqlite(stack.file, "SELECT Z_OPT FROM ZSESSION") == "1")
    #expect(try sqlite(stack.file, "SELECT count(*) FROM pragma_table_info('ZSESSION') WHERE name = 'ZMOOD'") == "0")
  }

  @Test("A key that the model does not have counts as a change where the class wants that")
  func unmodelled() throws {
    try onObject { _, object in
      object.willChangeValue(forKey: "tan")
      object.didChangeValue(forKey: "tan")
      #expect(object.hasChanges && !object.hasPersistentChangedValues)
    }
    let plain = NSManagedObjectContext(.privateQueue)
    plain.performAndWait {
      let object = NSManagedObject(entity: stack.entity, insertInto: nil)
      object.willChangeValue(forKey: "tan")
      #expect(object.snapshot == nil && NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
    }
  }

  @Test("A class finds its entity in the model in use, and makes requests for itself")
  func classMembers() throws {
    #expect(AccessedSession.entity().name == "Session")
    let request: NSFetchRequest<AccessedSession> = AccessedSession.fetchRequest()
    let context = stack.context()
    try context.performAndWait {
      let spots = try context.fetch(request).map(\.spot)
      #expect(spots == ["one"])
    }
  }
}
