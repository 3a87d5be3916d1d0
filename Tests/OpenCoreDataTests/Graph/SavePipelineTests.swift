import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, save): a save moves changes up one level and no further; a save
// without changes does nothing; a save that fails changes nothing, anywhere.

@Suite("A save goes one level up, whole or not at all", .overBothStores)
struct SavePipelineTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("Nothing reaches the disk before the context on the coordinator saves")
  func oneLevel() throws {
    let stack = try Stack(folder)
    let (writer, middle, child) = stack.chain()
    child.performAndWait { InsertionWay.single.insert(0..<3, into: child, stack.entity) }
    for context in [child, middle] {
      try context.performAndWait { try context.save() }
      #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "0")
    }
    try writer.performAndWait { try writer.save() }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "3")
  }

  @Test("A save without changes posts nothing, writes nothing and leaves versions alone")
  func noChanges() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
      let log = NotificationLog([context])
      try context.save()
      let object = try #require(try context.fetch(stack.request()).first)
      let place = object.place
      object.setValue("other", forKey: "place")
      object.setValue(place, forKey: "place")
      try context.save()
      #expect(log.lines.filter { $0.contains("didSave inserted") }.isEmpty)
    }
    #expect(try stack.sqlite("SELECT Z_OPT FROM ZSESSION") == "1")
  }

  @Test("An update counts the row's version up by one and writes only what changed")
  func updates() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<2, into: context, stack.entity)
      try context.save()
      let object = try #require(try context.fetch(stack.request()).first)
      for value in 2...4 {
        object.setValue(value, forKey: "rating")
        try context.save()
      }
    }
    #expect(try stack.sqlite("SELECT Z_OPT, ZRATING, ZPLACE FROM ZSESSION") == "4|4|Spot 0\n1|2|Spot 1")
  }

  @Test("Deleted objects are gone after the save, and their keys are not used again")
  func deletes() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<3, into: context, stack.entity)
      try context.save()
      let object = try #require(try context.fetch(stack.request()).last)
      context.delete(object)
      #expect(object.isDeleted && context.deletedObjects == [object])
      #expect(try context.count(for: stack.request()) == 2)
      try context.save()
      #expect(object.managedObjectContext == nil)
      InsertionWay.single.insert(7..<8, into: context, stack.entity)
      try context.save()
    }
    #expect(try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION") == "1|Spot 0\n2|Spot 1\n4|Spot 7")
  }

  @Test(
    "A constraint names every object at fault, and nothing of the save is in the store",
    arguments: InsertionWay.allCases)
  func constraint(way: InsertionWay) throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["rating"]))
    let (writer, middle, child) = stack.chain()
    try child.performAndWait {
      way.insert(0..<8, into: child, stack.entity)
      try child.save()
    }
    try middle.performAndWait { try middle.save() }
    try writer.performAndWait {
      let error = #expect(throws: NSError.self) { try writer.save() }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectConstraintMergeError)
      let ids = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
      // Ratings repeat from the sixth session on.
      #expect(ids?.compactMap(\.batchRow) == [5, 6, 7])
      #expect(
        (error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject])?.compactMap(\.place) == [
          "Spot 5", "Spot 6", "Spot 7",
        ])
      #expect(writer.insertedObjects.count == 8, "a failed save keeps the changes")
      #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY") == "0\n0")
      for id in ids ?? [] { writer.delete(writer.object(with: id)) }
      try writer.save()
    }
    #expect(
      try stack.sqlite("SELECT count(*), max(Z_PK) FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY") == "5|5\n5")
  }

  @Test(
    "A full disk, a locked file and a read-only store are errors of Core Data's that say what to do",
    .sqliteOnly("About the file"))
  func storeErrors() throws {
    let full = try Stack(folder, "full.sqlite")
    try full.coordinator.remove(full.coordinator.persistentStores[0])
    let pragmas = NSMutableDictionary()
    pragmas[NSString(string: "max_page_count")] = NSNumber(value: 12)
    try full.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: full.file, options: [NSSQLitePragmasOption: pragmas])
    let context = full.context()
    context.performAndWait {
      InsertionWay.bulk.insert(0..<5000, into: context, full.entity)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSPersistentStoreSaveError)
      #expect((error?.userInfo[NSSQLiteErrorDomain] as? NSNumber)?.intValue == 13)
      context.rollback()
      #expect(!context.hasChanges)
    }
    #expect(try sqlite(full.file, "SELECT count(*) FROM ZSESSION; PRAGMA integrity_check") == "0\nok")

    let readOnly = NSPersistentStoreCoordinator(managedObjectModel: full.coordinator.managedObjectModel)
    try readOnly.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: full.file,
      options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    let reader = NSManagedObjectContext(concurrencyType: .privateQueue)
    reader.persistentStoreCoordinator = readOnly
    reader.performAndWait {
      InsertionWay.single.insert(0..<1, into: reader, full.entity)
      let error = #expect(throws: NSError.self) { try reader.save() }
      #expect(error?.code == NSPersistentStoreSaveError)
    }
  }

  @Test("A store that another program has locked is error 134090", .sqliteOnly("About the file"))
  func locked() throws {
    let stack = try Stack(folder)
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    try stack.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file,
      options: [NSPersistentStoreTimeoutOption: NSNumber(value: 0.1)])
    let other = try SQLiteConnection(path: stack.file.path, mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    let context = stack.context()
    context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSPersistentStoreTimeoutError)
    }
    try other.execute("ROLLBACK")
    try context.performAndWait { try context.save() }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "1")
  }

  @Test(
    "Two coordinators that change one row: the later save is a merge error, not a lost change",
    .sqliteOnly("Two coordinators share the file"))
  func optimisticLocking() throws {
    let stack = try Stack(folder)
    let first = stack.context()
    try first.performAndWait {
      InsertionWay.single.insert(0..<1, into: first, stack.entity)
      try first.save()
    }
    let secondStack = try Stack(folder)
    let second = secondStack.context()
    try second.performAndWait {
      let object = try #require(try second.fetch(secondStack.request()).first)
      object.setValue("second", forKey: "place")
      try first.performAndWait {
        let mine = try #require(try first.fetch(stack.request()).first)
        mine.setValue("first", forKey: "place")
        try first.save()
      }
      let error = #expect(throws: NSError.self) { try second.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      second.refresh(object, mergeChanges: true)
      #expect(object.place == "second")
      try second.save()
    }
    #expect(try stack.sqlite("SELECT Z_OPT, ZPLACE FROM ZSESSION") == "3|second")
  }
}
