import ManagedObjectModel
import Foundation

/// Values that may lie outside: how a store's connections know of them, and when their files go.
extension SQLiteStore {
  /// Also with a private copy the files lie beside the original.
  var externalData: ExternalData { ExternalData(store: url) }

  /// What the column of an attribute is given for a value.
  func column(_ value: StoredValue, _ slot: Int, of entity: SQLEntity) -> StoredValue {
    externalSlots[entity.number].contains(slot) ? ExternalData.column(for: value) : value
  }

  /// Makes a connection for reading know of them.
  func registerExternalData(_ connection: SQLiteConnection) throws {
    if !externalSlots.isEmpty { try connection.registerExternalData(externalData) }
  }

  /// Makes the store's own connection know of them. Temporary triggers, which only this connection has, note what any
  /// statement leaves without a row that refers to it.
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

  /// Each once, whatever number of entities share the table.
  private var externalColumns: [(table: String, column: String)] {
    var seen: Set<String> = []
    return externalSlots.entityNumbers.compactMap { schema.entity(numbered: $0) }.flatMap { entity in
      externalSlots[entity.number].compactMap { slot in
        entity.attributeColumns[slot].map { (entity.tableName, $0.name) }
      }
    }.filter { seen.insert("\($0.0).\($0.1)").inserted }
  }

  /// Called after a commit: removes the files that nothing refers to now. One that a rolled back transaction had let go
  /// of still has its row. While somebody may read an older generation, they all stay.
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

  /// Takes the files of this store's values along to a copy at `url`; into a copy in memory the values themselves.
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
    // Of a store that was there once: the new one is still empty.
    if FileManager.default.fileExists(atPath: new.path) { try FileManager.default.removeItem(at: new) }
    try FileManager.default.copyItem(at: own, to: new)
  }
}
