import Foundation
import ManagedObjectModel
import PersistentStores

/// A store of a server that is examined: in one state, and without a write.
package final class ServerExamination {
  /// A table, index, view or trigger where the connection looks for tables.
  package struct Part: Sendable {
    /// `table`, `index`, `view` or `trigger`.
    package let type: String
    package let name: String
    package let table: String
  }

  /// An index of a table.
  package struct Index: Sendable {
    package let name: String
    package let table: String
    package let columns: [String]
    package let isUnique: Bool
  }

  /// Something that the tables of a model should have, or should not have.
  package struct Problem: Sendable {
    package let code: String
    package let table: String?
    package var count = 0
    /// The first of the keys of rows that are concerned.
    package var keys: [Int] = []
    package let message: String
    package let advice: String
  }

  private let opened: OpenedServer
  private var connection: PostgreSQLConnection { opened.connection }

  /// Without a password.
  package var location: String { opened.address.shown }
  package let statements: any TableStatements

  /// - Throws: `NSError` 134080 for a server that can't be reached, and a database without a store.
  package init(_ url: URL) throws {
    let opened = try OpenedServer(url, options: [NSReadOnlyPersistentStoreOption: true])
    self.opened = opened
    statements = ExaminingStatements(connection: opened.connection, location: opened.address.shown)
    try opened.reporting {
      try connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      guard try SchemaInspection(connection: connection).hasStore() else {
        throw NSError.coreData(
          .open, "The database of \(location) has no Core Data store: it has no table Z_METADATA. Check the address.",
          userInfo: [NSError.missingStoreKey: true])
      }
    }
  }

  deinit { connection.close() }

  private func texts(_ sql: String, _ values: [StoredValue] = []) throws -> [[String]] {
    try statements.rows(sql, values).map { row in
      row.map { value in
        switch value {
        case .text(let text): text
        case .integer(let number): String(number)
        default: ""
        }
      }
    }
  }

  // MARK: The database

  package func metadata() throws -> (uuid: String?, list: Data?) {
    let rows = try statements.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1", [])
    guard let row = rows.first else {
      throw NSError.coreData(.open, "it has no row; restore the database from a copy")
    }
    let uuid: String? = if case .text(let text) = row[0] { text } else { nil }
    let list: Data? = if case .blob(let data) = row[1] { data } else { nil }
    return (uuid, list)
  }

  /// The server's version, the database's name and encoding, and the bytes of the store's tables with their indexes.
  package func facts(of tables: [String]) throws -> (version: String, database: String, encoding: String, bytes: Int) {
    let row = try texts(
      "SELECT current_setting('server_version'), current_database()::text, current_setting('server_encoding'), "
        + "coalesce((SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind IN ('r', 'p') "
        + "AND c.oid = to_regclass(quote_ident(c.relname)) AND c.relname = ANY (?::text::text[])), 0)::bigint",
      [.text(ArrayText.array(tables.map(StoredValue.text)))])[0]
    return (row[0], row[1], row[2], Int(row[3]) ?? 0)
  }

  /// In the order in which they were made.
  package func parts() throws -> [Part] {
    let found = try texts(
      """
      SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, relname::text, relname::text, oid::bigint \
        FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND oid = to_regclass(quote_ident(relname)) \
        AND relnamespace <> 'pg_catalog'::regnamespace \
      UNION ALL SELECT 'index', i.relname::text, t.relname::text, i.oid::bigint FROM pg_index x \
        JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
        WHERE t.oid = to_regclass(quote_ident(t.relname)) AND t.relnamespace <> 'pg_catalog'::regnamespace \
        AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid) \
      UNION ALL SELECT 'trigger', g.tgname::text, t.relname::text, g.oid::bigint FROM pg_trigger g \
        JOIN pg_class t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal AND t.oid = to_regclass(quote_ident(t.relname)) \
      ORDER BY 4
      """)
    return found.map { Part(type: $0[0], name: $0[1], table: $0[2]) }
  }

  /// The columns of each table, with their types.
  package func columns() throws -> [String: [(name: String, type: String)]] {
    let found = try texts(
      "SELECT c.relname::text, a.attname::text, \(ColumnType.catalogueName) FROM pg_class c "
        + "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        + "WHERE c.relkind IN ('r', 'p') AND c.oid = to_regclass(quote_ident(c.relname)) "
        + "AND c.relnamespace <> 'pg_catalog'::regnamespace ORDER BY c.oid, a.attnum")
    return Dictionary(grouping: found, by: { $0[0] }).mapValues { $0.map { ($0[1], $0[2]) } }
  }

  /// Those that were made by statements of their own, as far as they can be used.
  package func indexes() throws -> [Index] {
    try indexes(where: "NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid)")
  }

  private func indexes(where condition: String) throws -> [Index] {
    let found = try texts(
      """
      SELECT i.relname::text, t.relname::text, x.indisunique::int::bigint, \
        coalesce((SELECT string_agg(a.attname::text, E'\\n' ORDER BY k.place) \
          FROM unnest(x.indkey) WITH ORDINALITY k(number, place) \
          JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.number WHERE k.place <= x.indnkeyatts), '') \
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
        WHERE x.indisvalid AND t.oid = to_regclass(quote_ident(t.relname)) \
        AND t.relnamespace <> 'pg_catalog'::regnamespace AND \(condition) ORDER BY i.oid
      """)
    return found.map { row in
      Index(
        name: row[0], table: row[1], columns: row[3].split(separator: "\n").map(String.init), isUnique: row[2] == "1")
    }
  }

  /// Whether a view is one of those with plain names that a store of the model has.
  package func ownViews(_ schema: SQLSchema, _ model: NSManagedObjectModel) throws -> Set<String> {
    let views = TableCreation(schema, model).views
    let found = try OthersObjects(connection: connection, location: location).views()
    return Set(found.filter { views.has($0.name, columns: $0.columns) }.map(\.name))
  }

  // MARK: What is wrong with it

  /// Blocks whose checksum was wrong, and indexes that can't be used.
  package func damage() throws -> [Problem] {
    let failures = try texts(
      "SELECT coalesce(checksum_failures, 0)::bigint FROM pg_stat_database WHERE datname = current_database()")
    let broken = Int(failures.first?.first ?? "") ?? 0
    let restore = "Restore the database from a copy, and check the server's disk."
    let unusable = try texts(
      "SELECT i.relname::text, t.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid "
        + "JOIN pg_class t ON t.oid = x.indrelid WHERE NOT x.indisvalid AND t.oid = to_regclass(quote_ident(t.relname))"
    )
    let blocks = Problem(
      code: "damaged", table: nil, message: "The server has found \(broken) damaged blocks.", advice: restore)
    return (broken == 0 ? [] : [blocks])
      + unusable.map { row in
        Problem(
          code: "damaged", table: row[1], message: "The index \(row[0]) can't be used.",
          advice: "Make it again: REINDEX INDEX \(row[0].quotedName).")
      }
  }

  /// What the tables of the model should have: types and collations of columns, primary and foreign keys, indexes, key
  /// sequences and views.
  package func differences(_ schema: SQLSchema, _ model: NSManagedObjectModel) throws -> [Problem] {
    let creation = TableCreation(schema, model)
    return try typeProblems(creation) + collationProblems(creation) + keyProblems(creation)
      + referenceProblems(creation) + indexProblems(creation) + sequenceProblems(schema) + viewProblems(creation.views)
  }

  private func collationProblems(_ creation: TableCreation) throws -> [Problem] {
    try statements.rows(SchemaInspection.Collated.query, []).compactMap { row in
      SchemaInspection.Collated(row, of: creation)
    }.map { column in
      Problem(
        code: "columnCollation", table: column.table, message: "The store \(column.problem).", advice: column.advice)
    }
  }

  private static let keysListedMax = 5

  /// Without a primary key two rows can have one key.
  private func keyProblems(_ creation: TableCreation) throws -> [Problem] {
    let unique = try indexes(where: "x.indisunique AND x.indpred IS NULL AND x.indexprs IS NULL")
    let known = try columns().mapValues { Set($0.map(\.name)) }
    let missing = (creation.primaryKeys + [("Z_METADATA", ["Z_VERSION"])]).filter { table, key in
      known[table]?.isSuperset(of: key) == true
        && !unique.contains { $0.table == table && $0.columns.sorted() == key.sorted() }
    }
    return try missing.flatMap { table, key in
      let list = key.map(\.quotedName).joined(separator: ", ")
      let doubled = try texts(
        "SELECT \(key[0].quotedName)::bigint, (sum(count(*)) OVER ())::bigint FROM \(table.quotedName) "
          + "GROUP BY \(list) HAVING count(*) > 1 ORDER BY \(list) LIMIT \(Self.keysListedMax)")
      let own = Problem(
        code: "primaryKeyMissing", table: table,
        message: "\(table) has no primary key (\(key.joined(separator: ", "))): rows can have equal keys.",
        advice: "Make it again: ALTER TABLE \(table.quotedName) ADD \(TableCreation.primaryKey(key)).")
      if doubled.isEmpty { return [own] }
      let rows = Problem(
        code: "keyDoubled", table: table, count: Int(doubled[0][1]) ?? 0, keys: doubled.compactMap { Int($0[0]) },
        message: "\(doubled[0][1]) rows of \(table) share their \(key.joined(separator: ", ")) with another.",
        advice: "Delete all but one row of each key, or give them other keys, and make the primary key again then.")
      return [rows, own]
    }
  }

  private func indexProblems(_ creation: TableCreation) throws -> [Problem] {
    let found = try indexes(where: "x.indexprs IS NULL")
    return creation.readingIndexes.filter { index in
      !found.contains { $0.table == index.table && ($0.name == index.name || $0.columns.starts(with: index.columns)) }
    }.map { index in
      Problem(
        code: "indexMissing", table: index.table,
        message: "The index \(index.name) of \(index.table) is missing: rows are found and sorted slower.",
        advice: "Make it again: \(index.statement).")
    }
  }

  private func typeProblems(_ creation: TableCreation) throws -> [Problem] {
    let known = try columns().mapValues { Dictionary($0, uniquingKeysWith: { first, _ in first }) }
    return creation.columns.flatMap { table, columns in
      columns.compactMap { column in
        guard let type = known[table]?[column.name], type != column.type.name else { return nil }
        return Problem(
          code: "columnType", table: table,
          message: "The column \(table).\(column.name) has the type \(type), not \(column.type.name).",
          advice: "Give the version of the model that the store was made with, or change the column's type back.")
      }
    }
  }

  private func referenceProblems(_ creation: TableCreation) throws -> [Problem] {
    let found = Set(
      try texts(
        "SELECT t.relname::text, a.attname::text, o.relname::text, c.convalidated::int::bigint FROM pg_constraint c "
          + "JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class o ON o.oid = c.confrelid "
          + "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
          + "WHERE c.contype = 'f' AND cardinality(c.conkey) = 1 AND t.oid = to_regclass(quote_ident(t.relname))"))
    return creation.references.compactMap { reference in
      let (table, column) = (reference.table, reference.column)
      let key = [table, column, reference.other]
      if found.contains(key + ["1"]) { return nil }
      let isThere = found.contains(key + ["0"])
      return Problem(
        code: "foreignKeyMissing", table: table,
        message: "\(table).\(column) has no foreign key\(isThere ? " that is validated" : ""): nothing prevents keys "
          + "that lead nowhere.",
        advice: isThere
          ? "Validate it: ALTER TABLE \(table.quotedName) VALIDATE CONSTRAINT."
          : "Make it again: \(reference.statement).")
    }
  }

  private func sequenceProblems(_ schema: SQLSchema) throws -> [Problem] {
    try schema.entities.filter { $0.superNumber == 0 }.compactMap { root in
      let found = try texts(
        "SELECT CASE WHEN to_regclass(quote_ident(?)) IS NULL THEN '-' ELSE "
          + "coalesce(pg_get_serial_sequence(quote_ident(?), 'Z_PK'), '') END",
        [.text(root.tableName), .text(root.tableName)])
      guard found.first?.first?.isEmpty == true else { return nil }
      return Problem(
        code: "keySequence", table: root.tableName,
        message: "The keys of \(root.name) have no sequence: new objects can't be saved.",
        advice: "Restore the database from a copy, or copy the objects into a new store.")
    }
  }

  private func viewProblems(_ views: ViewCreation) throws -> [Problem] {
    let found = try OthersObjects(connection: connection, location: location).views()
    return views.names.filter { name in
      !found.contains { $0.name.hasPrefix(name) && views.has($0.name, columns: $0.columns) }
    }.map { name in
      Problem(
        code: "viewMissing", table: nil, message: "The view \(name), which has plain names, is not there.",
        advice: "Tools that read it find nothing; objects are not concerned. Migrating the store makes it again.")
    }
  }
}

/// Statements that only read, each behind a savepoint: one that fails does not end the transaction.
private struct ExaminingStatements: TableStatements {
  let connection: PostgreSQLConnection
  let location: String

  private func guarded<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      try connection.send("SAVEPOINT ocd_look")
      let result = try body()
      try connection.send("RELEASE ocd_look")
      return result
    } catch let error as PostgreSQLError {
      try? connection.send("ROLLBACK TO ocd_look")
      throw error.coreDataError(.sqlite, "Reading \(location) failed")
    }
  }

  func run(_ sql: String, _ values: [StoredValue]) throws { _ = try rows(sql, values) }
  func change(_ sql: String, _ values: [StoredValue]) throws -> Int {
    try guarded { try connection.change(sql, values) }
  }
  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try guarded { try connection.rows(sql, values) }
  }
  func integer(_ sql: String, _ values: [StoredValue]) throws -> Int64? {
    try guarded { try connection.integer(sql, values) }
  }
}
