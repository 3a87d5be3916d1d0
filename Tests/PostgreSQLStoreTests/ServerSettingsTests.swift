import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): every transaction says what it needs, so that what an administrator has set for a user or a
// database changes no result.

@Suite(
  "A store in PostgreSQL depends on no setting of its user", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerSettingsTests {
  private let store: ServerStore
  init() throws { store = try ServerStore() }

  /// The address of the store for a new user, who may make tables.
  private func address(_ settings: [String]) throws -> URL {
    let role = "user_\(store.schema)"
    let statements =
      ["CREATE ROLE \(role) LOGIN", "GRANT ALL ON SCHEMA \(store.schema) TO \(role)"]
      + settings.map { "ALTER ROLE \(role) SET \($0)" }
    _ = try store.psql(statements.joined(separator: "; "))
    let server = try #require(PostgreSQLServer.shared)
    return try #require(server.address(["options": "-csearch_path=\(store.schema)", "user": role]))
  }

  private func open(_ address: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: store.model)
    try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: address)
    return coordinator
  }

  @Test(
    "It is made, written, read and opened again, and the lock of a run is taken",
    arguments: [
      ["default_transaction_read_only = on"], ["default_transaction_isolation = 'serializable'"],
      ["quote_all_identifiers = on"], ["standard_conforming_strings = off", "escape_string_warning = off"],
      [
        "DateStyle = 'SQL, DMY'", "IntervalStyle = sql_standard", "TimeZone = 'Asia/Kathmandu'",
        "extra_float_digits = -5", "bytea_output = escape", "array_nulls = off", "transform_null_equals = on",
      ],
    ])
  func settings(settings: [String]) throws {
    let address = try address(settings)
    for place in ["a \\' \"b\"", "c"] {
      let coordinator = try open(address)
      let context = ServerStore.context(coordinator)
      try context.performAndWait {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
        object.setValue(place, forKey: "place")
        object.setValue(0.1 + 0.2, forKey: "height")
        object.setValue(Date(timeIntervalSinceReferenceDate: 1e-7), forKey: "date")
        object.setValue(Data([0, 92, 255]), forKey: "data")
        try context.obtainPermanentIDs(for: [object])
        try context.save()
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
        request.predicate = NSPredicate(format: "place == %@", place)
        let found = try #require(try context.fetch(request).first)
        #expect(found.value(forKey: "height") as? Double == 0.1 + 0.2)
        #expect(found.value(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 1e-7))
        #expect(found.value(forKey: "data") as? Data == Data([0, 92, 255]))
      }
      for one in coordinator.persistentStores { try coordinator.remove(one) }
    }
    let lock = try ServerLock(at: address, table: "lock", holder: "a run", timeoutSeconds: 5)
    #expect(throws: ServerLock.Held.self) {
      try ServerLock(at: address, table: "lock", holder: "another run", timeoutSeconds: 5)
    }
    lock.release()
    try NSPersistentStoreCoordinator.setMetadata(
      ["who": "me"], forPersistentStoreOfType: NSPostgreSQLStoreType, at: address)
    try NSPersistentStoreCoordinator(managedObjectModel: store.model)
      .destroyPersistentStore(at: address, ofType: NSPostgreSQLStoreType)
  }

  @Test("A user who may make no table, not even a temporary one, writes to a store that is there")
  func rights() throws {
    let server = try #require(PostgreSQLServer.shared)
    let (base, role) = ("base_\(store.schema)", "user_\(store.schema)")
    _ = try server.psql("CREATE DATABASE \(base) TEMPLATE template0")
    let owner = try #require(server.address(database: base))
    try ServerStore.save(["a"], try open(owner))
    try Programs.output(
      of: [
        "psql", "-X", "-q", "-h", server.socketFolder, "-U", "tests", "-d", base, "-c",
        """
        CREATE ROLE \(role) LOGIN; REVOKE TEMPORARY ON DATABASE \(base) FROM PUBLIC;
        REVOKE CREATE ON SCHEMA public FROM PUBLIC;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(role);
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO \(role)
        """,
      ])
    let coordinator = try open(try #require(server.address(["user": role], database: base)))
    try ServerStore.save(["b"], coordinator)
    let context = ServerStore.context(coordinator)
    let count = try context.performAndWait {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Session"))
    }
    #expect(count == 2)
    for one in coordinator.persistentStores { try coordinator.remove(one) }
  }

  @Test("A transaction that the server ends because it has waited can be repeated")
  func idleTransaction() throws {
    let server = try #require(PostgreSQLServer.shared)
    let address = try #require(
      server.address(["options": "-csearch_path=\(store.schema) -cidle_in_transaction_session_timeout=100"]))
    let coordinator = try open(address)
    let kept = try #require(coordinator.rowStores.first as? PostgreSQLStore)
    try kept.beginTransaction()
    usleep(500_000)
    let error = #expect(throws: NSError.self) { try kept.access("Reading") { _ = try $0.query("SELECT 1") } }
    #expect(error?.mayPass == true)
    #expect(
      error?.localizedDescription.contains("idle_in_transaction_session_timeout") == true,
      "\(String(describing: error))")
    try? kept.rollBackTransaction()
    try ServerStore.save(["after"], coordinator)
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION""#) == "after")
  }

  @Test("A server is refused that does not take back what COPY has written, and the row goes")
  func canary() throws {
    let coordinator = try open(store.address)
    for one in coordinator.persistentStores { try coordinator.remove(one) }
    // A trigger that writes each row in a transaction of its own, which is committed at once.
    let server = try #require(PostgreSQLServer.shared)
    _ = try store.psql(
      #"""
      CREATE EXTENSION IF NOT EXISTS dblink SCHEMA public;
      CREATE FUNCTION commit_now() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM public.dblink_exec(
          'host=\#(server.socketFolder) user=tests dbname=postgres '
            || 'options=''-csearch_path=\#(store.schema) -csession_replication_role=replica''',
          format('INSERT INTO "Z_METADATA" ("Z_VERSION") VALUES (%s)', NEW."Z_VERSION"));
        RETURN NULL; END $$;
      CREATE TRIGGER t BEFORE INSERT ON "Z_METADATA" FOR EACH ROW EXECUTE FUNCTION commit_now()
      """#)
    let error = #expect(throws: NSError.self) { try open(store.address) }
    #expect(error?.code == NSPersistentStoreOpenError)
    #expect(error?.localizedDescription.contains("does not roll back") == true, "\(String(describing: error))")
    #expect(try store.psql(#"SELECT string_agg("Z_VERSION"::text, ' ') FROM "Z_METADATA""#) == "1")
  }

  @Test("In a save over a network the server looks every half a minute whether its client is there")
  func lostClients() throws {
    let port = Int.random(in: 30_000..<32_000)
    let server = try PostgreSQLServer(settings: ["listen_addresses=127.0.0.1", "port=\(port)"])
    defer { server.stop() }
    final class Watcher: SaveParticipant {
      let seen = Locked<[String?]>([])
      func write(to transaction: SaveTransaction) throws {
        let row = try transaction.rows(
          "SELECT current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_count'), "
            + "current_setting('idle_in_transaction_session_timeout')")[0]
        seen.withLock { $0 = row.map { $0 as? String } }
      }
    }
    let watcher = Watcher()
    let coordinator = try open(try #require(URL(string: "postgresql://tests@127.0.0.1:\(port)/postgres")))
    coordinator.addSaveParticipant(watcher)
    try ServerStore.save(["a"], coordinator)
    #expect(watcher.seen.withLock { $0 } == ["30", "3", "1min"])
    for one in coordinator.persistentStores { try coordinator.remove(one) }
  }

  @Test(
    "A user or a database that is not there is not asked for again",
    arguments: [(["user": "nobody_there"], "postgres", StoreFailureKind.permissionDenied), ([:], "none", .cannotOpen)])
  func refused(parameters: [String: String], database: String, kind: StoreFailureKind) throws {
    let address = try #require(PostgreSQLServer.shared?.address(parameters, database: database))
    let error = #expect(throws: NSError.self) { try open(address) }
    #expect(error?.storeFailureKind == kind && error?.mayPass == false, "\(String(describing: error))")
  }
}
