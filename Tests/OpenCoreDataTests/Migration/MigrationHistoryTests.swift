import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (docs/coredata-format.md, "Persistent history"): a change names its entity by number and its properties by the
// position of their names. Keys and the store's UUID stay in an inferred migration, so its history stays true.

/// A store that tracks its history.
struct HistoryBench {
  let file: URL
  let model: NSManagedObjectModel
  let context: NSManagedObjectContext
  private let coordinator: NSPersistentStoreCoordinator
  static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

  init(_ file: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any] = [:]) throws {
    (self.file, self.model) = (file, model)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: Self.tracking.merging(options) { $1 })
    context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  func close() throws {
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  var token: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: nil) }

  func transactions(after token: NSPersistentHistoryToken?) throws -> [NSPersistentHistoryTransaction] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    let result = try context.performAndWait { try context.execute(request) as? NSPersistentHistoryResult }
    return try #require(result?.result as? [NSPersistentHistoryTransaction])
  }

  /// Each change as its transaction, kind, entity, key, changed properties and kept values.
  func changes(
    after token: NSPersistentHistoryToken? = nil, entity: (String) -> String? = { $0 },
    property: (String, String) -> String? = { $1 }
  ) throws -> [String] {
    try transactions(after: token).flatMap { transaction in
      (transaction.changes ?? []).compactMap { change -> String? in
        let name = change.changedObjectID.entity.name ?? ""
        guard let shown = entity(name) else { return nil }
        let updated = change.updatedProperties?.compactMap { property(name, $0.name) }.sorted() ?? []
        let kept = (change.tombstone ?? [:]).compactMap { key, value in
          property(name, "\(key)").map { "\($0)=\(value)" }
        }
        let key = change.changedObjectID.uriRepresentation().lastPathComponent
        return "\(transaction.transactionNumber) \(change.changeType) \(shown) \(key) \(updated) \(kept.sorted())"
      }
    }
  }
}

@Suite("An inferred migration keeps the persistent history", .seeded)
struct MigrationHistoryTests {
  private static let old = """
    <entity name="Board"><attribute name="kind" optional="YES" attributeType="String" preserveAfterDeletion="YES"/>
      <attribute name="name" optional="YES" attributeType="String" preserveAfterDeletion="YES"/>
      <attribute name="size" optional="YES" attributeType="Double"/></entity>
    <entity name="Gone"><attribute name="x" optional="YES" attributeType="String"/></entity>
    <entity name="Rider"><attribute name="age" optional="YES" attributeType="Integer 16"/></entity>
    """
  private static let new = """
    <entity name="Aerial"><attribute name="x" optional="YES" attributeType="String"/></entity>
    <entity name="Plank" elementID="Board"><attribute name="added" optional="YES" attributeType="String"
        preserveAfterDeletion="YES"/>
      <attribute name="brand" elementID="name" optional="YES" attributeType="String" preserveAfterDeletion="YES"/>
      <attribute name="size" optional="YES" attributeType="Double"/>
      <attribute name="type" elementID="kind" optional="YES" attributeType="String" preserveAfterDeletion="YES"/></entity>
    <entity name="Rider"><attribute name="age" optional="YES" attributeType="Integer 16"/>
      <attribute name="aaa" optional="YES" attributeType="Integer 16"/></entity>
    """

  private let folder: TemporaryFolder
  private var file: URL { folder.file("store.sqlite") }
  init() throws { folder = try TemporaryFolder() }

