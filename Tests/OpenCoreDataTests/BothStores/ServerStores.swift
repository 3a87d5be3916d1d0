import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

/// Stores on the tests' server, each in a schema of its own.
enum ServerStores {
  private static let count = Locked(0)
  private static let administrator = Locked<PostgreSQLConnection?>(nil)

  /// An address in a new schema.
  static func newAddress() throws -> URL {
    let server = try #require(PostgreSQLServer.shared, "\(PostgreSQLServer.problem)")
    let number = count.withLock { count in
      count += 1
      return count
    }
    let name = "store\(number)"
    try administrator.withLock { connection in
      let known = try connection ?? newConnection(try #require(server.address()))
      connection = known
      _ = try known.query("CREATE SCHEMA \(name)")
    }
    return try #require(server.address(["options": "-csearch_path=\(name)"]))
  }

  static func newConnection(_ address: URL) throws -> PostgreSQLConnection {
    let library = try PostgreSQLLibrary.load()
    return try PostgreSQLConnection(PostgreSQLAddress(address, library), library, timeoutSeconds: 10)
  }

  /// The rows that are committed.
  static func state(at address: URL, _ model: NSManagedObjectModel) throws -> BruteForceStore.State {
    let store = try PostgreSQLStore.open(
      address, model: model, configuration: nil, options: [NSReadOnlyPersistentStoreOption: true])
    defer { store.close() }
    var state = BruteForceStore.State()
    for root in model.entities where root.superentity == nil {
      var rows: [Int64: BruteForceStore.Row] = [:]
      for row in try store.read(nil, { try $0.rows(FetchQuery(entity: root)) }) {
        rows[row.id.storeKey ?? 0] = BruteForceStore.Row(
          entity: row.id.entity, version: row.version, values: row.values)
      }
      state.tables[root.name ?? ""] = rows
      state.lastKeys[root.name ?? ""] = rows.keys.max() ?? 0
    }
    return state
  }

  /// Changes the rows as another program would.
  static func change(
    at address: URL, _ model: NSManagedObjectModel, from old: BruteForceStore.State, to new: BruteForceStore.State
  ) throws {
    let schema = try SQLSchema(model: model, configuration: nil)
    let connection = try newConnection(address)
    defer { connection.close() }
    _ = try connection.query("BEGIN")
    for (root, rows) in new.tables {
      let before = old.tables[root] ?? [:]
      for key in before.keys where rows[key] == nil {
        let table = try #require(schema.entity(named: root)?.tableName)
        _ = try connection.query("DELETE FROM \(table) WHERE Z_PK = ?", [.integer(key)])
      }
      for (key, row) in rows where before[key].map({ $0.version != row.version || $0.values != row.values }) ?? true {
        let entity = try #require(schema.entity(named: row.entity.name ?? ""))
        let columns = EntityColumns(row.entity, entity).columns
        let values = columns.map { $0.parameter(row.values[$0.slot]) }
        if before[key] == nil {
          let names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.map(\.name)
          _ = try connection.query(
            "INSERT INTO \(entity.tableName) (\(names.joined(separator: ", "))) VALUES "
              + "(\(names.map { _ in "?" }.joined(separator: ", ")))",
            [.integer(key), .integer(Int64(entity.number)), .integer(row.version)] + values)
        } else {
          let sets = (columns.map(\.name) + ["Z_OPT"]).map { "\($0) = ?" }.joined(separator: ", ")
          _ = try connection.query(
            "UPDATE \(entity.tableName) SET \(sets) WHERE Z_PK = ?", values + [.integer(row.version), .integer(key)])
        }
      }
    }
    _ = try connection.query("COMMIT")
  }
}
