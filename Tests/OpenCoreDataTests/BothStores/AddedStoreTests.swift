import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores

// Rule (RowStore): a coordinator takes any store that conforms, and what the store does not take is an error that says
// so.

@Suite("A coordinator takes a store of another kind")
struct AddedStoreTests {
  private let stack: Stack
  init() throws { stack = try Stack(TemporaryFolder(), kind: .bruteForce) }

  private final class Idle: SaveParticipant {
    func write(to transaction: SaveTransaction) throws {}
  }

  private func save(_ numbers: Range<Int>) throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(numbers, into: context, stack.entity)
      try context.save()
    }
  }

  private var count: Int {
    get throws {
      let context = stack.context()
      return try context.performAndWait { try context.count(for: stack.request()) }
    }
  }

  @Test("It is one of the coordinator's stores until it is removed")
  func adding() throws {
    let store = try #require(stack.coordinator.persistentStores.first)
    #expect(store.type == "BruteForce" && store.url == nil && store.persistentStoreCoordinator === stack.coordinator)
    let again = #expect(throws: NSError.self) { try stack.coordinator.addPersistentStore(store.rowStore) }
    #expect(again?.code == NSPersistentStoreOpenError)
    #expect(stack.coordinator.persistentStores.count == 1)
  }

  @Test("A removed store is closed")
  func removal() throws {
    try save(0..<2)
    let store = try #require(stack.coordinator.persistentStores.first)
    try stack.coordinator.remove(store)
    #expect(stack.coordinator.persistentStores.isEmpty)
    let query = FetchQuery(entity: stack.entity)
    let error = #expect(throws: NSError.self) { try store.rowStore.read(nil) { try $0.count(query) } }
    #expect(error?.code == NSPersistentStoreOperationError)
  }

  @Test("A save with participants that it does not take is error 134070 and saves nothing")
  func participants() throws {
    let participant = Idle()
    stack.coordinator.addSaveParticipant(participant)
    let error = #expect(throws: NSError.self) { try save(0..<2) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreOperationError)
    #expect(error?.localizedDescription.contains("participants") == true)
    #expect(try count == 0)
    let read = #expect(throws: NSError.self) { try stack.coordinator.participantRows("SELECT 1") }
    #expect(read?.code == NSPersistentStoreOperationError)
    stack.coordinator.removeSaveParticipant(participant)
    try save(0..<2)
    #expect(try count == 2)
  }

  @Test("Its metadata is saved with the next save, unless a value is none of a property list")
  func metadata() throws {
    let store = try #require(stack.coordinator.persistentStores.first)
    #expect(store.metadata[NSStoreTypeKey] as? String == "BruteForce")
    #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    stack.coordinator.setMetadata(["note": "swell"], for: store)
    #expect(store.rowStore.hasUnsavedMetadata)
    try save(0..<1)
    #expect(!store.rowStore.hasUnsavedMetadata && store.metadata["note"] as? String == "swell")
    #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    stack.coordinator.setMetadata(["note": NSObject()], for: store)
    let error = #expect(throws: NSError.self) { try save(1..<2) }
    #expect(error?.code == NSCoreDataError)
    #expect(try count == 1)
  }
}
