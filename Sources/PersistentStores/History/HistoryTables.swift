import Foundation
import ManagedObjectModel

/// The tables of persistent history, as stores of Apple's framework have them (docs/coredata-format.md, "Persistent
/// history").
package struct HistoryTables {
  /// Numbers of the entities in `Z_PRIMARYKEY`.
  package enum Entity: Int, CaseIterable {
    case change = 16001
    case transaction
    case string

    package var name: String {
      switch self {
      case .change: "CHANGE"
      case .transaction: "TRANSACTION"
      case .string: "TRANSACTIONSTRING"
      }
    }

    package var table: String { "A\(name)" }
  }

  let connection: SQLiteConnection

  /// Makes what is missing: the tables, the columns for the preserved values of `entities`, and the key sequences.
  func prepare(for entities: [NSEntityDescription]) throws {
    let tables = Set(try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap(\.first))
    let tombstones = entities.map { PreservedAttributes($0).names.count }.max() ?? 0
    if !tables.contains(.text(Entity.change.table)) {
      let all = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
      try connection.execute(
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
          + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(all) )")
    }
    try addTombstones(for: entities)
    if !tables.contains(.text(Entity.transaction.table)) { try connection.execute(Self.transactionTable) }
    if !tables.contains(.text(Entity.string.table)) { try connection.execute(Self.stringTable) }
    for index in Self.indexes { try connection.execute(index) }
    for entity in Entity.allCases {
      try connection.run(
        "INSERT OR IGNORE INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, 0, 0)",
        [.integer(Int64(entity.rawValue)), .text(entity.name)])
    }
  }

  /// Adds the columns that are missing for the preserved values of `entities`.
  func addTombstones(for entities: [NSEntityDescription]) throws {
    let tombstones = entities.map { PreservedAttributes($0).names.count }.max() ?? 0
    let known = try columns(of: .change)
    for column in (0..<tombstones).map({ "ZTOMBSTONE\($0)" }) where !known.contains(column) {
      try connection.execute("ALTER TABLE ACHANGE ADD COLUMN \(column) BLOB")
    }
  }

  /// Whether `prepare` would change nothing.
  func isPrepared(for entities: [NSEntityDescription]) throws -> Bool {
    let tombstones = entities.map { PreservedAttributes($0).names.count }.max() ?? 0
    let known = try columns(of: .change)
    let sequences = try connection.integer("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN 16001 AND 16003")
    return try (0..<tombstones).allSatisfy { known.contains("ZTOMBSTONE\($0)") } && known.contains("ZCOLUMNS")
      && columns(of: .transaction).contains("ZAUTHORTS") && columns(of: .string).contains("ZNAME") && sequences == 3
  }

  /// The columns that a change or a transaction is written to and that the tables, which are there, do not have.
  func missingColumns() throws -> [String] {
    let needed: [(Entity, [String])] = [
      (.change, ["Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]),
      (.transaction, ["Z_ENT", "ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS", "ZTIMESTAMP"]),
      (.string, ["Z_ENT", "ZNAME"]),
    ]
    return try needed.flatMap { entity, names in
      let known = try columns(of: entity)
      return known.isEmpty ? [] : names.filter { !known.contains($0) }.map { "\(entity.table).\($0)" }
    }
  }

  /// Empty if the table does not exist.
  func columns(of entity: Entity) throws -> Set<String> {
    Set(
      try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(entity.table)]).compactMap { row in
        if case .text(let name)? = row.first { name } else { nil }
      })
  }

  private static let transactionTable =
    "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
    + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
    + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )"
  private static let stringTable =
    "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )"
  private static let indexes = [
    "CREATE INDEX IF NOT EXISTS ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    "CREATE INDEX IF NOT EXISTS ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
    "CREATE INDEX IF NOT EXISTS ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
    "CREATE INDEX IF NOT EXISTS ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
    "CREATE INDEX IF NOT EXISTS ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
    "CREATE INDEX IF NOT EXISTS Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
    "CREATE INDEX IF NOT EXISTS Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION "
      + "(ZTIMESTAMP COLLATE BINARY ASC)",
    "CREATE UNIQUE INDEX IF NOT EXISTS Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING "
      + "(ZNAME COLLATE BINARY ASC)",
  ]
}

extension SQLiteConnection {
  /// The last key of a history table, also if its row is deleted; 0 before the first.
  func lastHistoryKey(of entity: HistoryTables.Entity) throws -> Int64 {
    try integer(
      "SELECT max(coalesce((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), "
        + "coalesce((SELECT max(Z_PK) FROM \(entity.table)), 0))", [.integer(Int64(entity.rawValue))]) ?? 0
  }
}

/// The properties of an entity that a change can name: those that are stored, by name.
///
/// `ACHANGE.ZCOLUMNS` has a bit for each, the first one the highest bit of the first byte.
package struct TrackedProperties {
  package let names: [String]

  package init(_ entity: NSEntityDescription) {
    names = entity.propertiesByName.values
      .filter { ($0 is NSAttributeDescription || $0 is NSRelationshipDescription) && !$0.isTransient }
      .map(\.name).sorted(by: String.byteOrder)
  }

  package func bits(of changed: Set<String>) -> StoredValue {
    var bytes = [UInt8](repeating: 0, count: (names.count + 7) / 8)
    for (index, name) in names.enumerated() where changed.contains(name) {
      bytes[index / 8] |= 0x80 >> UInt8(index % 8)
    }
    return .blob(Data(bytes))
  }

  /// Nil if a bit stands for no property: the row is of another version of the model.
  package func names(in bits: Data) -> [String]? {
    var found: [String] = []
    for (position, byte) in bits.enumerated() {
      for bit in 0..<8 where byte & 0x80 >> UInt8(bit) != 0 {
        let index = position * 8 + bit
        guard index < names.count else { return nil }
        found.append(names[index])
      }
    }
    return found
  }
}

/// The attributes whose values a deletion keeps (`preservesValueInHistoryOnDeletion`), by name: the n-th is in
/// `ACHANGE.ZTOMBSTONE<n>`. Values that may lie in files are not kept.
package struct PreservedAttributes {
  package let slots: [Int]
  package let names: [String]

  package init(_ entity: NSEntityDescription) {
    let attributes = entity.attributeSlots
    slots = attributes.indices.filter { slot in
      attributes[slot].preservesValueInHistoryOnDeletion && !attributes[slot].isTransient
        && !attributes[slot].allowsExternalBinaryDataStorage
    }
    names = slots.map { attributes[$0].name }
  }
}
