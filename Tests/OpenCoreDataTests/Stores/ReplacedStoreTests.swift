import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rule: a WAL is written back into the file only as far as readers permit (SQLite: Write-Ahead Logging, "Checkpointing").
// Until then, what is on the disk is the file of one store with the WAL of another.

@Suite("A store that is replaced while others read it is readable after a power failure")
struct ReplacedStoreTests {
  private static let entity =
    "<entity name=\"Rider\"><attribute name=\"NAME\" optional=\"YES\" attributeType=\"String\"/></entity>"
  private static func model(_ name: String) throws -> NSManagedObjectModel {
    try migrationModel(entity.replacingOccurrences(of: "NAME", with: name))
  }

  private let bench: MigrationBench
  private var file: URL { bench.file }
  private static let sign = ".store.sqlite-migration"

  init() throws {
    bench = try MigrationBench(
      old: Self.model("name"),
      rows: "INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 1, 1, 'Ann'); UPDATE Z_PRIMARYKEY SET Z_MAX = 1;")
  }

  /// Runs `body` while another connection reads the state before it.
  ///
  /// - Returns: What a power failure then leaves: a copy without the WAL index, which is never synced.
  private func withReader(_ body: () throws -> Void) throws -> TemporaryFolder {
    try sqlite(file, "PRAGMA journal_mode = WAL")
    let reader = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { reader.close() }
    try reader.execute("BEGIN; SELECT count(*) FROM ZRIDER")
    _ = try reader.integer("SELECT count(*) FROM ZRIDER")
    try body()
    #expect(try reader.rows("SELECT ZNAME FROM ZRIDER") == [[.text("Ann")]])
    let image = try TemporaryFolder()
    for name in try bench.folder.names where !name.hasSuffix("-shm") {
      try FileManager.default.copyItem(at: bench.folder.file(name), to: image.file(name))
    }
    try reader.execute("COMMIT")
    return image
  }

  /// - Parameter isEmpty: Whether no store is there any more, so that only a new one can be made.
  private func expect(
    _ image: TemporaryFolder, _ model: NSManagedObjectModel, query: String, found: String, isEmpty: Bool = false
  ) throws {
    // The canary: without the sign nothing shows that the WAL is the store's.
    let mixed = try TemporaryFolder()
    for name in try image.names where name != Self.sign {
      try FileManager.default.copyItem(at: image.file(name), to: mixed.file(name))
    }
    let refusal = #expect(throws: NSError.self) {
      try MigrationBench.add(mixed.file("store.sqlite"), model: model, options: nil)
    }
    #expect(refusal?.code == NSPersistentStoreOpenError)

    for folder in [image, bench.folder] {
      let store = folder.file("store.sqlite")
      if !isEmpty { try MigrationBench.add(store, model: model, options: [NSReadOnlyPersistentStoreOption: true]) }
      try MigrationBench.add(store, model: model, options: nil)
      #expect(try sqlite(store, query) == found)
      #expect(!folder.exists(Self.sign))
    }
  }

  @Test("A migration by a mapping model, which gives the store a new UUID")
  func migration() throws {
    let new = try Self.model("first")
    let mapping = NSMappingModel()
    mapping.entityMappings = [entityMapping("R", from: "Rider", to: "Rider", attributes: ["first": "$source.name"])]
    var options = MigrationBench.options([bench.old])
    options[OCDMappingModelsOption] = [mapping]
    let image = try withReader { try MigrationBench.add(file, model: new, options: options) }
    try expect(image, new, query: "SELECT ZFIRST FROM ZRIDER", found: "Ann")
  }

  @Test("Two migrations, the second of which begins before the WAL is written back")
  func twice() throws {
    let (second, third) = (try Self.model("first"), try Self.model("given"))
    func migrate(_ model: NSManagedObjectModel, from old: NSManagedObjectModel, _ attributes: [String: String?]) throws
    {
      let mapping = NSMappingModel()
      mapping.entityMappings = [entityMapping("R", from: "Rider", to: "Rider", attributes: attributes)]
      var options = MigrationBench.options([old])
      options[OCDMappingModelsOption] = [mapping]
      try MigrationBench.add(file, model: model, options: options)
    }
    let image = try withReader {
      try migrate(second, from: bench.old, ["first": "$source.name"])
      let failing = "FUNCTION($entityPolicy, \"no:\", $source.first)"
      #expect(throws: (any Error).self) { try migrate(third, from: second, ["given": failing]) }
      let (left, own) = (try TemporaryFolder(), bench.folder)
      for name in try own.names where !name.hasSuffix("-shm") {
        try FileManager.default.copyItem(at: own.file(name), to: left.file(name))
      }
      try MigrationBench.add(left.file("store.sqlite"), model: second, options: nil)
      try migrate(third, from: second, ["given": "uppercase($source.first)"])
    }
    try expect(image, third, query: "SELECT ZGIVEN FROM ZRIDER", found: "ANN")
  }

  @Test("Replacing one store by another")
  func replacing() throws {
    let other = try MigrationBench(
      old: bench.old,
      rows: "INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 1, 1, 'Bob'); UPDATE Z_PRIMARYKEY SET Z_MAX = 1;")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bench.old)
    let image = try withReader {
      try coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: other.file, type: .sqlite)
    }
    try expect(image, bench.old, query: "SELECT ZNAME FROM ZRIDER", found: "Bob")
  }

  @Test("A replacement that fails leaves no sign")
  func failing() throws {
    let other = try MigrationBench(old: bench.old, rows: "SELECT 1")
    let writer = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { writer.close() }
    try writer.execute("BEGIN IMMEDIATE")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bench.old)
    let error = #expect(throws: NSError.self) {
      try coordinator.replacePersistentStore(
        at: file, destinationOptions: [NSPersistentStoreTimeoutOption: 0.05], withPersistentStoreFrom: other.file,
        type: .sqlite)
    }
    #expect(error?.code == NSPersistentStoreTimeoutError)
    #expect(!bench.folder.exists(Self.sign))
  }

  @Test("Destroying a store")
  func destroying() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bench.old)
    let image = try withReader { try coordinator.destroyPersistentStore(at: file, type: .sqlite) }
    try expect(image, bench.old, query: "SELECT count(*) FROM ZRIDER", found: "0", isEmpty: true)
  }
}
