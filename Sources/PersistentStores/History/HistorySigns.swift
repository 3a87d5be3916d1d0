import Foundation
import ManagedObjectModel

/// Whether a store tracks its history, as far as the store shows it.
struct HistorySigns {
  let connection: SQLiteConnection

  /// Newer frameworks create the tables in every store. Only their rows, the keys that were allocated for rows that are
  /// deleted by now, and the store's metadata show that history is tracked.
  ///
  /// - Returns: Where the store shows it; nil if it does not.
  func find(_ metadata: StoreMetadata) throws -> String? {
    let setting = metadata.custom[NSPersistentHistoryTrackingKey]
    if (setting as? NSNumber)?.boolValue == true || setting is [String: Any] { return "its metadata shows it" }
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
}
