import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rules: as for SQLite stores (MigrationFuzzTests has any mixture of changes on both). A migration is whole or was not begun,
// and what other people have made at the tables stays, or the migration is refused.

@Suite("A store in PostgreSQL is migrated", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerMigrationTests {
  private let store: ServerStore
  private let new: NSManagedObjectModel

  init() throws {
    store = try ServerStore()
    new = try Self.model()
  }

  /// A renamed attribute, a removed and a new one, and an inverse that becomes to-many.
  private static func model(_ replacements: [(String, String)] = []) throws -> NSManagedObjectModel {
    let changes =
      [
        (#"<attribute name="place""#, #"<attribute name="spotName" elementID="place""#),
        (
          #"<attribute name="large" optional="YES" attributeType="Integer 64"/>"#,
          #"<attribute name="wind" attributeType="Integer 16" defaultValueString="7"/>"#
        ),
      ] + replacements
    let xml = changes.reduce(ServerStore.xml) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    return try NSManagedObjectModel.load(xml: Data(xml.utf8))
  }

  private func options(_ others: [AnyHashable: Any] = [:]) -> [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      OCDSourceModelsOption: [store.model],
    ].merging(others) { $1 }
  }

  @discardableResult
  private func open(
    _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?, at address: URL? = nil
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: address ?? store.address, options: options)
    return coordinator
  }

  /// The tables with their rows, and what belongs to them.
  private func dump() throws -> String {
    let server = try #require(PostgreSQLServer.shared)
    return try Programs.run(
      "/usr/bin/env", ["pg_dump", "-n", store.schema], environment: server.environment
    )
    // Newer versions write a random word.
    .text.split(separator: "\n").filter { !$0.contains("restrict ") }.joined(separator: "\n")
  }

  @Test("Objects keep their keys, versions and values, and new keys follow")
  func objects() throws {
    let before = try store.coordinator()
    let uuid = before.persistentStores.first?.identifier
    try ServerStore.save(["Rincon", "Malibu"], before)
    _ = try store.psql(#"DELETE FROM "ZSESSION" WHERE "Z_PK" = 2"#)
    let coordinator = try open(new, options())
    #expect(coordinator.persistentStores.first?.identifier == uuid)
    #expect(try store.psql("SELECT id, version, spotname, wind FROM session") == "1|1|Rincon|7")
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Session", into: context).setValue("new", forKey: "spotName")
      try context.save()
    }
    #expect(try store.psql(#"SELECT "Z_PK" FROM "ZSESSION" WHERE "ZSPOTNAME" = 'new'"#) == "65537")
    #expect(try open(new, nil).persistentStores.first?.identifier == uuid)
  }

  @Test("The tables, indexes, sequences and views are those of a new store")
  func layout() throws {
    try open(store.model, nil)
    try open(new, options())
    let other = try ServerStore()
    try open(new, nil, at: other.address)
    let query = """
      SELECT string_agg(text, E'\n' ORDER BY text) FROM (
        SELECT relkind::text || ' ' || relname AS text FROM pg_class WHERE relnamespace = current_schema()::regnamespace
          AND relkind <> 'i'
        UNION ALL SELECT 'c ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable
          || coalesce(collation_name, '') FROM information_schema.columns WHERE table_schema = current_schema()
        UNION ALL SELECT 'i ' || regexp_replace(replace(indexdef, current_schema(), ''), '_pkey[0-9]*', '')
          FROM pg_indexes WHERE schemaname = current_schema()
        UNION ALL SELECT 'f ' || conrelid::regclass || pg_get_constraintdef(oid) FROM pg_constraint
          WHERE connamespace = current_schema()::regnamespace AND contype = 'f') found
      """
    #expect(try store.psql(query) == other.psql(query))
  }

  @Test("Without the options another version of the model is refused, with advice")
  func withoutOptions() throws {
    try ServerStore.save(["kept"], try store.coordinator())
    let error = #expect(throws: NSError.self) { try open(new, [OCDSourceModelsOption: [store.model]]) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(error?.localizedRecoverySuggestion?.contains("NSMigratePersistentStoresAutomaticallyOption") == true)
    let reading = #expect(throws: NSError.self) { try open(new, options([NSReadOnlyPersistentStoreOption: true])) }
    #expect(reading?.code == NSMigrationError)
  }

  private static let unique = """
    <uniquenessConstraints><uniquenessConstraint><constraint value="spotName"/></uniquenessConstraint>\
    </uniquenessConstraints>
    """

  @Test("What a lightweight migration can't do is refused with the reason, and the store is as it was")
  func refusals() throws {
    try ServerStore.save(["a", "a"], try store.coordinator())
    let before = try dump()
    let cases: [([(String, String)], [String: Any], Int, String)] = [
      (
        [
          (
            #"name="rating" optional="YES" attributeType="Integer 16""#,
            #"name="rating" optional="YES" attributeType="String""#
          )
        ],
        [:], NSMigrationMissingMappingModelError, "Session.rating: Its type was integer16"
      ),
      (
        [("<relationship name=\"spot\"", Self.unique + "<relationship name=\"spot\"")], [:], NSMigrationError,
        "unique ones"
      ),
      ([(#"name="spot" optional="YES""#, #"name="spot""#)], [:], NSMigrationError, "is mandatory in the new model"),
      ([], [OCDSourceModelsOption: [NSManagedObjectModel]()], NSMigrationMissingSourceModelError, "not found"),
      ([], [OCDMappingModelsOption: [NSMappingModel()]], NSMigrationError, "only inferred mappings"),
    ]
    for (changes, others, code, text) in cases {
      let error = #expect(throws: NSError.self) { try open(try Self.model(changes), options(others)) }
      #expect(error?.code == code && error?.localizedDescription.contains(text) == true, "\(String(describing: error))")
    }
    #expect(try dump() == before)
  }

  @Test("Triggers and views of others are named, and nothing is changed")
  func othersObjects() throws {
    try ServerStore.save(["a"], try store.coordinator())
    for (make, drop, name) in [
      (
        #"""
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER audit BEFORE INSERT ON "ZSESSION" FOR EACH ROW EXECUTE FUNCTION f()
        """#, #"DROP TRIGGER audit ON "ZSESSION""#, "audit"
      ),
      ("CREATE VIEW places AS SELECT place FROM session", "DROP VIEW places", "places"),
      (#"CREATE VIEW raw AS SELECT "ZPLACE" FROM "ZSESSION""#, "DROP VIEW raw", "raw"),
    ] {
      _ = try store.psql(make)
      let before = try dump()
      let error = #expect(throws: NSError.self) { try open(new, options()) }
      #expect(error?.code == NSMigrationError && error?.localizedDescription.contains("Drop ") == true, "\(name)")
      #expect(try dump() == before)
      _ = try store.psql(drop)
    }
    try open(new, options())
  }

  @Test("Columns, conditions and rules of others are named, and nothing is changed")
  func lostParts() throws {
    try ServerStore.save(["a"], try store.coordinator())
    for (make, drop, part) in [
      (#"ALTER TABLE "ZSESSION" ADD COLUMN note text"#, #"ALTER TABLE "ZSESSION" DROP COLUMN note"#, "the column note"),
      (
        #"ALTER TABLE "ZSESSION" ADD CONSTRAINT "it's" CHECK ("ZRATING" < 9)"#,
        #"ALTER TABLE "ZSESSION" DROP CONSTRAINT "it's""#, "the condition it's"
      ),
      (
        #"CREATE RULE kept AS ON DELETE TO "ZSESSION" DO INSTEAD NOTHING"#, #"DROP RULE kept ON "ZSESSION""#,
        "the rule kept"
      ),
    ] {
      _ = try store.psql(make)
      let before = try dump()
      let error = #expect(throws: NSError.self) { try open(new, options()) }
      #expect(error?.code == NSMigrationError)
      #expect(error?.localizedDescription.contains("\(part) on ") == true, "\(String(describing: error))")
      #expect(try dump() == before)
      _ = try store.psql(drop)
    }
    try open(new, options())
  }

  @Test("Indexes and rights of others stay")
  func rights() throws {
    try open(store.model, nil)
    let role = "reader_\(store.schema)"
    _ = try store.psql(
      #"""
      CREATE ROLE \#(role); GRANT SELECT ON "ZSESSION", session TO \#(role); GRANT SELECT ON "ZSPOT" TO PUBLIC;
      GRANT UPDATE ("ZRATING") ON "ZSESSION" TO \#(role); CREATE INDEX by_rating ON "ZSESSION" ("ZRATING", "ZHEIGHT")
      """#)
    try open(new, options())
    #expect(
      try store.psql(
        "SELECT has_table_privilege('\(role)', '\"ZSESSION\"', 'SELECT'), has_table_privilege('\(role)', 'session', 'SELECT'), "
          + "has_table_privilege('\(role)', '\"ZSPOT\"', 'SELECT'), has_table_privilege('\(role)', '\"ZSESSION\"', 'INSERT'), "
          + "has_column_privilege('\(role)', '\"ZSESSION\"', 'ZRATING', 'UPDATE'), "
          + "to_regclass('by_rating') IS NOT NULL") == "t|t|t|f|t|t")
  }

  @Test("A store that is open with the old version is not written to afterwards")
  func openStores() throws {
    let before = try store.coordinator()
    try ServerStore.save(["a"], before)
    try open(new, options())
    let error = #expect(throws: NSError.self) { try ServerStore.save(["b"], before) }
    #expect(error?.domain == NSCocoaErrorDomain)
    #expect(try store.psql("SELECT count(*) FROM session") == "1")
  }

  @Test("Two programs that migrate at the same time do it once")
  func together() async throws {
    try ServerStore.save(["a"], try store.coordinator())
    let (given, model, address) = (Sent(value: options()), new, store.address)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
          try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: address, options: given.value)
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.psql("SELECT id, spotname FROM session") == "1|a")
  }

  // Unchecked: the values are never changed.
  private struct Sent: @unchecked Sendable { let value: [AnyHashable: Any] }

  @Test("The history is carried over")
  func history() throws {
    let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    let before = try store.coordinator(options: tracking)
    try ServerStore.save(["a"], before)
    let context = ServerStore.context(before)
    try context.performAndWait {
      let session = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session")).first)
      session.setValue("b", forKey: "place")
      session.setValue(5, forKey: "large")
      try context.save()
    }
    let coordinator = try open(new, options())
    let kept = try #require(coordinator.rowStores.first as? PostgreSQLStore)
    let changes = try kept.history(.all, withChanges: true).flatMap(\.changes)
    #expect(changes.map(\.kind) == [.insert, .update] && changes.last?.updatedProperties == ["spotName"])
    #expect(try kept.lastTransactionNumber() == 2)
  }

  @Test("A connection that is cut at any message leaves the old store, or the new one")
  func cuts() throws {
    try ServerStore.save(["a", "b"], try store.coordinator())
    let before = try dump()
    let cutter = try ConnectionCutter(before: try #require(PostgreSQLServer.shared))
    defer { cutter.stop() }
    let address = try #require(cutter.address(instead: store.address))
    var cuts = 0
    while true {
      cutter.cut(afterMessages: cuts + 1)
      do {
        let coordinator = try open(new, options([NSPersistentStoreTimeoutOption: 2]), at: address)
        for one in coordinator.persistentStores { try coordinator.remove(one) }
        break
      } catch {
        cuts += 1
        try waitForOthers()
        let after = try dump()
        if after != before { break }
      }
    }
    cutter.cut(afterMessages: nil)
    #expect(cuts > 20)
    try open(new, options())
    #expect(try store.psql("SELECT id, version, spotname, wind FROM session ORDER BY id") == "1|1|a|7\n2|1|b|7")
  }

  /// Waits for the end of the connections in the store's schema that were cut.
  private func waitForOthers() throws {
    for _ in 0..<200 {
      let count = try store.psql(
        "SELECT count(*) FROM pg_locks WHERE granted AND relation IN (SELECT oid FROM pg_class "
          + "WHERE relnamespace = current_schema()::regnamespace)")
      if count == "0" { return }
      usleep(10_000)
    }
  }
}
