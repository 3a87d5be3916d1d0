import ManagedObjectModel
import Foundation

/// Whether rows can be written into a store of Apple's framework without making it inconsistent.
///
/// The framework registers its own SQL functions on its connections, which triggers call (for derived attributes and
/// R-tree indexes). This library does not have them.
struct ForeignWriting {
  let connection: SQLiteConnection
  let schema: SQLSchema
  let path: String

  /// - Throws: `NSError` 134080 that says why the store can't be written to.
  func check() throws {
    if let (table, problem) = try tableThatRefuses() {
      throw refusal(
        "changing its table \(table) needs functions that only the framework that wrote it has (\(problem))")
    }
  }

  private func refusal(_ reason: String) -> NSError {
    .coreData(
      .open,
      "The store \(path) can't be written to: \(reason). Open it for reading only, or write to it with "
        + "the program that made it.",
      suggestion: "To read it, add it with NSReadOnlyPersistentStoreOption.")
  }

  // MARK: Triggers

  /// A table whose triggers, or indexes on expressions, SQLite can't compile. SQLite compiles them when a statement
  /// that would run them is prepared, before it changes any row.
  private func tableThatRefuses() throws -> (table: String, problem: String)? {
    let own = Set(schema.tableNames + ["Z_PRIMARYKEY", "Z_METADATA"])
    let rows = try connection.rows(
      "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger' OR type = 'index' AND sql LIKE '%(%(%' "
        + "ORDER BY 1")
    for case .text(let table)? in rows.map(\.first) where own.contains(table) {
      if let problem = try problem(of: table) { return (table, problem) }
    }
    return nil
  }

  private func problem(of table: String) throws -> String? {
    let columns = try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(table)]).compactMap { row in
      if case .text(let name)? = row.first { "\"\(name)\"" } else { nil }
    }
    let sets = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
    let changes = ["INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(sets)", "DELETE FROM \(table)"]
    for change in changes {
      do {
        _ = try SQLiteStatement(connection, change)
      } catch let error as SQLiteError {
        if error.isBusy { throw error }
        return error.message
      }
    }
    return nil
  }
}
