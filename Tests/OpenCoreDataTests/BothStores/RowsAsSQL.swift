import CSQLite
import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

extension Stack {
  /// The rows of a query over the tables of the store, as the `sqlite3` program prints them. A statement that writes
  /// changes them behind the back of the coordinator, as another process does.
  ///
  /// A store without a file is copied into one of Core Data's layout, and back where the statement writes.
  @discardableResult
  func sqlite(_ statement: String) throws -> String {
    let store = coordinator.persistentStores.first
    guard kind != .sqlite else { return try TestSupport.sqlite(file, statement) }
    let model = coordinator.managedObjectModel
    let tables = try RowsAsSQL(model)
    let ownStore = store?.rowStore as? BruteForceStore
    let address = store?.url
    let state = try ownStore?.committedState ?? ServerStores.state(at: try #require(address), model)
    let before = try tables.write(state)
    let output = try TestSupport.sqlite(tables.file, statement)
    let after = try tables.rows()
    guard after != before else { return output }
    if let ownStore {
      try ownStore.changeFromOutside { try tables.read(after, into: &$0) }
    } else {
      var changed = state
      try tables.read(after, into: &changed)
      try ServerStores.change(at: try #require(address), model, from: state, to: changed)
    }
    return output
  }

  /// All columns and all rows of the sessions, and the greatest keys.
  func dump() throws -> String {
    let schema = kind == .sqlite ? "; SELECT sql FROM sqlite_master" : ""
    return try sqlite(
      "SELECT Z_PK, Z_ENT, Z_OPT, ZRATING, ZDATE, ZPLACE FROM ZSESSION ORDER BY Z_PK; SELECT * FROM Z_PRIMARYKEY"
        + schema)
  }
}

/// The rows of a store without SQL, in tables as Core Data names them.
private struct RowsAsSQL {
  private let folder: TemporaryFolder
  private let entities: [NSEntityDescription]
  var file: URL { folder.file("rows.sqlite") }

  init(_ model: NSManagedObjectModel) throws {
    folder = try TemporaryFolder()
    // Numbered depth first by name, as in a store.
    func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
      [entity] + sorted(entity.subentities).flatMap(family)
    }
    func sorted(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
      entities.sorted { String.byteOrder($0.name ?? "", $1.name ?? "") }
    }
    entities = sorted(model.entities.filter { $0.superentity == nil }).flatMap(family)
  }

  private var roots: [NSEntityDescription] { entities.filter { $0.superentity == nil } }

  private func number(_ entity: NSEntityDescription?) -> Int64 {
    Int64((entities.firstIndex { $0 === entity } ?? -1) + 1)
  }

  private static func table(_ entity: NSEntityDescription) -> String { "Z" + (entity.name ?? "").uppercased() }

  /// The names of the stored attributes of the entity's tree, each with the type of its column.
  private func columns(_ root: NSEntityDescription) -> [(name: String, type: String)] {
    var types: [String: String] = [:]
    for entity in entities where entity.rootEntity === root {
      for attribute in entity.attributeSlots where !attribute.isTransient {
        types[attribute.name] = Self.type(attribute.attributeType)
      }
    }
    return types.sorted { String.byteOrder($0.key, $1.key) }.map { ($0.key, $0.value) }
  }

  private static func type(_ type: NSAttributeType) -> String {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType: "INTEGER"
    case .doubleAttributeType, .floatAttributeType: "FLOAT"
    case .decimalAttributeType: "DECIMAL"
    case .dateAttributeType: "TIMESTAMP"
    case .stringAttributeType, .URIAttributeType: "VARCHAR"
    default: "BLOB"
    }
  }

  private func connect() throws -> SQLiteConnection { try SQLiteConnection(path: file.path, mode: .readWriteCreate) }

  /// Writes the rows to the file.
  func write(_ state: BruteForceStore.State) throws -> [[[StoredValue]]] {
    let connection = try connect()
    defer { connection.close() }
    try connection.transaction {
      try connection.execute("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME, Z_SUPER, Z_MAX)")
      for entity in entities {
        let lastKey = entity.superentity == nil ? state.lastKeys[entity.name ?? ""] ?? 0 : 0
        try connection.run(
          "INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)",
          [
            .integer(number(entity)), .text(entity.name ?? ""), .integer(number(entity.superentity)),
            .integer(lastKey),
          ])
      }
      for root in roots {
        let attributes = columns(root)
        let columns =
          ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
          + attributes.map { "Z\($0.name.uppercased()) \($0.type)" }
        try connection.execute("CREATE TABLE \(Self.table(root)) (\(columns.joined(separator: ", ")))")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        for (key, row) in state.tables[root.name ?? ""] ?? [:] {
          try connection.run(
            "INSERT INTO \(Self.table(root)) VALUES (\(marks))",
            [.integer(key), .integer(number(row.entity)), .integer(row.version)]
              + attributes.map { row.entity.slot(named: $0.name).map { row.values[$0] } ?? .null })
        }
      }
    }
    return try Self.rows(connection, roots)
  }

  /// All rows of the file, table after table.
  func rows() throws -> [[[StoredValue]]] {
    let connection = try connect()
    defer { connection.close() }
    return try Self.rows(connection, roots)
  }

  private static func rows(
    _ connection: SQLiteConnection, _ roots: [NSEntityDescription]
  ) throws -> [[[StoredValue]]] {
    try roots.map { try connection.rows("SELECT * FROM \(table($0)) ORDER BY Z_PK") }
  }

  /// Puts rows that were read from the file into the store's tables.
  func read(_ tables: [[[StoredValue]]], into state: inout BruteForceStore.State) throws {
    for (root, rows) in zip(roots, tables) {
      let attributes = self.columns(root)
      let old = state.tables[root.name ?? ""] ?? [:]
      var new: [Int64: BruteForceStore.Row] = [:]
      for columns in rows {
        let key = try #require(Self.integer(columns[0]))
        let entity = entities[Int(try #require(Self.integer(columns[1]))) - 1]
        var row = old[key] ?? BruteForceStore.Row(entity, entity.attributeSlots.map { _ in .null })
        row.version = try #require(Self.integer(columns[2]))
        for (attribute, value) in zip(attributes, columns.dropFirst(3)) {
          guard let slot = entity.slot(named: attribute.name) else { continue }
          row.set(Self.value(value, entity.attributeSlots[slot], known: row.values[slot]), slot)
        }
        new[key] = row
      }
      state.tables[root.name ?? ""] = new
    }
  }

  private static func integer(_ value: StoredValue) -> Int64? {
    if case .integer(let number) = value { number } else { nil }
  }

  /// A column's value in the form that the attribute's values have.
  private static func value(
    _ value: StoredValue, _ attribute: NSAttributeDescription, known: StoredValue
  ) -> StoredValue {
    if StoredValueOrder.compare(value, known) == 0 { return known }
    switch (attribute.attributeType, value) {
    case (.dateAttributeType, .integer(let number)), (.doubleAttributeType, .integer(let number)),
      (.floatAttributeType, .integer(let number)):
      return .real(Double(number))
    case (.decimalAttributeType, .integer(let number)): return .decimal(Decimal(number))
    case (.decimalAttributeType, .real(let number)): return .decimal(Decimal(storedReal: number))
    default: return value
    }
  }
}
