import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSMergePolicy): a save that the store refuses leaves store and contexts as they were and
// names every object at fault; version conflicts are reported before constraint violations; without the objects at
// fault the rest is saved with keys that have no gaps.

@Suite("A save that the store refuses names every object at fault and changes nothing", .overBothStores)
struct SaveFailureTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Something in the store's file that the model knows nothing of.
  enum Obstacle: String, CaseIterable, Sendable {
    case uniqueIndex = "CREATE UNIQUE INDEX once ON ZSESSION(ZRATING)"
    case notNull = """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = replace(sql, 'ZPLACE VARCHAR', 'ZPLACE VARCHAR NOT NULL') WHERE name = 'ZSESSION'
      """
    case abortingTrigger = """
      CREATE TRIGGER refuses BEFORE INSERT ON ZSESSION WHEN NEW.ZRATING = 5 BEGIN SELECT RAISE(ABORT, 'five'); END
      """

    /// The numbers of the sessions 0..<12 that it refuses, when number 3 and number 7 have no place.
    var refused: [Int] {
      switch self {
      case .uniqueIndex: Array(5..<12)
      case .notNull: [3, 7]
      case .abortingTrigger: [4, 9]
      }
    }
    var code: Int { self == .uniqueIndex ? NSManagedObjectConstraintMergeError : NSSQLiteError }
  }

  @Test(
    "Every object at fault is named, in one chunk or several, and the rest can be saved",
    .sqliteOnly("The obstacles are of the file alone"), arguments: Obstacle.allCases)
  func obstacles(obstacle: Obstacle) throws {
    for chunk in [12, 5] {
      let dump = try onBothWays { way, stack -> String in
        try stack.sqlite(obstacle.rawValue)
        // The schema was changed behind an open connection's back.
        try stack.reopen()
        let writer = stack.context()
        let child = stack.context(writer)
        try child.performAndWait {
          for start in stride(from: 0, to: 12, by: chunk) {
            way.insert(start..<min(start + chunk, 12), into: child, stack.entity)
            try child.save()
          }
        }
        try writer.performAndWait {
          let pending = try writer.fetch(stack.request())
          for number in [3, 7] { pending[number].setValue(nil, forKey: "place") }
          let error = #expect(throws: NSError.self) { try writer.save() }
          #expect(error?.domain == NSCocoaErrorDomain && error?.code == obstacle.code)
          let ids = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
          #expect(ids == obstacle.refused.map { pending[$0].objectID })
          #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == ids.count)
          #expect(
            error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == obstacle.refused.map { pending[$0] })
          #expect(writer.insertedObjects.count == 12)
          #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY") == "0\n0")
          for id in ids { writer.delete(writer.object(with: id)) }
          try writer.save()
        }
        return try stack.sqlite("SELECT count(*), min(Z_PK), max(Z_PK) FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY")
      }
      let left = 12 - obstacle.refused.count
      #expect(dump == "\(left)|1|\(left)\n\(left)")
    }
  }

  @Test(
    "Insertions, changes and deletions at fault are named together", .sqliteOnly("A trigger of the file refuses a row"))
  func allKinds() throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["rating"]))
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stack.entity)
      try context.save()
      try stack.sqlite(
        "CREATE TRIGGER keeps BEFORE DELETE ON ZSESSION WHEN OLD.ZRATING = 3 BEGIN SELECT RAISE(ABORT, 'kept'); END")
      let objects = try context.fetch(stack.request())
      objects[0].setValue(2, forKey: "rating")
      context.delete(objects[2])
      let new = NSManagedObject.make(stack.entity, in: context)
      new.setValue(2, forKey: "rating")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSSQLiteError, "not all of them are matters of uniqueness")
      let ids = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
      #expect(ids.map(Set.init) == Set([objects[0], objects[2], new].map(\.objectID)))
      #expect(objects[0].isUpdated && objects[2].isDeleted && new.isInserted)
      context.rollback()
      #expect(!context.hasChanges && objects[0].value(forKey: "rating") as? Int == 1)
    }
    #expect(try stack.sqlite("SELECT ZRATING, Z_OPT FROM ZSESSION") == "1|1\n2|1\n3|1")
  }

  @Test("A unique value may pass from a deleted object to a changed or a new one in one save")
  func valuePassedOn() throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["place"]))
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      context.delete(objects[0])
      context.delete(objects[1])
      objects[2].setValue("Spot 0", forKey: "place")
      NSManagedObject.make(stack.entity, in: context).setValue("Spot 1", forKey: "place")
      try context.save()
    }
    #expect(try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION") == "3|Spot 0\n4|Spot 1")
  }

  @Test("Changed objects may pass unique values on and exchange them in one save", arguments: [true, false])
  func valuesExchanged(isAscending: Bool) throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["place"]))
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<8, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      // Each takes the value of its neighbour, all but two; those exchange theirs.
      for row in 0..<5 {
        objects[isAscending ? row : 4 - row].setValue("Spot \(isAscending ? row + 1 : 3 - row)", forKey: "place")
      }
      objects[isAscending ? 5 : 0].setValue("new", forKey: "place")
      objects[6].setValue("Spot 7", forKey: "place")
      objects[7].setValue("Spot 6", forKey: "place")
      NSManagedObject.make(stack.entity, in: context)
        .setValue(isAscending ? "Spot 0" : "Spot 4", forKey: "place")
      try context.save()
    }
    let first =
      isAscending
      ? ["Spot 1", "Spot 2", "Spot 3", "Spot 4", "Spot 5", "new"]
      : ["new", "Spot 0", "Spot 1", "Spot 2", "Spot 3", "Spot 5"]
    let expected = first + ["Spot 7", "Spot 6", isAscending ? "Spot 0" : "Spot 4"]
    #expect(
      try stack.sqlite("SELECT ZPLACE FROM ZSESSION ORDER BY Z_PK").split(separator: "\n").map(String.init) == expected)
    let changed = isAscending ? "2,2,2,2,2,2,2,2,1" : "2,2,2,2,2,1,2,2,1"
    #expect(try stack.sqlite("SELECT group_concat(Z_OPT) FROM (SELECT Z_OPT FROM ZSESSION ORDER BY Z_PK)") == changed)
  }

  @Test("A value that another row keeps is refused although others exchange theirs, and nothing is written")
  func valueKept() throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["place"]))
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<4, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      objects[0].setValue("Spot 1", forKey: "place")
      objects[1].setValue("Spot 0", forKey: "place")
      objects[2].setValue("Spot 3", forKey: "place")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      #expect(error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] == [objects[2].objectID])
    }
    #expect(
      try stack.sqlite("SELECT ZPLACE, Z_OPT FROM ZSESSION ORDER BY Z_PK")
        == "Spot 0|1\nSpot 1|1\nSpot 2|1\nSpot 3|1")
  }

  @Test("A conflict of versions is reported before a constraint, and refreshing resolves it")
  func conflictFirst() throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["rating"]))
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      for (number, object) in objects.enumerated() { object.setValue("mine \(number)", forKey: "place") }
      context.delete(objects[2])
      try stack.sqlite("UPDATE ZSESSION SET Z_OPT = 7, ZPLACE = 'theirs' WHERE Z_PK <> 2")
      NSManagedObject.make(stack.entity, in: context).setValue(1, forKey: "rating")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      let ids = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
      #expect(ids.map(Set.init) == Set([objects[0].objectID, objects[2].objectID]))
      context.refresh(objects[0], mergeChanges: true)
      context.rollback()
      #expect(objects[0].place == "theirs" && objects[1].place == "Spot 1")
    }
  }

  @Test("Deleting what another deleted already is not a conflict")
  func deletedByBoth() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<1, into: context, stack.entity)
      try context.save()
      let object = try #require(try context.fetch(stack.request()).first)
      context.delete(object)
      try stack.sqlite("DELETE FROM ZSESSION")
      try context.save()
      #expect(!context.hasChanges)
    }
  }

  @Test("Broken rules of the model name their objects too, and nothing goes up", arguments: InsertionWay.allCases)
  func modelRules(way: InsertionWay) throws {
    let stack = try Stack(folder, model: Sessions.model { $0.attributesByName["rating"]?.maximumValue = 3 })
    let writer = stack.context()
    let child = stack.context(writer)
    child.performAndWait {
      way.insert(0..<10, into: child, stack.entity)
      let error = #expect(throws: NSError.self) { try child.save() }
      #expect(error?.code == NSValidationMultipleErrorsError)
      let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      #expect(details.map(\.code) == Array(repeating: NSValidationNumberTooLargeError, count: 4))
      let ids = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
      #expect(ids?.compactMap(\.batchRow) == [3, 4, 8, 9])
      #expect(details.allSatisfy { $0.userInfo[NSValidationKeyErrorKey] as? String == "rating" })
      #expect(details.compactMap { $0.userInfo[NSValidationValueErrorKey] as? Int } == [4, 5, 4, 5])
      #expect(child.insertedObjects.count == 10)
    }
    #expect(writer.performAndWait { !writer.hasChanges })
  }

  @Test(
    "The keys of an early asking that failed are given to others, not twice",
    .sqliteOnly("Another program locks the file"))
  func obtainingFails() throws {
    let stack = try Stack(folder)
    try stack.reopen([NSPersistentStoreTimeoutOption: NSNumber(value: 0)])
    let context = stack.context()
    try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      let other = try SQLiteConnection(path: stack.file.path, mode: .readWrite)
      try other.execute("BEGIN IMMEDIATE")
      let error = #expect(throws: NSError.self) { try context.obtainPermanentIDs(for: [object]) }
      #expect(error?.code == NSPersistentStoreTimeoutError && object.objectID.isTemporaryID)
      try other.execute("ROLLBACK")
      try context.obtainPermanentIDs(for: [object])
      #expect(object.objectID.uriRepresentation().lastPathComponent == "p1")
    }
  }
}

extension Stack {
  /// Closes the store and opens it again, with `options`.
  func reopen(_ options: [AnyHashable: Any]? = nil) throws {
    try coordinator.remove(coordinator.persistentStores[0])
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
  }
}
