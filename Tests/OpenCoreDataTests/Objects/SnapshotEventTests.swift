import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: awake(fromSnapshotEvents:), NSSnapshotEventType): an object whose values were given back by
// a refresh that kept changes, a rollback or a merge policy is notified of it, and what it sets then is not a change.

/// Keeps a transient summary of its place in step.
final class SummarySession: NSManagedObject {
  static let calls = Locked<[String]>([])

  override func awakeFromFetch() { summarise("fetch") }

  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    let names: [(NSSnapshotEventType, String)] = [
      (.rollback, "rollback"), (.refresh, "refresh"), (.mergePolicy, "mergePolicy"),
    ]
    summarise(names.filter { flags.contains($0.0) }.map(\.1).joined(separator: "+"))
  }

  private func summarise(_ name: String) {
    Self.calls.withLock { $0.append("\(name) \(place ?? "nil")") }
    setValue("at \(place ?? "nowhere")", forKey: "summary")
  }
}

@Suite("Objects that get values back are notified of the reason", .serialized)
struct SnapshotEventTests {
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    let model = Sessions.model(className: "OpenCoreDataTests.SummarySession") { entity in
      let summary = Sessions.attribute("summary", .stringAttributeType)
      summary.isTransient = true
      entity.properties += [summary]
    }
    stack = try Stack(folder, model: model)
    try sqlite(
      stack.file,
      "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE, ZRATING) VALUES (1, 1, 1, 'one', 1), (2, 1, 1, 'two', 2);"
        + "UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
    SummarySession.calls.withLock { $0 = [] }
  }

  private var calls: [String] {
    SummarySession.calls.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }

  private func summary(_ object: NSManagedObject) -> String? { object.value(forKey: "summary") as? String }

  @Test("After a rollback, for changed and for deleted objects, when the context has processed its changes")
  func rollback() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      objects[0].setValue("moved", forKey: "place")
      _ = objects[1].place
      context.delete(objects[1])
      _ = calls
      context.rollback()
      #expect(calls == ["rollback one", "rollback two"])
      #expect(summary(objects[0]) == "at one" && summary(objects[1]) == "at two")
      #expect(!context.hasChanges && objects.allSatisfy { !$0.hasChanges })
    }
  }

  @Test("After a refresh that keeps changes; an object that only becomes a fault is loaded when it is read")
  func refresh() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      objects[0].setValue("moved", forKey: "place")
      _ = (objects[1].place, calls)
      context.refresh(objects[0], mergeChanges: true)
      #expect(calls == ["fetch one", "refresh moved"] && summary(objects[0]) == "at moved")
      #expect(objects[0].changedValues() as? [String: String] == ["place": "moved"])
      context.refresh(objects[1], mergeChanges: true)
      #expect(calls.isEmpty && objects[1].isFault)
      #expect(summary(objects[1]) == "at two" && calls == ["fetch two"] && !objects[1].hasChanges)
    }
  }

  @Test("After a merge policy took values of the store")
  func mergePolicy() throws {
    let context = stack.context()
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try context.performAndWait {
      let object = try #require(try context.fetch(stack.request()).first)
      object.setValue(5, forKey: "rating")
      try sqlite(stack.file, "UPDATE ZSESSION SET ZPLACE = 'theirs', Z_OPT = 2 WHERE Z_PK = 1")
      _ = calls
      try context.save()
      #expect(calls == ["mergePolicy theirs"] && summary(object) == "at theirs")
    }
    #expect(try sqlite(stack.file, "SELECT ZPLACE, ZRATING, Z_OPT FROM ZSESSION WHERE Z_PK = 1") == "theirs|5|3")
  }
}
