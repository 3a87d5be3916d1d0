import ManagedObjectModel

/// The actual tables, columns and entity numbers of a store, independent of its model.
package struct StoreLayout: Sendable {
  /// A row of Z_PRIMARYKEY.
  struct Entity: Sendable {
    let number: Int
    let name: String
    /// 0 for a root.
    let superNumber: Int
  }

  struct Table: Sendable {
    let name: String
    let columns: [String]
    /// The declared type of each column.
    let types: [String]
    /// By name, folded: a table may have two thousand columns.
    private let indexByName: [String: Int]

    init(name: String, columns: [String], types: [String]) {
      (self.name, self.columns, self.types) = (name, columns, types)
      indexByName = Dictionary(
        columns.enumerated().map { ($1.sqlFolded, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The column with that name; ASCII letters are case-insensitive, as in SQLite.
    func column(_ name: String) -> String? { indexByName[name.sqlFolded].map { columns[$0] } }

    /// Whether the column of that name is declared as one of `type`.
    func has(_ name: String, _ type: SQLColumnType) -> Bool {
      indexByName[name.sqlFolded].map { types[$0].sqlFolded == type.rawValue } ?? false
    }
  }

  let entities: [Entity]
  let tables: [Table]
  private let indexByName: [String: Int]

  package init(_ connection: SQLiteConnection) throws {
    entities = try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT").compactMap { row in
      guard case .integer(let number) = row[0], case .text(let name) = row[1] else { return nil }
      let superNumber: Int64 = if case .integer(let value) = row[2] { value } else { 0 }
      return Entity(number: Int(number), name: name, superNumber: Int(superNumber))
    }
    let rows = try connection.rows(
      "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
        + "ORDER BY m.rowid, c.cid")
    var tables: [(name: String, columns: [String], types: [String])] = []
    for row in rows {
      guard case .text(let table) = row[0], case .text(let column) = row[1] else { continue }
      if tables.last?.name != table { tables.append((table, [], [])) }
      tables[tables.count - 1].columns.append(column)
      let type = if case .text(let type) = row[2] { type } else { "" }
      tables[tables.count - 1].types.append(type)
    }
    self.tables = tables.map { Table(name: $0.name, columns: $0.columns, types: $0.types) }
    indexByName = Dictionary(
      tables.enumerated().map { ($1.name.sqlFolded, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func table(_ name: String) -> Table? { indexByName[name.sqlFolded].map { tables[$0] } }
}
