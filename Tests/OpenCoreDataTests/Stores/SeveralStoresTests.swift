import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSPersistentStoreCoordinator; NSManagedObjectContext.assign(_:to:);
// NSPersistentStoreRequest.affectedStores; NSManagedObjectContext.h on the store of new objects): objects of an entity
// go to the first writable store that keeps it, unless they are assigned to another; fetches see all stores, or those
// that the request names; a save reaches all stores or none.

@Suite("Several stores behind one coordinator read as one, and a save reaches all of them or none")
struct SeveralStoresTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("New objects go where they were assigned, or to the first store with their entity", arguments: [1, 2, 3])
  func assignment(levels: Int) throws {
    let stores = try TwoStores(folder)
    var chain = [stores.context()]
    while chain.count < levels { chain.append(stores.context(chain[chain.count - 1])) }
    let top = chain[levels - 1]
    let ids = try top.performAndWait {
      let objects = (0..<6).map { number in
        stores.insert("s\(number)", into: number.isMultiple(of: 2) ? stores.b : nil, top)
      }
      let note = NSManagedObject.make(stores.note, in: top)
      top.delete(objects[3])
      for context in chain.reversed() { try context.performAndWait { try context.save() } }
      return (objects + [note]).map(\.objectID)
    }
    #expect(try stores.places() == ["s1,s5", "s0,s2,s4"])
    #expect(try sqlite(stores.fileB, "SELECT count(*) FROM ZNOTE") == "1")
    let hosts = ids.map { $0.uriRepresentation().host }
    let (a, b) = (stores.a.identifier, stores.b.identifier)
    #expect(hosts == [b, a, b, nil, b, a, b] || hosts == [b, a, b, "", b, a, b])
    #expect(
      ids[0].uriRepresentation().lastPathComponent == "p1" && ids[5].uriRepresentation().lastPathComponent == "p2")
    #expect(stores.coordinator.managedObjectID(forURIRepresentation: ids[4].uriRepresentation()) == ids[4])
    let reader = stores.context()
    try reader.performAndWait {
      let found = try [4, 5].map { try reader.existingObject(with: ids[$0]).place }
      #expect(found == ["s4", "s5"])
    }
  }

  @Test("A batch goes to one store whole")
  func bulk() throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stores.session)
      try context.save()
    }
    #expect(try stores.places() == ["Spot 0,Spot 1,Spot 2", ""])
  }

  @Test("IDs obtained before the save are of the store that was assigned, and stay")
  func obtained() throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    try context.performAndWait {
      let objects = [stores.insert("one", context), stores.insert("two", into: stores.b, context)]
      stores.insert("three", context)
      try context.obtainPermanentIDs(for: objects)
      let ids = objects.map(\.objectID)
      #expect(ids.map(\.storeIdentity?.uuid) == [stores.a.identifier, stores.b.identifier])
      try context.save()
      #expect(objects.map(\.objectID) == ids)
    }
    #expect(try stores.places() == ["one,three", "two"])
  }

  struct Slice: Sendable, CustomTestStringConvertible {
    let key: String?
    let ascending: Bool
    let (limit, offset): (Int, Int)
    var testDescription: String { "\(key ?? "no order") \(ascending ? "up" : "down"), \(limit) from \(offset)" }
  }

  static let slices = [nil, "rating", "place"].flatMap { key in
    [true, false].flatMap { ascending in
      [(0, 0), (3, 0), (4, 3), (0, 5), (5, 30)].map {
        Slice(key: key, ascending: ascending, limit: $0.0, offset: $0.1)
      }
    }
  }

  @Test("Fetches, counts and walks over two stores are those of one with the rows of both", .seeded, arguments: slices)
  func union(slice: Slice) throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    try context.performAndWait {
      var random = Randomness.generator()
      for number in 0..<20 {
        stores.insert("p\(number % 7)", rating: number % 4, into: Bool.random(using: &random) ? stores.b : nil, context)
      }
      try context.save()
      let everything = try context.fetch(stores.request())
      #expect(everything.count == 20)
      // Stable, and the stores one after the other: what the answers must agree with.
      var expected = everything
      if let key = slice.key {
        expected = everything.enumerated().sorted { left, right in
          let values = [left, right].map { "\($0.element.value(forKey: key) ?? "")" }
          if values[0] != values[1] { return (values[0] < values[1]) == slice.ascending }
          return left.offset < right.offset
        }.map(\.element)
      }
      let slicedIDs = Array(expected.dropFirst(slice.offset).prefix(slice.limit > 0 ? slice.limit : 20)).map(\.objectID)
      let request = stores.request()
      request.fetchLimit = slice.limit
      request.fetchOffset = slice.offset
      request.sortDescriptors = slice.key.map { [NSSortDescriptor(key: $0, ascending: slice.ascending)] }
      #expect(try context.fetch(request).map(\.objectID) == slicedIDs)
      #expect(try context.count(for: request) == slicedIDs.count)
      var walked: [NSManagedObjectID] = []
      var places: [String?] = []
      try context.walk(request, rowsPerBatch: 3) { batch, ids in
        walked += Array(ids)
        let slot = try #require(stores.session.slot(named: "place"))
        for row in 0..<batch.count { places.append(batch.value(row: row, slot: slot).plain as? String) }
        return true
      }
      #expect(walked == slicedIDs)
      #expect(places == slicedIDs.map { context.object(with: $0).place })
      request.fetchBatchSize = 2
      #expect(try context.fetch(request).map(\.place) == places)
    }
  }

  @Test("A request that names stores sees those only, and the new objects that will go there")
  func affected() throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    try context.performAndWait {
      stores.insert("a", context)
      let b = stores.insert("b", into: stores.b, context)
      try context.save()
      func places(_ affected: [NSPersistentStore]?) throws -> [String?] {
        let request = stores.request()
        request.affectedStores = affected
        #expect(try context.count(for: request) == context.fetch(request).count)
        return try context.fetch(request).map(\.place).sorted { $0 ?? "" < $1 ?? "" }
      }
      #expect(try places([stores.a]) == ["a"] && places([stores.b]) == ["b"] && places([]) == [])
      stores.insert("new in a", context)
      stores.insert("new in b", into: stores.b, context)
      b.setValue("b changed", forKey: "place")
      #expect(try places([stores.a]) == ["a", "new in a"])
      #expect(try places([stores.b]) == ["b changed", "new in b"])
      #expect(try places(nil).count == 4)
      let notes = stores.request("Note")
      notes.affectedStores = [stores.a]
      #expect(try context.fetch(notes).isEmpty)
    }
  }

  @Test("What one store refuses is written to none, and the error names the objects of all stores")
  func allOrNothing() throws {
    let stores = try TwoStores(folder, unique: ["place"])
    let context = stores.context()
    try context.performAndWait {
      stores.insert("taken", context)
      stores.insert("taken", into: stores.b, context)
      try context.save()
      let a = stores.insert("taken", context)
      let b = stores.insert("taken", into: stores.b, context)
      let fine = stores.insert("free", into: stores.b, context)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      let failed = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
      #expect(Set(failed ?? []) == [a.objectID, b.objectID])
      #expect(try stores.places() == ["taken", "taken"] && fine.objectID.isTemporaryID)
      a.setValue("one", forKey: "place")
      b.setValue("two", forKey: "place")
      try context.save()
    }
    #expect(try stores.places() == ["taken,one", "taken,two,free"])
  }

  @Test("A store that is locked by another program keeps the others unwritten")
  func locked() throws {
    let stores = try TwoStores(folder, optionsOfA: [NSPersistentStoreTimeoutOption: 0.05])
    let other = try SQLiteConnection(path: stores.fileA.path, mode: .readWrite)
    let context = stores.context()
    try context.performAndWait {
      let objects = [stores.insert("a", context), stores.insert("b", into: stores.b, context)]
      try other.execute("BEGIN IMMEDIATE")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSPersistentStoreTimeoutError)
      #expect(try stores.places() == ["", ""] && objects.allSatisfy(\.objectID.isTemporaryID))
      try other.execute("ROLLBACK")
      try context.save()
      for object in objects { object.setValue(4, forKey: "rating") }
      try context.save()
      context.delete(objects[0])
      try context.save()
    }
    #expect(try stores.places() == ["", "b"])
    #expect(try sqlite(stores.fileB, "SELECT ZRATING, Z_OPT FROM ZSESSION") == "4|2")
  }

  private final class Diary: SaveParticipant {
    func write(to transaction: SaveTransaction) throws {
      try transaction.execute("CREATE TABLE IF NOT EXISTS diary(inserted, deleted)")
      try transaction.execute("INSERT INTO diary VALUES(?, ?)", [transaction.insertedCount, transaction.deletedCount])
      if transaction.deletedCount > 0 { throw NSError.coreData(.save, "The diary is full.") }
    }
  }

  @Test("Save participants write into the first store that can be written, and are notified of the whole save")
  func participants() throws {
    let stores = try TwoStores(folder)
    stores.coordinator.addSaveParticipant(Diary())
    let context = stores.context()
    try context.performAndWait {
      stores.insert("b", into: stores.b, context)
      let second = stores.insert("b too", into: stores.b, context)
      try context.save()
      #expect(try sqlite(stores.fileA, "SELECT * FROM diary") == "2|0")
      context.delete(second)
      #expect(throws: NSError.self) { try context.save() }
    }
    #expect(try stores.places() == ["", "b,b too"])
  }

  @Test("Stores that can't be written are passed over, and written to only with an error")
  func readOnly() throws {
    do { _ = try TwoStores(folder) }
    let stores = try TwoStores(folder, optionsOfA: [NSReadOnlyPersistentStoreOption: true])
    let context = stores.context()
    try context.performAndWait {
      stores.insert("by itself", context)
      try context.save()
      stores.insert("forced", into: stores.a, context)
      #expect(throws: NSError.self) { try context.save() }
    }
    #expect(try stores.places() == ["", "by itself"])
  }

  @Test("The same file, or a copy of it, can't be added twice")
  func twice() throws {
    let stores = try TwoStores(folder)
    let copy = folder.file("copy.sqlite")
    try stores.coordinator.checkpoint()
    try FileManager.default.copyItem(at: stores.fileB, to: copy)
    let link = folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: stores.fileB)
    for url in [stores.fileB, folder.url.appendingPathComponent("x/../b.sqlite"), link, copy] {
      let error = #expect(throws: NSError.self) {
        try stores.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
      }
      #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains("twice") == true)
    }
    #expect(stores.coordinator.persistentStores.count == 2)
    #expect(stores.coordinator.persistentStore(for: link) === stores.b)
  }

  @Test("Objects of a store that was removed read as deleted; those of the others do not notice")
  func removal() throws {
    let stores = try TwoStores(folder)
    let context = stores.context()
    try context.performAndWait {
      let a = stores.insert("a", context)
      let b = stores.insert("b", into: stores.b, context)
      try context.save()
      for object in [a, b] { context.refresh(object, mergeChanges: false) }
      try stores.coordinator.remove(stores.b)
      #expect(a.place == "a")
      #expect(b.place == nil && b.isDeleted)
      #expect(try context.fetch(stores.request()).map(\.place) == ["a"])
      #expect(throws: NSError.self) { try context.fetch(stores.request("Note")) }
      #expect(throws: NSError.self) { try context.existingObject(with: b.objectID) }
      try stores.coordinator.remove(stores.a)
      #expect(throws: NSError.self) { try stores.coordinator.remove(stores.a) }
      context.refresh(a, mergeChanges: false)
      #expect(a.place == nil && a.isDeleted)
    }
  }

  @Test("A store in memory works next to one in a file")
  func inMemory() throws {
    let stores = try TwoStores(folder)
    let memory = try stores.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(memory.metadata[NSStoreTypeKey] as? String == NSInMemoryStoreType)
    let context = stores.context()
    try context.performAndWait {
      stores.insert("kept", context)
      let passing = stores.insert("passing", into: memory, context)
      try context.save()
      #expect(try context.count(for: stores.request()) == 2)
      #expect(passing.objectID.storeIdentity === memory.identity)
      var walked = 0
      try context.walk(stores.request()) { batch, _ in
        walked += batch.count
        return true
      }
      #expect(walked == 2)
    }
    #expect(try stores.places() == ["kept", ""])
  }
}
