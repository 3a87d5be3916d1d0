import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (SDK headers and Apple documentation: NSManagedObjectID, NSManagedObjectContext): temporary IDs until a save
// reaches the store, then every context of the chain sees the same permanent ID; registeredObject never reads,
// object(with:) gives a fault without reading, existingObject(with:) reads and throws if there is none.

@Suite("An object has one identity, temporary until a save reaches the store", .overBothStores)
struct IdentityTests {
  private let stack: Stack
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  @Test("After the root's save every context of the chain answers with the same permanent ID")
  func permanentEverywhere() throws {
    let (writer, middle, child) = stack.chain()
    let mine = child.performAndWait { NSManagedObject.make(stack.entity, in: child) }
    let temporary = mine.objectID
    #expect(temporary.isTemporaryID && mine.isInserted)
    try child.performAndWait { try child.save() }
    #expect(mine.objectID == temporary && !mine.isInserted)
    let inMiddle = middle.performAndWait { middle.object(with: temporary) }
    #expect(inMiddle.isInserted && inMiddle.objectID == temporary)
    try middle.performAndWait { try middle.save() }
    try writer.performAndWait { try writer.save() }
    let permanent = mine.objectID
    #expect(!permanent.isTemporaryID && permanent != temporary)
    #expect(inMiddle.objectID == permanent)
    for context in [child, middle, writer] {
      context.performAndWait {
        let byOld = context.object(with: temporary)
        #expect(byOld.objectID == permanent)
        #expect(context.object(with: permanent) === byOld, "one object per identity, by either ID")
      }
    }
    #expect(child.performAndWait { child.object(with: permanent) } === mine)
  }

  @Test("URIs have Core Data's form, and a permanent one leads back to the object")
  func uris() throws {
    let context = stack.context()
    try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      #expect(
        object.objectID.uriRepresentation().absoluteString.wholeMatch(of: /x-coredata:\/\/\/Session\/t[0-9A-F-]{36}/)
          != nil)
      try context.save()
      let uri = object.objectID.uriRepresentation()
      #expect(uri.absoluteString == "x-coredata://\(stack.coordinator.persistentStores[0].identifier)/Session/p1")
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == object.objectID)
    }
    for text in ["x-coredata:///Session/t1", "x-coredata://AB/Session/p1", "https://a/b", "x-coredata://AB/None/p1"] {
      let uri = try #require(URL(string: text))
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == nil, "\(text)")
    }
  }

  @Test("Looking up never reads where it need not, and tells what is missing where it must")
  func lookups() throws {
    let context = stack.context()
    let id = try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      object.setValue("here", forKey: "place")
      try context.save()
      return object.objectID
    }
    let other = stack.context()
    try other.performAndWait {
      #expect(other.registeredObject(for: id) == nil)
      let fault = other.object(with: id)
      #expect(fault.isFault && other.registeredObject(for: id) === fault)
      let same = try other.existingObject(with: id)
      #expect(same === fault && !same.isFault && same.place == "here")
      let gone = NSManagedObjectID(entity: stack.entity, store: stack.coordinator.persistentStores[0].identity, key: 99)
      let error = #expect(throws: NSError.self) { try other.existingObject(with: gone) }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
      let inaccessible = other.object(with: gone)
      #expect(inaccessible.isFault)
      #expect(inaccessible.place == nil && inaccessible.isDeleted, "shouldDeleteInaccessibleFaults")
    }
  }

  @Test("IDs are values: equal and hashed by what they stand for")
  func values() throws {
    let store = stack.coordinator.persistentStores[0].identity
    let one = NSManagedObjectID(entity: stack.entity, store: store, key: 1)
    let same = NSManagedObjectID(entity: stack.entity, store: store, key: 1)
    let range = TemporaryIDRange(count: 2, of: stack.entity)
    let temporary = NSManagedObjectID(range: range, row: 1)
    #expect(one == same && one.hash == same.hash)
    #expect(Set([one, same, temporary]).count == 2)
    #expect(temporary != NSManagedObjectID(range: range, row: 0))
  }

  @Test("Rows removed and keys obtained early are left out when a range gets its keys")
  func resolution() {
    let range = TemporaryIDRange(count: 6, of: stack.entity)
    let store = StoreIdentity(uuid: "U", rootEntityNumbers: ["Session": 1])
    range.obtain(3, row: 4, from: store)
    range.resolve(.init(store: store, firstKey: 10, removedRows: [0, 2]))
    #expect((0..<6).map { range.permanent(row: $0)?.key } == [nil, 10, nil, 11, 3, 12])
  }
}
