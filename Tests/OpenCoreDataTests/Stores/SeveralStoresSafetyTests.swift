import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext.obtainPermanentIDs(for:), "the object's store"; detectConflicts(for:);
// NSMergePolicy.resolve(constraintConflicts:)): an ID names the store that the object is in; a store that is only read
// is in no save's way; conflicts are between objects of one store.

@Suite("Stores of one coordinator do not get in each other's way")
struct SeveralStoresSafetyTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("An object meant for a store that was removed is not written to another one", arguments: [true, false])
  func removed(hasID: Bool) throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    try context.performAndWait {
      let object = stores.insert("for b", into: stores.b, context)
      if hasID { try context.obtainPermanentIDs(for: [object]) }
      try stores.coordinator.remove(stores.b)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSPersistentStoreSaveError)
      #expect(try stores.places() == ["", ""])
      if !hasID {
        #expect(throws: NSError.self) { try context.obtainPermanentIDs(for: [object]) }
        context.assign(object, to: stores.a)
        try context.save()
        #expect(try stores.places() == ["for b", ""])
      }
    }
  }

  @Test("A conflict is with the object of the same store, though another store gave the same key")
  func conflictsByStore() throws {
    let stores = try TwoStores(folder, unique: ["place"])
    let context = stores.context()
    try context.performAndWait {
      stores.insert("taken", rating: 1, context)
      try context.save()
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let other = stores.insert("of b", rating: 2, into: stores.b, context)
      stores.insert("taken", rating: 3, context)
      try context.obtainPermanentIDs(for: [other])
      try context.save()
    }
    #expect(try stores.places() == ["taken", "of b"])
    #expect(try sqlite(stores.fileA, "SELECT Z_PK, ZRATING FROM ZSESSION") == "1|3")
  }

  @Test(
    "An object of a store that is only read can be looked after by a save to another one", arguments: [true, false])
  func checksInReadOnlyStore(changes: Bool) throws {
    do {
      let stores = try TwoStores(folder)
      let context = stores.context()
      try context.performAndWait {
        stores.insert("read", context)
        try context.save()
      }
    }
    let stores = try TwoStores(folder, optionsOfA: [NSReadOnlyPersistentStoreOption: true])
    let context = stores.context()
    try context.performAndWait {
      context.detectConflicts(for: try #require(context.fetch(stores.request()).first))
      if changes { try sqlite(stores.fileA, "UPDATE ZSESSION SET Z_OPT = Z_OPT + 1") }
      stores.insert("written", context)
      if changes {
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
      } else {
        try context.save()
      }
    }
    #expect(try stores.places() == ["read", changes ? "" : "written"])
  }

  private final class Counter: SaveParticipant {
    let store: NSPersistentStore
    init(_ store: NSPersistentStore) { self.store = store }
    func write(to transaction: SaveTransaction) throws { store.metadata["runs"] = transaction.insertedCount }
  }

  @Test("Metadata that a save participant sets is not lost", arguments: [false, true])
  func metadataOfParticipants(otherStore: Bool) throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    let counter = Counter(otherStore ? stores.b : stores.a)
    stores.coordinator.addSaveParticipant(counter)
    try context.performAndWait {
      stores.insert("one", into: stores.a, context)
      stores.insert("two", into: stores.b, context)
      try context.save()
      stores.coordinator.removeSaveParticipant(counter)
      try context.save()
    }
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: otherStore ? stores.fileB : stores.fileA)
    #expect((found["runs"] as? NSNumber)?.intValue == 2)
  }
}
