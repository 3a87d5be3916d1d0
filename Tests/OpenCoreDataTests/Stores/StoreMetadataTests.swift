import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import SystemSupport
import TestSupport
import Testing

// Rules (Apple documentation: NSPersistentStoreCoordinator.metadata(for:), setMetadata(_:for:) "does not change the
// information on disk until the store is actually saved", metadataForPersistentStore(ofType:at:options:); notifications
// of NSPersistentStoreCoordinator; store options).

@Suite("Stores keep metadata, tell of their coming and going, and take options")
struct StoreMetadataTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
  }

  private func onDisk() throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: stack.file)
  }

  @Test("Metadata that is set reaches the file with the next save, with or without changes", arguments: [true, false])
  func saved(withChanges: Bool) throws {
    let store = stack.coordinator.persistentStores[0]
    let uuid = store.identifier
    stack.coordinator.setMetadata(["author": "Ann", "count": 3], for: store)
    #expect(store.metadata["author"] as? String == "Ann" && store.metadata[NSStoreUUIDKey] as? String == uuid)
    #expect(try onDisk()["author"] == nil)
    let context = stack.context()
    try context.performAndWait {
      if withChanges { InsertionWay.single.insert(0..<1, into: context, stack.entity) }
      try context.save()
    }
    let found = try onDisk()
    #expect(found["author"] as? String == "Ann" && (found["count"] as? NSNumber)?.intValue == 3)
    #expect(found[NSStoreUUIDKey] as? String == uuid && found[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    let model = stack.coordinator.managedObjectModel
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: found))
    store.metadata = [:]
    try context.performAndWait { try context.save() }
    #expect(try onDisk()["author"] == nil)
    try stack.reopen()
    #expect(stack.coordinator.persistentStores[0].metadata[NSStoreUUIDKey] as? String == uuid)
  }

  @Test("Metadata of a save that fails waits for the next one; what is not a property list never gets there")
  func failing() throws {
    let store = stack.coordinator.persistentStores[0]
    let context = stack.context()
    store.metadata["author"] = "Ann"
    store.metadata["odd"] = NSObject()
    let error = #expect(throws: NSError.self) { try context.performAndWait { try context.save() } }
    #expect(error?.code == NSCoreDataError && error?.localizedDescription.contains("odd") == true)
    #expect(try onDisk()["author"] == nil)
    store.metadata["odd"] = nil
    try context.performAndWait { try context.save() }
    #expect(try onDisk()["author"] as? String == "Ann")
  }

  @Test("Metadata of a store that is not open can be read and changed")
  func closed() throws {
    let uuid = stack.coordinator.persistentStores[0].identifier
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    let bytes = try Data(contentsOf: stack.file)
    _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.file)
    #expect(try Data(contentsOf: stack.file) == bytes, "reading leaves no trace")
    try NSPersistentStoreCoordinator.setMetadata(
      ["author": "Bob"], forPersistentStoreOfType: NSSQLiteStoreType, at: stack.file)
    let found = try onDisk()
    #expect(found["author"] as? String == "Bob" && found[NSStoreUUIDKey] as? String == uuid)
    try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    #expect(stack.coordinator.persistentStores[0].metadata["author"] as? String == "Bob")
    #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.file("none"))
    }
    #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSInMemoryStoreType, at: stack.file)
    }
  }

  /// What a coordinator posted: names with the keys and stores of their user info.
  private final class Log: Sendable {
    private let lines = Locked<[String]>([])
    func add(_ note: Notification) {
      let stores = (note.userInfo ?? [:]).map { key, value in
        "\(key) "
          + ((value as? [NSPersistentStore]) ?? []).map { $0.url?.lastPathComponent ?? "memory" }.joined(separator: " ")
      }
      let name = note.name.rawValue.replacingOccurrences(of: "NSPersistentStoreCoordinator", with: "")
        .replacingOccurrences(of: "Notification", with: "")
      lines.withLock { $0.append("\(name): \(stores.sorted().joined(separator: ", "))") }
    }
    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }; return lines
      }
    }
  }

  @Test("A coordinator tells before and after its stores change, and never when they don't")
  func notifications() throws {
    let log = Log()
    let names: [Notification.Name] = [
      .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
      .NSPersistentStoreCoordinatorWillRemoveStore,
    ]
    let tokens = names.map {
      NotificationCenter.default.addObserver(forName: $0, object: stack.coordinator, queue: nil) { log.add($0) }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("two.sqlite"))
    #expect(log.take() == ["StoresWillChange: added two.sqlite", "StoresDidChange: added two.sqlite"])
    #expect(throws: NSError.self) {
      try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    }
    #expect(log.take() == [])
    let third = try stack.coordinator.migratePersistentStore(
      second, to: folder.file("three.sqlite"), withType: NSSQLiteStoreType)
    #expect(
      log.take() == [
        "WillRemoveStore: removed two.sqlite", "StoresWillChange: changedUUID two.sqlite",
        "StoresDidChange: changedUUID two.sqlite three.sqlite",
      ])
    try stack.coordinator.remove(third)
    #expect(
      log.take() == [
        "WillRemoveStore: removed three.sqlite", "StoresWillChange: removed three.sqlite",
        "StoresDidChange: removed three.sqlite",
      ])
  }

  @Test("A store is analysed and vacuumed while it opens, where the options ask for it")
  func maintenance() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<5000, into: context, stack.entity)
      try context.save()
      for object in try context.fetch(stack.request()) { context.delete(object) }
      try context.save()
    }
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    #expect(try Int(sqlite(stack.file, "PRAGMA freelist_count")) ?? 0 > 10)
    try sqlite(stack.file, "CREATE INDEX places ON ZSESSION(ZPLACE)")
    try stack.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file,
      options: [NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true])
    #expect(
      try sqlite(stack.file, "PRAGMA freelist_count; SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'Z_METADATA'")
        == "0\n1")
  }

  @Test("A store of another version is opened as it is where the option says so")
  func versions() throws {
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    let newer = Sessions.model { entity in entity.versionHashModifier = "2" }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
    func add(_ options: [AnyHashable: Any]?) throws {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file, options: options)
    }
    let error = #expect(throws: NSError.self) { try add(nil) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    try add([NSIgnorePersistentStoreVersioningOption: true])
  }
}
