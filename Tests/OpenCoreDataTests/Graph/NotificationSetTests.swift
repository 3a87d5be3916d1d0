import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, "Notifications"): ObjectsDidChange and DidSave carry sets of the
// context's own objects, DidSaveObjectIDs the set of the IDs that these have then. That sets are made once and shared
// (PackedObjects.md) shows nowhere: each is as it would be made for itself.

@Suite("The sets of notifications, shared or not, are those of their moment", .overBothStores)
struct NotificationSetTests {
  /// What the contexts of a chain announced: sets under the key of insertions.
  private final class Announced: Sendable {
    struct Entry: @unchecked Sendable {
      // Unchecked: the objects are compared by identity only.
      let level: Int
      let name: Notification.Name
      let objects: Set<NSManagedObject>
      let ids: Set<NSManagedObjectID>
      let areOwn: Bool
    }
    let entries = Locked<[Entry]>([])

    func tokens(_ contexts: [NSManagedObjectContext]) -> [any NSObjectProtocol] {
      let names: [Notification.Name] = [
        .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
        .NSManagedObjectContextDidSaveObjectIDs,
      ]
      return contexts.enumerated().flatMap { level, context in
        names.map { name in
          NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned context] note in
            let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
            let ids = note.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
            let areOwn = objects.allSatisfy {
              $0.managedObjectContext === context && context.registeredObject(for: $0.objectID) === $0
            }
            self.entries.withLock {
              $0.append(Entry(level: level, name: name, objects: objects, ids: ids, areOwn: areOwn))
            }
          }
        }
      }
    }

    func entry(_ level: Int, _ name: Notification.Name) -> Entry? {
      entries.withLock { $0.last { $0.level == level && $0.name == name } }
    }
  }

  /// Numbers of objects: of the greater, sets are made on another thread.
  private static let counts = [5, 600]

  private func save(
    _ way: InsertionWay, _ count: Int, beforeSave change: (Int, NSManagedObjectContext) throws -> Void = { _, _ in }
  ) throws -> Announced {
    let stack = try Stack(try TemporaryFolder())
    let (writer, middle, child) = stack.chain()
    let announced = Announced()
    let levels = [child, middle, writer]
    let tokens = announced.tokens(levels)
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    child.performAndWait { way.insert(0..<count, into: child, stack.entity) }
    for (level, context) in levels.enumerated() {
      try context.performAndWait {
        context.processPendingChanges()
        try change(level, context)
        try context.save()
      }
    }
    return announced
  }

  private func numbers(_ ids: Set<NSManagedObjectID>?) -> [String] {
    (ids ?? []).map { $0.isTemporaryID ? "t" : $0.uriRepresentation().lastPathComponent }.sorted()
  }

  private func temporary(_ count: Int) -> [String] { Array(repeating: "t", count: count) }
  private func keys(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "p\($0)" }.sorted() }

  @Test(
    "Each level announces its own objects twice, and the IDs that they have", arguments: InsertionWay.allCases, counts)
  func chain(way: InsertionWay, count: Int) throws {
    let announced = try save(way, count)
    var all: Set<NSManagedObject> = []
    for level in 0..<3 {
      let changed = try #require(announced.entry(level, .NSManagedObjectContextObjectsDidChange))
      let saved = try #require(announced.entry(level, .NSManagedObjectContextDidSave))
      #expect(changed.objects == saved.objects && saved.objects.count == count)
      #expect(changed.areOwn && saved.areOwn)
      #expect(all.isDisjoint(with: saved.objects))
      all.formUnion(saved.objects)
      let ids = announced.entry(level, .NSManagedObjectContextDidSaveObjectIDs)?.ids
      #expect(numbers(ids) == (level < 2 ? temporary(count) : keys(1...count)))
    }
    let ids = (0..<2).map { announced.entry($0, .NSManagedObjectContextDidSaveObjectIDs)?.ids }
    #expect(ids[0] == ids[1])
  }

  @Test(
    "What is deleted or added on the way is in the sets of the levels above only", arguments: InsertionWay.allCases,
    counts)
  func changedOnTheWay(way: InsertionWay, count: Int) throws {
    let announced = try save(way, count) { level, context in
      guard level > 0 else { return }
      let object = try #require(context.insertedObjects.first { $0.place == "Spot \(level)" })
      context.delete(object)
      if level == 2 { NSManagedObject.make(object.entity, in: context).setValue("late", forKey: "place") }
    }
    let counts = (0..<3).map { level in
      [
        announced.entry(level, .NSManagedObjectContextDidSave)?.objects.count,
        announced.entry(level, .NSManagedObjectContextDidSaveObjectIDs)?.ids.count,
      ]
    }
    #expect(counts == [[count, count], [count - 1, count - 1], [count - 1, count - 1]])
    #expect((0..<3).allSatisfy { announced.entry($0, .NSManagedObjectContextDidSave)?.areOwn == true })
  }

  @Test(
    "An ID that became permanent on the way is announced as such from there on", arguments: InsertionWay.allCases,
    counts)
  func obtained(way: InsertionWay, count: Int) throws {
    let announced = try save(way, count) { level, context in
      guard level == 1 else { return }
      try context.obtainPermanentIDs(for: context.insertedObjects.filter { $0.place == "Spot 4" })
    }
    let ids = (0..<3).map { numbers(announced.entry($0, .NSManagedObjectContextDidSaveObjectIDs)?.ids) }
    #expect(ids[0] == temporary(count) && ids[1] == ["p1"] + temporary(count - 1))
    #expect(ids[2] == keys(1...count))
  }

  @Test("Keys that a refused save was about to give are not announced", arguments: InsertionWay.allCases, counts)
  func refused(way: InsertionWay, count: Int) throws {
    let stack = try Stack(try TemporaryFolder(), model: Sessions.model(unique: ["place"]))
    let (context, other) = (stack.context(), stack.context())
    let announced = Announced()
    let tokens = announced.tokens([context])
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    try other.performAndWait {
      InsertionWay.single.insert(0..<1, into: other, stack.entity)
      try other.save()
    }
    context.performAndWait {
      way.insert(0..<count, into: context, stack.entity)
      #expect(throws: NSError.self) { try context.save() }
    }
    try other.performAndWait {
      InsertionWay.single.insert(count..<(count + 2), into: other, stack.entity)
      for first in try other.fetch(stack.request()) where first.place == "Spot 0" { other.delete(first) }
      try other.save()
    }
    try context.performAndWait { try context.save() }
    #expect(numbers(announced.entry(0, .NSManagedObjectContextDidSaveObjectIDs)?.ids) == keys(4...(count + 3)))
    #expect(try stack.sqlite("SELECT min(Z_PK), max(Z_PK) FROM ZSESSION") == "2|\(count + 3)")
  }

  @Test("Rows added after an announcement are in the next set of objects", arguments: InsertionWay.allCases)
  func added(way: InsertionWay) throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    context.performAndWait {
      way.insert(0..<3, into: context, stack.entity)
      context.processPendingChanges()
      let first = context.insertedObjects
      way.insert(3..<5, into: context, stack.entity)
      let second = context.insertedObjects
      #expect(first.count == 3 && second.count == 5 && first.isSubset(of: second))
      #expect(second == Set(context.insertedObjects))
    }
  }
}
