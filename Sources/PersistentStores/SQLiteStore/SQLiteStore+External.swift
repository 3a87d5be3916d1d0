import ManagedObjectModel
import Foundation

/// External values: how a store's connections access them, and when their files are removed.
extension SQLiteStore {
  /// For a private copy, too, the files are next to the original.
  var externalData: ExternalData {
    ExternalData(store: url, missing: options?[MissingValues.optionKey] as? MissingValues)
  }

  /// The column's content for an attribute value.
  func column(_ value: StoredValue, _ slot: Int, of entity: SQLEntity) -> StoredValue {
    externalSlots[entity.number].contains(slot) ? ExternalData.column(for: value) : value
  }

  /// Registers the functions for external values on a reading connection.
  func registerExternalData(_ connection: SQLiteConnection) throws {
    if !externalSlots.isEmpty { try connection.registerExternalData(externalData) }
  }

  /// Registers the functions for external values on the store's own connection. Temporary triggers, which only this
  /// connection has, record every file to which a statement removes the reference.
  func watchExternalData(_ connection: SQLiteConnection) throws {
    guard !isReadOnly else { return try registerExternalData(connection) }
    let columns = externalColumns
    guard !columns.isEmpty else { return }
    try connection.registerExternalData(externalData, droppedFiles)
    for (table, column) in columns {
      let note = "BEGIN SELECT \(ExternalDataFunction.dropped)('\(table)', '\(column)', OLD.Z_PK, OLD.\(column)); END"
      let isFile = "substr(OLD.\(column), 1, 1) = x'02'"
      try connection.execute(
        "CREATE TEMP TRIGGER ocd_deleted_\(table)_\(column) AFTER DELETE ON main.\(table) WHEN \(isFile) \(note);"
          + "CREATE TEMP TRIGGER ocd_changed_\(table)_\(column) AFTER UPDATE OF \(column) ON main.\(table) "
          + "WHEN \(isFile) AND OLD.\(column) IS NOT NEW.\(column) \(note)")
    }
  }

  /// Each column once, even if several entities share the table.
  private var externalColumns: [(table: String, column: String)] {
    var seen: Set<String> = []
    return externalSlots.entityNumbers.compactMap { schema.entity(numbered: $0) }.flatMap { entity in
      externalSlots[entity.number].compactMap { slot in
        entity.attributeColumns[slot].map { (entity.tableName, $0.name) }
      }
    }.filter { seen.insert("\($0.0).\($0.1)").inserted }
  }

  /// Called after a commit: removes the files without a reference. A file that only a rolled back transaction released
  /// still has its row. All files stay while a reader may see an older generation.
  func removeDroppedFiles() {
    guard !droppedFiles.files.isEmpty, !hasReaders, let connection = try? writingReader().connection,
      !connection.isInTransaction
    else { return }
    for file in droppedFiles.files {
      let rows = try? connection.rows(
        "SELECT 1 FROM \(file.table) WHERE Z_PK = ? AND \(file.column) = ?", [.integer(file.key), .blob(file.bytes)])
      if rows?.isEmpty == true, let name = ExternalData.name(in: file.bytes) { externalData.remove(name) }
    }
    droppedFiles.removeAll()
  }

  // MARK: Copies

  /// Copies the files of this store's values to a copy at `url`; into a copy in memory it writes the values themselves.
  func copyExternalData(to url: URL?, _ destination: SQLiteConnection) throws {
    guard let url else {
      if externalSlots.isEmpty { return }
      try destination.registerExternalData(externalData)
      for (table, column) in externalColumns {
        try destination.execute(
          "UPDATE \(table) SET \(column) = \(ExternalDataFunction.column)(\(ExternalDataFunction.value)(\(column), Z_PK, "
            + "'\(table).\(column)')) WHERE substr(\(column), 1, 1) = x'02'")
      }
      return
    }
    guard let own = self.url.map(LargeValues.supportFolder), FileManager.default.fileExists(atPath: own.path) else {
      return
    }
    let new = LargeValues.supportFolder(of: url)
    // Left over from a previous store: the new one is still empty.
    if FileManager.default.fileExists(atPath: new.path) { try FileManager.default.removeItem(at: new) }
    try FileManager.default.copyItem(at: own, to: new)
  }
}
