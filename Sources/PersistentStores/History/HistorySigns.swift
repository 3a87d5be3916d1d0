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

extension NSError {
  /// A store that can't be written to because of its history.
  package static func historyRefusal(_ location: String, _ reason: String) -> NSError {
    .coreData(
      .open,
      "The store \(location) can't be written to: \(reason). Open it for reading only, or write to it with the program "
        + "that made it.",
      suggestion: "To read it, add it with NSReadOnlyPersistentStoreOption. To continue its history, do not set "
        + "NSPersistentHistoryTrackingKey to false.")
  }

  package static func historyHasBegun(_ location: String) -> NSError {
    .coreData(
      .save,
      "Another program has begun to track the history of \(location), and what is saved now would be missing there.",
      suggestion: "Remove the store from its coordinator, add it again, and save again.")
  }
}
