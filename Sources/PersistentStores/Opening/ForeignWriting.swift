import ManagedObjectModel
import Foundation

/// Whether rows can be written into a store of Apple's framework without making it inconsistent.
///
/// The framework registers its own SQL functions on its connections, which triggers call (for derived attributes and
/// R-tree indexes), and records each change if persistent history is tracked. This library can do neither.
struct ForeignWriting {
  let connection: SQLiteConnection
  let schema: SQLSchema
  let path: String

  /// - Throws: `NSError` 134080 that says why the store can't be written to.
  func check(_ metadata: StoreMetadata) throws {
    if let sign = try signOfHistory(metadata) {
      throw refusal("it tracks a persistent history (\(sign)), and changes made here would be missing from it")
    }
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

  // MARK: History

  /// Newer frameworks create the tables in every store. Only their rows, the keys that were allocated for rows that are
  /// purged by now, and the store's metadata show that history is tracked.
  private func signOfHistory(_ metadata: StoreMetadata) throws -> String? {
    let setting = metadata.custom[NSPersistentHistoryTrackingKey]
    if (setting as? NSNumber)?.boolValue == true || setting is [String: Any] { return "its metadata say so" }
    for table in ["ATRANSACTION", "ACHANGE"] where try has(table) {
      if try connection.integer("SELECT 1 FROM \(table) LIMIT 1") != nil { return "rows in \(table)" }
    }
    let used = try connection.integer(
      "SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 AND Z_NAME IN ('CHANGE', 'TRANSACTION')")
    return (used ?? 0) > 0 ? "keys of changes in Z_PRIMARYKEY" : nil
  }

  private func has(_ table: String) throws -> Bool {
    try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)]) != nil
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
