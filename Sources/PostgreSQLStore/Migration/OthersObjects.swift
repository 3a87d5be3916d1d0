import Foundation
import ManagedObjectModel
import PersistentStores

/// What other programs and people have made at the tables of a store, which a migration must not lose.
struct OthersObjects {
  let connection: PostgreSQLConnection
  let location: String

  /// Triggers, policies, rules, conditions and columns would be lost with their tables.
  ///
  /// - Parameter columns: Those that are the store's.
  func checkTables(_ columns: [(table: String, columns: [String])]) throws {
    let tables = columns.map(\.table)
    let known = columns.flatMap { table, names in names.map { StoredValue.text("\(table) \($0)") } }
    let found = try connection.rows(
      "SELECT 'trigger', tgname::text, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal "
        + "AND tgrelid = ANY (?::text::regclass[]) UNION ALL "
        + "SELECT 'policy', polname::text, polrelid::regclass::text FROM pg_policy "
        + "WHERE polrelid = ANY (?::text::regclass[]) UNION ALL "
        + "SELECT 'rule', rulename::text, ev_class::regclass::text FROM pg_rewrite "
        + "WHERE ev_class = ANY (?::text::regclass[]) UNION ALL "
        + "SELECT 'condition', conname::text, conrelid::regclass::text FROM pg_constraint "
        + "WHERE contype = 'c' AND conrelid = ANY (?::text::regclass[]) UNION ALL "
        + "SELECT 'column', a.attname::text, a.attrelid::regclass::text FROM pg_attribute a "
        + "JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped "
        + "AND a.attrelid = ANY (?::text::regclass[]) AND c.relname || ' ' || a.attname <> ALL (?::text::text[]) "
        + "ORDER BY 1, 2",
      Array(repeating: list(tables), count: 5) + [.text(ArrayText.array(known))])
    guard let first = found.first, case .text(let kind) = first[0], case .text(let name) = first[1],
      case .text(let table) = first[2]
    else { return }
    throw NSError.migration(
      "\(location) has the \(kind) \(name) on \(table), a table of Core Data's, which would be lost.",
      advice: kind == "column"
        ? "Copy its values with the keys (Z_PK) into a table of your own, drop the column, and add it again afterwards."
        : "Drop the \(kind), and create it again afterwards; or migrate the store with the program that made it.")
  }

  private func list(_ names: [String]) -> StoredValue {
    .text("{" + names.map { "\"\\\"" + $0 + "\\\"\"" }.joined(separator: ",") + "}")
  }

  /// The views that the connection finds by their names.
  func views() throws -> [(name: String, columns: [String])] {
    let rows = try connection.rows(
      "SELECT c.relname::text, string_agg(a.attname::text, ' ' ORDER BY a.attnum) FROM pg_class c JOIN pg_attribute a "
        + "ON a.attrelid = c.oid AND a.attnum BETWEEN 1 AND 3 WHERE c.relkind = 'v' "
        + "AND c.oid = to_regclass(quote_ident(c.relname)) GROUP BY 1", [])
    return rows.compactMap { row in
      guard case .text(let name) = row[0], case .text(let columns) = row[1] else { return nil }
      return (name, columns.components(separatedBy: " "))
    }
  }

  /// Runs `body`, which drops something. Views of others that need it are named.
  func notingDependents(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as PostgreSQLError where error.state == "2BP01" {
      throw NSError.migration(
        "\(location) can't be migrated: views or other objects of other programs need \(what) (\(error.message)).",
        advice: "Drop them, and make them again afterwards.")
    }
  }

  // MARK: Indexes

  /// The statements of indexes that are not Core Data's.
  func indexes(of tables: [String]) throws -> [String] {
    let rows = try connection.rows(
      "SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid "
        + "WHERE x.indrelid = ANY (?::text::regclass[]) AND i.relname NOT LIKE 'Z%' "
        + "AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid) ORDER BY x.indexrelid",
      [list(tables)])
    return rows.compactMap { row in if case .text(let statement) = row[0] { statement } else { nil } }
  }

  func restore(indexes: [String]) throws {
    for index in indexes {
      do {
        _ = try connection.query(index)
      } catch let error as PostgreSQLError where !error.isOfConnection && !error.isPassing {
        throw NSError.migration(
          "\(location) has an index that conflicts with the new model (\(error.message)): \(index).",
          advice: "Drop the index, and create another one afterwards.")
      }
    }
  }

  // MARK: Rights

  /// What a role may do with a table or view, or with one column of it.
  struct Right {
    let relation: String
    let column: String?
    let statement: String
  }

  func rights(on relations: [String]) throws -> [Right] {
    let rows = try connection.rows(
      """
      SELECT found.relname::text, found.attname::text, found.privilege, found.grantable, \
        CASE WHEN found.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(found.grantee)) END \
      FROM (SELECT c.relname, NULL AS attname, a.privilege_type AS privilege, a.is_grantable AS grantable, a.grantee \
          FROM pg_class c, aclexplode(c.relacl) a WHERE a.grantee <> c.relowner \
            AND c.oid = to_regclass(quote_ident(c.relname)) \
        UNION ALL SELECT c.relname, t.attname, a.privilege_type, a.is_grantable, a.grantee \
          FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a \
          WHERE a.grantee <> c.relowner AND c.oid = to_regclass(quote_ident(c.relname))) found
      """, [])
    return rows.compactMap { row in
      guard case .text(let relation) = row[0], relations.contains(relation), case .text(let privilege) = row[2],
        case .text(let grantee) = row[4]
      else { return nil }
      let column: String? = if case .text(let name) = row[1] { name } else { nil }
      return Right(
        relation: relation, column: column,
        statement: "GRANT \(privilege)\(column.map { " (\($0.quotedName))" } ?? "") ON \(relation.quotedName) "
          + "TO \(grantee)\(row[3] == .integer(1) ? " WITH GRANT OPTION" : "")")
    }
  }

  /// Gives them for what is there under the same name.
  func restore(_ rights: [Right]) throws {
    guard !rights.isEmpty else { return }
    let there = try connection.rows(
      "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        + "AND a.attnum > 0 AND NOT a.attisdropped WHERE c.oid = to_regclass(quote_ident(c.relname))", [])
    let known = Set(there)
    let relations = Set(there.map { $0[0] })
    for right in rights {
      let isThere = right.column.map { known.contains([.text(right.relation), .text($0)]) }
      if isThere ?? relations.contains(.text(right.relation)) { try connection.send(right.statement) }
    }
  }
}