  /// - Returns: The token after the first transaction.
  private func fill(_ model: NSManagedObjectModel) throws -> NSPersistentHistoryToken? {
    let bench = try HistoryBench(file, model)
    func insert(_ entity: String, _ values: [String: Any]) throws -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: bench.context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      return object
    }
    let token = try bench.context.performAndWait {
      let board = try insert("Board", ["kind": "fish", "name": "log", "size": 9.5])
      let rider = try insert("Rider", ["age": 4])
      _ = try insert("Gone", ["x": "y"])
      try bench.context.save()
      let token = bench.token
      board.setValue("gun", forKey: "name")
      rider.setValue(5, forKey: "age")
      try bench.context.save()
      bench.context.delete(board)
      try bench.context.save()
      return token
    }
    try bench.close()
    return token
  }

  @Test("Renamed entities and properties, kept values, transactions, and a token of before")
  func names() throws {
    let old = try migrationModel(Self.old)
    let token = try fill(old)
    let bench = try HistoryBench(file, migrationModel(Self.new), options: MigrationBench.options([old]))
    // The order of the entities in a transaction is arbitrary.
    let changes = try bench.changes().sorted()
    #expect(
      changes == [
        "1 insert Plank p1 [] []", "1 insert Rider p1 [] []", #"2 update Plank p1 ["brand"] []"#,
        #"2 update Rider p1 ["age"] []"#, #"3 delete Plank p1 [] ["brand=gun", "type=fish"]"#,
      ])
    #expect(try bench.transactions(after: token).map(\.transactionNumber) == [2, 3])
    try bench.context.performAndWait {
      let plank = NSEntityDescription.insertNewObject(forEntityName: "Plank", into: bench.context)
      plank.setValue("new", forKey: "brand")
      try bench.context.save()
    }
    #expect(try bench.transactions(after: token).map(\.transactionNumber) == [2, 3, 4])
    try bench.close()
    let strangers = "SELECT count(*) FROM ACHANGE WHERE ZENTITY NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY)"
    #expect(try sqlite(file, strangers) == "0")
    #expect(try sqlite(file, "PRAGMA integrity_check") == "ok")
  }

  @Test("Changes of an entity that becomes abstract are removed, and the others can be read")
  func abstract() throws {
    let old = try migrationModel(Self.old)
    _ = try fill(old)
    let new = Self.old.replacing("<entity name=\"Board\">", with: "<entity name=\"Board\" isAbstract=\"YES\">")
    let bench = try HistoryBench(file, migrationModel(new), options: MigrationBench.options([old]))
    #expect(
      try bench.changes().sorted() == [
        "1 insert Gone p1 [] []", "1 insert Rider p1 [] []", #"2 update Rider p1 ["age"] []"#,
      ])
    try bench.close()
  }

  @Test("Tables without rows, as newer frameworks make them in every store, do not matter to any migration")
  func empty() throws {
    let old = try migrationModel(Self.old)
    try HistoryBench(file, old).close()
    try sqlite(file, "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_ENT > 16000")
    let new = try migrationModel(Self.new)
    let mapping = NSMappingModel()
    mapping.entityMappings = [entityMapping("R", from: "Rider", to: "Rider", attributes: ["age": "$source.age"])]
    try NSMigrationManager(sourceModel: old, destinationModel: new)
      .migrateStore(from: file, with: mapping, toDestinationURL: folder.file("custom.sqlite"))
    try HistoryBench(file, new, options: MigrationBench.options([old])).close()
    #expect(try sqlite(file, "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == "3")
  }

  @Test("Policies give objects new keys: a store with a history is refused until it is deleted, as the error says")
  func policies() throws {
    let (old, new) = (try migrationModel(Self.old), try migrationModel(Self.new))
    _ = try fill(old)
    let mapping = NSMappingModel()
    mapping.entityMappings = [entityMapping("R", from: "Rider", to: "Rider", attributes: ["age": "$source.age"])]
    func migrate() throws {
      try NSMigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: file, with: mapping, toDestinationURL: folder.file("custom.sqlite"))
    }
    let error = #expect(throws: NSError.self) { try migrate() }
    #expect(error?.localizedDescription.contains("deleteHistory(before:)") == true)
    let bench = try HistoryBench(file, old)
    _ = try bench.context.performAndWait {
      try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    }
    try bench.close()
    try migrate()
    #expect(try sqlite(folder.file("custom.sqlite"), "SELECT ZAGE FROM ZRIDER") == "5")
  }

  @Test("A change of an entity that the source model does not have is refused, and the store stays")
  func strangers() throws {
    let old = try migrationModel(Self.old)
    _ = try fill(old)
    try sqlite(file, "UPDATE ACHANGE SET ZENTITY = 77 WHERE Z_PK = 2")
    let before = try sqlite(file, ".dump")
    let new = try migrationModel(Self.new)
    let error = #expect(throws: NSError.self) {
      try HistoryBench(file, new, options: MigrationBench.options([old]))
    }
    #expect(error?.localizedDescription.contains("1 changes in its history") == true)
    #expect(try sqlite(file, ".dump") == before)
  }

  @Test("Changes without a transaction, which no request reads, go when the history is deleted as the error says")
  func orphans() throws {
    let (old, new) = (try migrationModel(Self.old), try migrationModel(Self.new))
    _ = try fill(old)
    try sqlite(
      file,
      "UPDATE ACHANGE SET ZENTITY = 77, ZTRANSACTIONID = 99 WHERE Z_PK = 2; "
        + "UPDATE ACHANGE SET ZTRANSACTIONID = NULL WHERE Z_PK = 3")
    let mapping = NSMappingModel()
    mapping.entityMappings = [entityMapping("R", from: "Rider", to: "Rider", attributes: ["age": "$source.age"])]
    func migrate() throws {
      try NSMigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: file, with: mapping, toDestinationURL: folder.file("custom.sqlite"))
    }
    for attempt in [migrate, { _ = try HistoryBench(file, new, options: MigrationBench.options([old])) }] {
      let error = #expect(throws: NSError.self) { try attempt() }
      #expect(error?.localizedDescription.contains("deleteHistory(before:)") == true)
    }
    let bench = try HistoryBench(file, old)
    _ = try bench.context.performAndWait {
      try bench.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    }
    try bench.close()
    #expect(try sqlite(file, "SELECT count(*) FROM ACHANGE") == "0")
    try migrate()
    try HistoryBench(file, new, options: MigrationBench.options([old])).close()
  }

  // MARK: Random changes

  /// The changes before and after a random migration. Parts of the model are named by their identities.
  private func carried(seed: UInt64, spoil: String? = nil) throws -> (before: [String], after: [String]) {
    var random = SeededGenerator(seed: seed)
    let former = FuzzModel.random(&random)
    var changed = former
    for _ in 0..<Int.random(in: 1...6, using: &random) { changed.change(&random) }
    let (old, new) = (former.build(keepsTombstones: true), changed.build(after: former, keepsTombstones: true))
    let bench = try HistoryBench(file, old)
    try Self.edit(bench.context, &random)
    let kept = Set(changed.entities.map(\.id))
    let before = try bench.changes(
      entity: { former.identity(ofEntity: $0).flatMap { kept.contains($0) ? "\($0)" : nil } },
      property: { former.identity(of: $1, in: $0, keptIn: changed) })
    try bench.close()
    let later = try HistoryBench(file, new, options: MigrationBench.options([old]))
    if let spoil { try sqlite(file, spoil) }
    let after = try later.changes(
      entity: { changed.identity(ofEntity: $0).map(String.init) },
      property: { changed.identity(of: $1, in: $0, keptIn: former) })
    try later.close()
    return (before, after)
  }

  private static func edit(_ context: NSManagedObjectContext, _ random: inout SeededGenerator) throws {
    try context.performAndWait {
      let entities = (context.persistentStoreCoordinator?.managedObjectModel.entities ?? [])
        .sorted { ($0.name ?? "") < ($1.name ?? "") }
      var objects: [NSManagedObject] = []
      for _ in 0..<6 {
        for _ in 0..<4 {
          let entity = entities[Int.random(in: 0..<entities.count, using: &random)]
          objects.append(NSManagedObject(entity: entity, insertInto: context))
        }
        for object in objects where Bool.random(using: &random) {
          for name in object.entity.attributesByName.keys.sorted() where Bool.random(using: &random) {
            object.setValue(Int.random(in: 0..<1000, using: &random), forKey: name)
          }
        }
        try context.save()
        let deleted = objects.remove(at: Int.random(in: 0..<objects.count, using: &random))
        context.delete(deleted)
        try context.save()
      }
    }
  }

  @Test(
    "After random changes of the model the history says what it said before", arguments: Randomness.seeds(6, long: 800)
  )
  func random(seed: UInt64) throws {
    let (before, after) = try carried(seed: seed)
    #expect(before == after && !before.isEmpty, "seed \(seed)")
  }

  @Test("Changed bits, numbers and keys are seen")
  func canary() throws {
    for spoil in ["UPDATE ACHANGE SET ZCOLUMNS = NULL", "UPDATE ACHANGE SET ZENTITYPK = ZENTITYPK + 1"] {
      let seen = try (1...4).contains { seed in
        for name in try folder.names { try FileManager.default.removeItem(at: folder.file(name)) }
        let (before, after) = try carried(seed: UInt64(seed), spoil: spoil)
        return before != after
      }
      #expect(seen, "\(spoil)")
    }
  }
}

extension FuzzModel {
  fileprivate func identity(ofEntity name: String) -> Int? { entities.first { $0.name == name }?.id }

  /// The identity of a property of an entity that an entity of the same identity has in the other version too.
  fileprivate func identity(of property: String, in entity: String, keptIn other: FuzzModel) -> String? {
    guard let id = identity(ofEntity: entity) else { return nil }
    func identities(_ model: FuzzModel) -> [String: String] {
      let attributes = model.attributes(id).map { ($0.name, "a\($0.id)") }
      let links = model.links(id).map { ($0.name, "l\($0.id)") }
      let inverses = model.entities.flatMap(\.links).filter { model.isKind(id, of: $0.destination) }
        .map { (Self.inverseName($0), "i\($0.id)") }
      return Dictionary(attributes + links + inverses, uniquingKeysWith: { first, _ in first })
    }
    guard let found = identities(self)[property], identities(other).values.contains(found) else { return nil }
    return found
  }
}
