import Foundation
import ManagedObjectModel
import PersistentStores

/// What a database has of a store.
struct SchemaInspection {
  let connection: PostgreSQLConnection

  /// Whether the database has a store where the connection looks for tables.
  func hasStore() throws -> Bool {
    try connection.query("SELECT to_regclass(?) IS NOT NULL", [.text("\"Z_METADATA\"")]).integer(0, 0) != 0
  }

  /// The UUID and the metadata of the store.
  ///
  /// - Throws: `NSError` 134080 for metadata that can't be read.
  func metadata(at location: String) throws -> (uuid: String, metadata: StoreMetadata) {
    let row = try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1", []).first
    guard let row, case .text(let uuid) = row[0], case .blob(let list) = row[1] else {
      throw NSError.coreData(
        .open, "The store \(location) has no metadata in Z_METADATA. Restore the database from a copy.")
    }
    do throws(ArchiveProblem) {
      return (uuid, try StoreMetadata(propertyList: list))
    } catch {
      throw NSError.coreData(
        .open,
        "The store \(location) has metadata in Z_METADATA that can't be used: \(error). Restore the database from a copy."
      )
    }
  }

  /// Checks that the database has the tables and columns, and that the entities have their numbers.
  ///
  /// - Throws: `NSError` 134080 that names the first difference.
  func check(_ creation: TableCreation, _ schema: SQLSchema, at location: String) throws {
    let found = try connection.rows(
      "SELECT c.relname::text, a.attname::text, \(ColumnType.catalogueName) FROM pg_class c "
        + "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        + "WHERE c.relkind IN ('r', 'p') AND c.oid = to_regclass(quote_ident(c.relname)) AND c.relname LIKE ?",
      [.text("Z%")])
    var types: [String: [String: String]] = [:]
    for row in found {
      guard case .text(let table) = row[0], case .text(let column) = row[1], case .text(let type) = row[2] else {
        continue
      }
      types[table, default: [:]][column] = type
    }
    func refuse(_ problem: String) -> NSError {
      .coreData(
        .open,
        "The store \(location) \(problem), although its metadata are those of the model. Restore the database from a "
          + "copy.")
    }
    for (table, columns) in creation.columns {
      guard let known = types[table] else { throw refuse("lacks the table \(table)") }
      for column in columns {
        guard let type = known[column.name] else { throw refuse("lacks the column \(table).\(column.name)") }
        if type != column.type.name {
          throw refuse("has the column \(table).\(column.name) as \(type), not \(column.type.name)")
        }
      }
    }
    let numbers = try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY", [])
    for row in numbers {
      guard case .integer(let number) = row[0], case .text(let name) = row[1] else { continue }
      if let entity = schema.entity(named: name), Int64(entity.number) != number {
        throw refuse("has the number \(number) for the entity \(name), not \(entity.number)")
      }
    }
  }

  /// A text column that the server compares otherwise than by bytes: comparisons and orders have other results.
  struct Collated {
    let table: String
    let column: String
    let collation: String

    var problem: String {
      "has the column \(table).\(column) with the collation \(collation), not \"C\", so that texts are compared and sorted "
        + "otherwise"
    }

    /// PostgreSQL refuses the statement where a view needs the column, and names the view.
    var advice: String {
      "Change it back: \(ColumnType.collating(column, of: table)). Drop a view that needs the column before, and make it "
        + "again afterwards."
    }

    /// A query for those of all tables whose names begin with Z, and for their collations.
    static let query = """
      SELECT c.relname::text, a.attname::text, a.attcollation::regcollation::text FROM pg_class c \
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
      WHERE c.relkind IN ('r', 'p') AND c.oid = to_regclass(quote_ident(c.relname)) AND c.relname LIKE 'Z%' \
      AND a.atttypid = 'text'::regtype AND a.attcollation <> 'pg_catalog."C"'::regcollation ORDER BY c.oid, a.attnum
      """

    /// - Parameter row: Of the query; columns that others have added are left out.
    init?(_ row: [StoredValue], of creation: TableCreation) {
      guard case .text(let table) = row[0], case .text(let column) = row[1], case .text(let collation) = row[2],
        creation.columns.contains(where: { $0.table == table && $0.columns.contains { $0.name == column } })
      else { return nil }
      (self.table, self.column, self.collation) = (table, column, collation)
    }
  }

  /// Checks that texts are compared as the store needs it.
  ///
  /// - Throws: `NSError` 134080 that names the first column where they are not.
  func checkCollations(_ creation: TableCreation, at location: String) throws {
    let found = try connection.rows(Collated.query, [])
    guard let first = found.lazy.compactMap({ Collated($0, of: creation) }).first else { return }
    throw NSError.coreData(.open, "The store \(location) \(first.problem). \(first.advice)")
  }

  /// Finds out whether the server keeps a COPY in its transaction: a row that was copied and rolled back must be gone.
  ///
  /// - Throws: `NSError` 134080 where it does not.
  func checkTransactions(at location: String) throws {
    // Not every user may make tables, temporary ones included, so that the row is one of the metadata. The first one counts.
    let number = Int32.random(in: Int32.max / 2...Int32.max)
    let condition = "FROM Z_METADATA WHERE Z_VERSION = \(number)"
    try connection.send(PostgreSQLConnection.beginWriting)
    defer { _ = try? connection.query("ROLLBACK") }
    try connection.send("SAVEPOINT canary")
    var isSent = false
    _ = try connection.copyIn("COPY Z_METADATA (Z_VERSION) FROM STDIN (FORMAT binary)") { buffer in
      guard !isSent else { return }
      isSent = true
      buffer.appendHeader()
      buffer.beginRow(valueCount: 1)
      buffer.append(value: number)
      buffer.appendTrailer()
    }
    try connection.send("ROLLBACK TO canary")
    guard try connection.integer("SELECT count(*) \(condition)", []) == 0 else {
      _ = try connection.query("DELETE \(condition)")
      try connection.commit()
      throw NSError.coreData(
        .open,
        "The server of \(location) does not roll back what COPY has written, so that an import could be written in part. "
          + "Use PostgreSQL, or turn off the setting that divides a COPY into several transactions "
          + "(yb_default_copy_from_rows_per_transaction = 0).")
    }
  }
}
