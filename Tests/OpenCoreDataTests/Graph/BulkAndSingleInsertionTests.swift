import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: bulk insertion and single insertion have the same result. Paused between levels, read, edited, deleted and
// rolled back, rows inserted by a batch behave as if inserted one by one. Every test here runs both ways and compares
// the stores.

@Suite("Bulk insertion and single insertion can't be distinguished", .overBothStores)
struct BulkAndSingleInsertionTests {
  /// Saves each context of a chain, the child first.
  private func save(_ contexts: NSManagedObjectContext...) throws {
    for context in contexts { try context.performAndWait { try context.save() } }
  }

  @Test("Through a chain of three, in file order and without gaps")
  func chain() throws {
    let count = try onBothWays { way, stack in
      let (writer, middle, child) = stack.chain()
      for chunk in 0..<3 {
        child.performAndWait { way.insert((chunk * 50)..<(chunk * 50 + 50), into: child, stack.entity) }
        try save(child, middle, writer)
      }
      return try stack.sqlite("SELECT count(*), min(Z_PK), max(Z_PK) FROM ZSESSION")
    }
    #expect(count == "150|1|150")
  }

  @Test("Paused between the levels, each context shows exactly what it has")
  func pausedBetweenLevels() throws {
    let shown = try onBothWays { way, stack -> [[Int]] in
      let (writer, middle, child) = stack.chain()
      let all = [child, middle, writer]
      func look() throws -> [Int] {
        try all.flatMap { context in
          try context.performAndWait {
            [
              context.insertedObjects.count, context.hasChanges ? 1 : 0, try context.count(for: stack.request()),
            ]
          }
        }
      }
      child.performAndWait { way.insert(0..<10, into: child, stack.entity) }
      var seen = [try look()]
      for context in all {
        try save(context)
        seen.append(try look())
      }
      return seen
    }
    #expect(
      shown == [
        [10, 1, 10, 0, 0, 0, 0, 0, 0], [0, 0, 10, 10, 1, 10, 0, 0, 0], [0, 0, 10, 0, 0, 10, 10, 1, 10],
        [0, 0, 10, 0, 0, 10, 0, 0, 10],
      ])
  }

  @Test("An object tells what was set and what there was before, here and where it was handed to")
  func changedValues() throws {
    let reported = try onBothWays { way, stack -> [[String]] in
      let parent = stack.context()
      let child = stack.context(parent)
      child.performAndWait { way.insert(0..<2, into: child, stack.entity) }
      func look(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
          let object = try #require(context.fetch(stack.request()).last)
          return ["\(object.hasPersistentChangedValues)"] + object.changedValues().keys.sorted()
            + object.committedValues(forKeys: nil).map { "\($0.key) was \($0.value)" }.sorted()
        }
      }
      let before = try look(child)
      try save(child)
      let after = [try look(child), try look(parent)]
      try save(parent)
      return [before] + after + [try look(parent)]
    }
    // What was never committed has no committed values.
    let inserted = ["true", "date", "place", "rating"]
    #expect(reported[0] == inserted && reported[2] == inserted)
    #expect(reported[1] == reported[3] && reported[1].first == "false" && !reported[1].contains("date"))
  }

  @Test("A sibling's fetch sees pending rows of the parent, filtered, sorted and cut")
  func siblingFetch() throws {
    let places = try onBothWays { way, stack -> [String] in
      let (_, middle, child) = stack.chain()
      child.performAndWait { way.insert(0..<20, into: child, stack.entity) }
      try save(child)
      let sibling = stack.context(middle)
      return try sibling.performAndWait {
        let request = stack.request()
        request.predicate = NSPredicate(format: "rating >= %d AND place CONTAINS[c] %@", 3, "SPOT 1")
        request.sortDescriptors = [
          NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "date", ascending: true),
        ]
        request.fetchOffset = 1
        request.fetchLimit = 4
        return try sibling.fetch(request).compactMap(\.place)
      }
    }
    #expect(places == ["Spot 19", "Spot 13", "Spot 18", "Spot 12"])
  }

  @Test("An edit of one pending object, at any level, reaches the disk", arguments: 0..<3)
  func editAtLevel(level: Int) throws {
    let row = try onBothWays { way, stack -> String in
      let (writer, middle, child) = stack.chain()
      let contexts = [child, middle, writer]
      child.performAndWait { way.insert(0..<30, into: child, stack.entity) }
      for context in contexts[..<level] { try save(context) }
      try contexts[level].performAndWait {
        let request = stack.request()
        request.predicate = NSPredicate(format: "place == %@", "Spot 17")
        let object = try #require(try contexts[level].fetch(request).first)
        #expect(object.isInserted)
        object.setValue("Edited, \"17\"", forKey: "place")
        object.setValue(nil, forKey: "date")
      }
      for context in contexts[level...] { try save(context) }
      return try stack.sqlite("SELECT Z_PK, Z_OPT, ZDATE IS NULL, ZPLACE FROM ZSESSION WHERE ZRATING = 3 AND Z_PK = 18")
    }
    #expect(row == "18|1|1|Edited, \"17\"")
  }

  @Test("An edit in a child of an object that is pending in the parent reaches the disk")
  func editInChild() throws {
    let row = try onBothWays { way, stack -> String in
      let writer = stack.context()
      writer.performAndWait { way.insert(0..<5, into: writer, stack.entity) }
      let child = stack.context(writer)
      try child.performAndWait {
        let object = try #require(try child.fetch(stack.request()).first { $0.place == "Spot 2" })
        #expect(!object.isInserted && object.objectID.isTemporaryID)
        object.setValue("From the child", forKey: "place")
        #expect(object.isUpdated)
        try child.save()
      }
      #expect(writer.performAndWait { writer.insertedObjects.count } == 5)
      #expect(writer.performAndWait { writer.updatedObjects.isEmpty })
      try save(writer)
      return try stack.sqlite("SELECT Z_PK, Z_OPT FROM ZSESSION WHERE ZPLACE = 'From the child'")
    }
    #expect(row == "3|1")
  }

  @Test("Deleted pending rows leave no gap, wherever they are deleted", arguments: 0..<3)
  func deletion(level: Int) throws {
    let rows = try onBothWays { way, stack -> String in
      let (writer, middle, child) = stack.chain()
      let contexts = [child, middle, writer]
      child.performAndWait { way.insert(0..<6, into: child, stack.entity) }
      for context in contexts[..<level] { try save(context) }
      let context = contexts[level]
      try context.performAndWait {
        for object in try context.fetch(stack.request()) where ["Spot 0", "Spot 3"].contains(object.place) {
          context.delete(object)
        }
        #expect(context.deletedObjects.isEmpty)
        #expect(try context.count(for: stack.request()) == 4)
      }
      for context in contexts[level...] { try save(context) }
      return try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION")
    }
    #expect(rows == "1|Spot 1\n2|Spot 2\n3|Spot 4\n4|Spot 5")
  }

  @Test("A rollback at any level takes back what is pending there and nothing else", arguments: 0..<3)
  func rollback(level: Int) throws {
    let counts = try onBothWays { way, stack -> [Int] in
      let (writer, middle, child) = stack.chain()
      let contexts = [child, middle, writer]
      writer.performAndWait { way.insert(100..<103, into: writer, stack.entity) }
      try save(writer)
      child.performAndWait { way.insert(0..<10, into: child, stack.entity) }
      for context in contexts[..<level] { try save(context) }
      contexts[level].performAndWait { contexts[level].rollback() }
      for context in contexts[level...] { try save(context) }
      return try contexts.map { context in try context.performAndWait { try context.count(for: stack.request()) } }
    }
    #expect(counts == [3, 3, 3])
  }

  @Test("IDs obtained before the save stay, and the others follow in order")
  func obtainedIDs() throws {
    let rows = try onBothWays { way, stack -> String in
      let writer = stack.context()
      try writer.performAndWait {
        way.insert(0..<5, into: writer, stack.entity)
        let object = try #require(try writer.fetch(stack.request()).first { $0.place == "Spot 3" })
        try writer.obtainPermanentIDs(for: [object])
        #expect(!object.objectID.isTemporaryID && object.isInserted)
        #expect(writer.registeredObject(for: object.objectID) === object)
        try writer.save()
      }
      return try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION")
    }
    #expect(rows == "1|Spot 3\n2|Spot 0\n3|Spot 1\n4|Spot 2\n5|Spot 4")
  }

  @Test("Notifications say the same at every level")
  func notifications() throws {
    let seen = try onBothWays { way, stack -> [String] in
      let (writer, middle, child) = stack.chain()
      let log = NotificationLog([child, middle, writer])
      child.perform { way.insert(0..<4, into: child, stack.entity) }
      try save(child, middle, writer)
      return log.lines
    }
    #expect(
      seen == [
        "0 change inserted 4", "0 willSave", "0 didSave inserted 4", "0 didSaveIDs inserted_objectIDs 4",
        "1 change inserted 4", "1 willSave", "1 didSave inserted 4", "1 didSaveIDs inserted_objectIDs 4",
        "2 change inserted 4", "2 willSave", "2 didSave inserted 4", "2 didSaveIDs inserted_objectIDs 4",
      ])
  }

  @Test("A class's lifecycle methods are called for every object")
  func lifecycle() throws {
    let name = "OpenCoreDataTests.HookedSession"
    let calls = try onBothWays(model: { Sessions.model(className: name) }) { way, stack -> [String: Int] in
      HookedSession.calls.reset()
      let (writer, middle, child) = stack.chain()
      child.performAndWait { way.insert(0..<7, into: child, stack.entity) }
      try save(child, middle, writer)
      #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION WHERE ZPLACE LIKE '%!'") == "7")
      return HookedSession.calls.counts
    }
    #expect(calls == ["awakeFromInsert": 7, "willSave": 21, "validateForInsert": 21, "didSave": 21])
  }

  @Test("After a save nothing of it stays alive")
  func nothingStays() throws {
    _ = try onBothWays { way, stack -> Int in
      let (writer, middle, child) = stack.chain()
      weak var kept: NSManagedObject?
      try child.performAndWait {
        way.insert(0..<20, into: child, stack.entity)
        kept = child.insertedObjects.first
        #expect(kept != nil)
        try child.save()
      }
      #expect(kept == nil)
      try save(middle, writer)
      for context in [child, middle, writer] {
        context.performAndWait {
          #expect(context.registeredObjects.isEmpty)
          context.graph.adoptPermanentIDs()
          #expect(context.graph.insertions.segments.isEmpty && context.graph.unresolvedIDs.isEmpty)
        }
      }
      return 0
    }
  }
}
