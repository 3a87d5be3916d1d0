import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0044): several readers find what one finds, in its order, in one state of the rows.

@Suite("Several readers of a store in PostgreSQL", .seeded, .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerReadersTests {
  private static let xml = """
    <model>
      <entity name="Place">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
        <relationship name="region" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Region" inverseName="places" inverseEntity="Region"/>
      </entity>
      <entity name="Reef" parentEntity="Place">
        <attribute name="depth" optional="YES" attributeType="Double"/>
      </entity>
      <entity name="Region">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="places" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Place" inverseName="region" inverseEntity="Place"/>
      </entity>
    </model>
    """

  private let model: NSManagedObjectModel
  private let schema: String
  private let address: URL

  init() throws {
    let server = try #require(PostgreSQLServer.shared, serverComment)
    model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    schema = "r\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    _ = try server.psql("CREATE SCHEMA \(schema)")
    address = try #require(server.address(["options": "-csearch_path=\(schema)", "application_name": schema]))
  }

  private func psql(_ statements: String) throws -> String {
    try #require(PostgreSQLServer.shared, serverComment).psql(statements, schema: schema)
  }

  private func coordinator(at address: URL? = nil) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: address ?? self.address)
    return coordinator
  }

  /// A row of a walk: its key, its entity and its values.
  private typealias Row = [String]

  /// - Parameter note: Is given each row; the walk goes on while it returns true.
  private func walk(
    _ coordinator: NSPersistentStoreCoordinator, _ request: NSFetchRequest<NSManagedObject>, readers: Int,
    rowsPerBatch: Int = 10, entity: String = "Place", note: ((Row) throws -> Bool)? = nil
  ) throws -> [Row] {
    let context = ServerStore.context(coordinator)
    var rows: [Row] = []
    try context.performAndWait {
      let paths = entity == "Region" ? [] : ["region.name"]
      try context.walk(request, keyPaths: paths, readers: readers, rowsPerBatch: rowsPerBatch) { batch, ids in
        for row in 0..<batch.count {
          let extras = paths.indices.map { "\(batch.extraValue(row: row, $0))" }
          let values = ["\(ids.key(at: row) ?? 0)", batch.entity.name ?? ""] + batch.values(row: row).map { "\($0)" }
          rows.append(values + extras)
          if let note, try !note(values + extras) { return false }
        }
        return true
      }
    }
    return rows
  }

  /// Fills the store with so many places, whose keys have gaps of any size.
  private func fill(_ count: Int, _ random: inout SeededGenerator) throws {
    _ = try psql(
      """
      INSERT INTO "ZREGION"("Z_PK", "Z_ENT", "Z_OPT", "ZNAME") SELECT n, 3, 1, 'R' || n FROM generate_series(1, 5) n
      """)
    var key: Int64 = 0
    let rows = (0..<count).map { number in
      key += Int.random(in: 0..<10, using: &random) < 8 ? 1 : Int64.random(in: 1...1 << 45, using: &random)
      let isReef = Int.random(in: 0..<4, using: &random) == 0
      func maybe(_ text: @autoclosure () -> String) -> String {
        Int.random(in: 0..<5, using: &random) == 0 ? "NULL" : text()
      }
      return "(\(key), \(isReef ? 2 : 1), 1, \(maybe("'P\(number), é\"'")), \(maybe("\(number % 6)")), "
        + "\(maybe("\(number % 5 + 1)")), \(isReef ? maybe("\(Double(number) / 7)") : "NULL"))"
    }
    guard !rows.isEmpty else { return }
    _ = try psql(
      #"INSERT INTO "ZPLACE"("Z_PK", "Z_ENT", "Z_OPT", "ZNAME", "ZRATING", "ZREGION", "ZDEPTH") VALUES "#
        + rows.joined(separator: ","))
  }

  @Test("Any store, any request: the rows of one reader in its order", arguments: Randomness.seeds(12, long: 200))
  func agreement(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let coordinator = try coordinator()
    let count = [0, 1, 2, 9, 10, 11, 20].randomElement(using: &random) ?? 0
    let rowCount = Bool.random(using: &random) ? count : Int.random(in: 0...400, using: &random)
    try fill(rowCount, &random)
    for _ in 0..<12 {
      let entity = ["Place", "Place", "Reef", "Region"].randomElement(using: &random) ?? "Place"
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.includesSubentities = Int.random(in: 0..<3, using: &random) > 0
      // The last one is evaluated in memory.
      let predicates = [nil, "rating >= 3", "region.name == 'R2'", "name == nil", "name MATCHES 'P[0-9]*7.*'"]
      if entity != "Region", let format = predicates.randomElement(using: &random) ?? nil {
        request.predicate = NSPredicate(format: format)
      }
      request.fetchLimit = Int.random(in: 0..<3, using: &random) > 0 ? 0 : Int.random(in: 1...50, using: &random)
      let rowsPerBatch = Int.random(in: 1...30, using: &random)
      let readers = Int.random(in: 2...5, using: &random)
      func rows(_ readers: Int) throws -> [Row] {
        try walk(coordinator, request, readers: readers, rowsPerBatch: rowsPerBatch, entity: entity)
      }
      let (one, several) = (try rows(1), try rows(readers))
      #expect(one == several, "\(rowCount) rows, \(request), \(rowsPerBatch) a batch, \(readers) readers")
      if entity == "Place", request.predicate == nil, request.includesSubentities, request.fetchLimit == 0 {
        #expect(several.count == rowCount)
      }
    }
    withExtendedLifetime(coordinator) {}
  }

  /// Moves rows to other keys in transactions of their own, until it is stopped.
  private func moving(_ body: () throws -> Void) throws {
    let isStopped = Locked(false)
    let ended = DispatchSemaphore(value: 0)
    let statement = """
      UPDATE "ZPLACE" p SET "Z_PK" = CASE WHEN p."Z_PK" > 1000000 THEN p."Z_PK" - 1000000 ELSE p."Z_PK" + 1000000 END
      FROM (SELECT "Z_PK" AS key FROM "ZPLACE" ORDER BY random() LIMIT 200) moved WHERE p."Z_PK" = moved.key
      """
    let (server, schema) = (try #require(PostgreSQLServer.shared), schema)
    Thread.begin("mover") {
      while !isStopped.withLock({ $0 }) { _ = try? server.psql(statement, schema: schema) }
      ended.signal()
    }
    defer {
      isStopped.withLock { $0 = true }
      ended.wait()
    }
    try body()
  }

  private func fillForMoving(_ count: Int) throws {
    _ = try psql(
      """
      INSERT INTO "ZPLACE"("Z_PK", "Z_ENT", "Z_OPT", "ZNAME")
      SELECT n, 1, 1, 'P' || n FROM generate_series(1, \(count)) n
      """)
  }

  @Test("While others move rows to other keys, each is found once")
  func consistency() throws {
    let coordinator = try coordinator()
    try fillForMoving(2000)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
    var found: Set<[Row]> = []
    try moving {
      for _ in 0..<TestLength.rounds(10, long: 100) {
        let rows = try walk(coordinator, request, readers: 4, rowsPerBatch: 50) { row in
          // Slower than the readers, so that others commit in between.
          if row[0].hasSuffix("00") { usleep(2000) }
          return true
        }
        #expect(rows.count == 2000 && Set(rows.map { $0[2] }).count == 2000)
        found.insert(rows)
      }
    }
    #expect(found.count > 1, "nothing was moved")
    withExtendedLifetime(coordinator) {}
  }

  @Test("A pinned context reads its state, also of related objects")
  func pinned() throws {
    let coordinator = try coordinator()
    try fillForMoving(500)
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
      #expect(try context.count(for: request) == 500)
      _ = try psql(#"DELETE FROM "ZPLACE" WHERE "Z_PK" % 2 = 0"#)
      var count = 0
      try context.walk(request, readers: 3, rowsPerBatch: 20) { batch, ids in
        count += batch.count
        let values = try context.storedValues(withIDs: Array(ids))
        #expect(values.allSatisfy { $0 != nil })
        return true
      }
      #expect(count == 500)
    }
    withExtendedLifetime(coordinator) {}
  }

  @Test("A reader that does not take the snapshot over is noticed")
  func otherState() throws {
    let server = try #require(PostgreSQLServer.shared)
    let cutter = try ConnectionCutter(before: server)
    defer { cutter.stop() }
    let cut: URL = try #require(cutter.address(instead: address))
    let coordinator = try coordinator(at: cut)
    try fillForMoving(2000)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
    #expect(try walk(coordinator, request, readers: 2).count == 2000)
    let statement = "SET TRANSACTION SNAPSHOT"
    cutter.replace(statement, by: "SELECT".padding(toLength: statement.count, withPad: " ", startingAt: 0))
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try context.count(for: request) == 2000)
      _ = try psql(#"DELETE FROM "ZPLACE" WHERE "Z_PK" = 7"#)
      let error = #expect(throws: NSError.self) {
        try context.walk(request, readers: 2, rowsPerBatch: 10) { _, _ in true }
      }
      #expect(error?.isOfUnsharedSnapshot == true && error?.localizedDescription.contains("sees other rows") == true)
    }
    #expect(cutter.replacementCount > 0)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  @Test("An error of any reader ends the walk", arguments: ["reader", "leader"])
  func lostConnection(_ whose: String) throws {
    let coordinator = try coordinator()
    try fillForMoving(3000)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
    // The process that has exported the snapshot ran something else last than the readers.
    let isLeader = "(query LIKE '%OFFSET%' OR query LIKE '%pg_current_snapshot%') AND NOT query LIKE '%ocd_range%'"
    let condition = whose == "leader" ? isLeader : "query LIKE '%ocd_range%'"
    var killed = ""
    var rows = 0
    let error = #expect(throws: NSError.self) {
      _ = try walk(coordinator, request, readers: 2) { _ in
        rows += 1
        if rows == 50 {
          // By now all wait for room.
          usleep(200_000)
          killed = try psql(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = "
              + "'\(schema)' AND state = 'idle in transaction' AND \(condition) LIMIT 1) one")
        }
        return true
      }
    }
    #expect(killed == "1" && rows < 3000, "\(killed) \(rows)")
    #expect(error?.storeFailureKind == .unreachable, "\(String(describing: error))")
    #expect(try walk(coordinator, request, readers: 2).count == 3000)
    withExtendedLifetime(coordinator) {}
  }

  @Test("A walk that ends early gives its connections back; at most two ranges for each reader are read ahead")
  func endedWalk() throws {
    let coordinator = try coordinator()
    try fillForMoving(3000)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
    func connections(_ state: String) throws -> String {
      try psql(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(schema)' AND state = '\(state)'")
    }
    var rows = 0
    _ = try walk(coordinator, request, readers: 3) { _ in
      rows += 1
      guard rows == 20 else { return true }
      usleep(200_000)
      // The one that has exported the snapshot, and three readers.
      let open = try connections("idle in transaction")
      #expect(open == "4")
      return false
    }
    #expect(rows == 20)
    #expect(try connections("idle in transaction") == "0")
    withExtendedLifetime(coordinator) {}
  }

  @Test("A server that shares no snapshot says so")
  func unshared() throws {
    let server = try #require(PostgreSQLServer.shared)
    let database = "d\(schema)"
    _ = try server.psql("CREATE DATABASE \(database) ENCODING 'UTF8' TEMPLATE template0")
    let other: URL = try #require(server.address(database: database))
    let coordinator = try coordinator(at: other)
    try ServerStore.saveRegions(["a", "b"], coordinator)
    _ = try Programs.output(
      of: [
        "psql", "-X", "-q", "-h", server.socketFolder, "-U", "tests", "-d", database, "-c",
        "ALTER FUNCTION pg_catalog.pg_export_snapshot() RENAME TO pg_export_no_snapshot",
      ])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Region")
    #expect(try walk(coordinator, request, readers: 1, entity: "Region").count == 2)
    let error = #expect(throws: NSError.self) {
      _ = try walk(coordinator, request, readers: 2, entity: "Region")
    }
    #expect(error?.isOfUnsharedSnapshot == true, "\(String(describing: error))")
    withExtendedLifetime(coordinator) {}
  }

  @Test("Behind pgbouncer more readers than it has connections take turns", .enabled(if: ConnectionPooler.isThere))
  func pooled() throws {
    let server = try #require(PostgreSQLServer.shared)
    let pooler = try ConnectionPooler(before: server, database: "p\(schema)")
    let pooled: URL = try #require(pooler.address)
    let coordinator = try coordinator(at: pooled)
    try ServerStore.saveRegions((0..<500).map { "R\($0)" }, coordinator)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Region")
    let one = try walk(coordinator, request, readers: 1, entity: "Region")
    #expect(one.count == 500)
    for readers in [2, 6] {
      #expect(try walk(coordinator, request, readers: readers, entity: "Region") == one)
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    withExtendedLifetime(pooler) {}
  }
}

extension ServerStore {
  fileprivate static func saveRegions(_ names: [String], _ coordinator: NSPersistentStoreCoordinator) throws {
    let context = context(coordinator)
    try context.performAndWait {
      for name in names {
        NSEntityDescription.insertNewObject(forEntityName: "Region", into: context).setValue(name, forKey: "name")
      }
      try context.save()
    }
  }
}
