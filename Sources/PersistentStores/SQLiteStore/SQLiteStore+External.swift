import ManagedObjectModel
import Foundation
import SystemSupport

/// External values: how a store's connections access them, and when their files are removed.
extension SQLiteStore {
  /// For a private copy, too, the files are next to the original.
  var externalData: ExternalData {
    ExternalData(store: url, missing: options?[MissingValues.optionKey] as? MissingValues)
  }

  /// The column's content for a value in the row.
  func column(_ value: StoredValue, _ slot: Int, of entity: SQLEntity) -> StoredValue {
    externalSlots[entity.number].contains(slot) ? ExternalData.column(for: value) : value
  }

  /// The SQL of a column's content for the value that the SQL `value` stands for, in the row with the key `key`.
  func content(of value: String, key: String, slot: Int, _ column: SQLColumn, _ entity: SQLEntity) -> String {
    guard externalSlots[entity.number].contains(slot) else { return value }
    // A unique index compares the content of columns, and two files never have the same name.
    if externalSlots.isUnique(slot, in: entity.number) { return "\(ExternalDataFunction.column)(\(value))" }
    return "\(ExternalDataFunction.column)(\(value), \(key), '\(entity.tableName)', '\(column.name)')"
  }

  /// What an UPDATE sets for an attribute, evaluated for each row: no two rows may share a file. Nil for one without a
  /// column, and for one that triggers compute.
  func assignment(of value: StoredValue, _ slot: Int, in entity: SQLEntity) -> (text: String, value: StoredValue)? {
    guard !entity.computedSlots.contains(slot) else { return nil }
    return entity.attributeColumns[slot].map { column in
      ("\(column.name) = \(content(of: "?", key: "Z_PK", slot: slot, column, entity))", value)
    }
  }

  /// Registers the functions for external values on a reading connection.
  func registerExternalData(_ connection: SQLiteConnection) throws {
    if !externalSlots.isEmpty { try connection.registerExternalData(externalData) }
  }

  /// Registers the functions for external values on the store's own connection. Temporary triggers, which only this
  /// connection has, record every file to which a statement removes the reference.
  func watchExternalData(_ connection: SQLiteConnection) throws {
    guard !isReadOnly else { return try registerExternalData(connection) }
    externalFiles.folder = url.map(ExternalFolder.init)
    let columns = externalColumns
    guard !columns.isEmpty else { return }
    try connection.registerExternalData(externalData, externalFiles)
    for (table, column) in columns.map({ ($0.table, $0.column) }) {
      let note = "BEGIN SELECT \(ExternalDataFunction.dropped)('\(table)', '\(column)', OLD.Z_PK, OLD.\(column)); END"
      let isFile = "substr(OLD.\(column), 1, 1) = x'02'"
      try connection.execute(
        "CREATE TEMP TRIGGER ocd_deleted_\(table)_\(column) AFTER DELETE ON main.\(table) WHEN \(isFile) \(note);"
          + "CREATE TEMP TRIGGER ocd_changed_\(table)_\(column) AFTER UPDATE OF \(column) ON main.\(table) "
          + "WHEN \(isFile) AND OLD.\(column) IS NOT NEW.\(column) \(note)")
    }
  }

  private var externalColumns: [ExternalColumn] { externalSlots.columns(in: schema) }

  /// Called before a commit that may refer to new files.
  func syncExternalFiles() throws {
    do throws(POSIXError) {
      try externalFiles.sync()
    } catch {
      throw SQLiteError(error, "its large values can't be written to the disk")
    }
  }

  /// Called after a commit: removes the files without a row. All of them stay while a reader of any process may see an
  /// older state of the store, or a power cut could bring it back.
  func removeReleasedFiles() {
    guard !externalFiles.released.isEmpty, !hasReaders, let connection = try? writingReader().connection,
      !connection.isInTransaction, isCheckpointed(connection)
    else { return }
    externalFiles.removeReleased { file in
      let rows = try? connection.rows(
        "SELECT 1 FROM \(file.table) WHERE Z_PK = ? AND \(file.column) = ?", [.integer(file.key), .blob(file.bytes)])
      return rows.map { !$0.isEmpty }
    }
  }

  // MARK: After a kill

  /// Removes files that killed processes have left: those with a mark that no row refers to. The transaction makes
  /// certain that no other process of this library is in the middle of a save; what it can't remove now stays marked.
  func removeUnusedFiles(_ connection: SQLiteConnection) throws {
    guard let folder = externalFiles.folder, folder.hasMarkFolder, let url, !LargeValues.mayBeShared(url),
      connection.beginsAtOnce()
    else { return }
    let unused: Set<String>
    do {
      defer { try? connection.rollBack() }
      let (marked, used) = (folder.marked, try connection.externalFiles(in: externalColumns))
      // In the transaction: a save that follows may mark the same file.
      marked.intersection(used).forEach(folder.unmark)
      unused = marked.subtracting(used)
    }
    // A commit that failed may be whole in the WAL: only a WAL that is empty can't bring it back.
    if !unused.isEmpty, connection.emptiesWAL() { unused.forEach(folder.remove) }
    folder.removeMarkFolder()
  }

  // MARK: Copies

  /// Copies all rows to an empty database at `url`, and first the files of their values; a database in memory gets the
  /// values themselves.
  func copyEverything(to destination: SQLiteConnection, _ url: URL?, from connection: SQLiteConnection) throws {
    // Files of values stay while a transaction reads the state that refers to them.
    let begins = !connection.isInTransaction
    if begins { try connection.execute("BEGIN; SELECT 1 FROM Z_METADATA") }
    defer { if begins { try? connection.execute("COMMIT") } }
    guard let url else {
      try connection.copyEverything(to: destination)
      return try takeValuesIn(destination)
    }
    try LargeValues.checkIsNotShared(url)
    // Left over from a previous store: the new one is still empty.
    let support = LargeValues.supportFolder(of: url)
    if mayExist(support.path) { try FileManager.default.removeItem(at: support) }
    let folder = ExternalFolder(of: url)
    let copied = try self.url.map { try folder.copyFiles(of: ExternalFolder(of: $0)) } ?? []
    do {
      try connection.copyEverything(to: destination)
    } catch {
      copied.forEach(folder.remove)
      throw error
    }
    copied.forEach(folder.unmark)
    folder.removeMarkFolder()
  }

  /// Writes the values that are in files into the rows of a copy.
  private func takeValuesIn(_ destination: SQLiteConnection) throws {
    if externalSlots.isEmpty { return }
    try destination.registerExternalData(externalData)
    for (table, column) in externalColumns.map({ ($0.table, $0.column) }) {
      try destination.execute(
        "UPDATE \(table) SET \(column) = \(ExternalDataFunction.column)(\(ExternalDataFunction.value)(\(column), Z_PK, "
          + "'\(table).\(column)')) WHERE substr(\(column), 1, 1) = x'02'")
    }
  }
}
