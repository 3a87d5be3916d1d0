import Foundation
import ManagedObjectModel

/// The store that is read by a migration into a new file. It must stay as it is until the new one is complete.
package final class MigrationSource {
  package let url: URL
  private let opened: OpenedDatabase
  private let version: Int64?
  /// The clients' own keys of the store's metadata.
  package let customMetadata: [String: Any]

  /// - Parameters:
  ///   - options: As for `addPersistentStore`; only the timeout is used.
  ///   - model: The model of the store.
  /// - Throws: `NSError` 134150 for a store of another model or one that can't be read, 134110 for one with contents that
  ///   the new file would not have.
  package init(_ url: URL, options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws {
    self.url = url
    do {
      opened = try OpenedDatabase.openForReading(url.path, options: try StoreOptions(options))
      version = try opened.connection.integer("PRAGMA data_version")
      let metadata = try opened.connection.storeMetadata(at: url).metadata
      customMetadata = metadata.custom
      guard model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata.dictionary) else {
        throw NSError.notOfSourceModel(url)
      }
      try checkOthers(model)
    } catch let error as SQLiteError {
      throw Self.unreadable(url, error)
    }
  }

  deinit { opened.connection.close() }

  /// What is not Core Data's would not be in the new file.
  private func checkOthers(_ model: NSManagedObjectModel) throws {
    let tables = try opened.connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    let names = tables.compactMap { row in if case .text(let name)? = row.first { name } else { nil } }
    try checkHistory(Set(names))
    let schema = try SQLSchema(
      model: model, configuration: nil, existing: StoreLayout(opened.connection), location: url.path)
    let known = Set(schema.tableNames).union(HistoryTables.Entity.allCases.map(\.table))
    // Z_ is the beginning of the framework's own tables and triggers, and of indexes that are tables.
    let others = try opened.connection.rows(
      """
      SELECT type, name FROM sqlite_master WHERE type <> 'index' AND name NOT GLOB 'sqlite[_]*' AND name NOT GLOB 'Z[_]*'
        ORDER BY 1, 2
      """)
    for row in others {
      guard case .text(let type)? = row.first, case .text(let name)? = row.last,
        type != "table" || !known.contains(name)
      else { continue }
      throw NSError.migration(
        "\(url.path) has the \(type) \(name), which is not Core Data's and would not be in the migrated store.",
        advice: "Copy it elsewhere and drop it, or \(Self.inferring).")
    }
  }

  private static let inferring =
    "use an inferred mapping, which keeps it: add the store with NSInferMappingModelAutomaticallyOption and an empty list "
    + "as OCDMappingModelsOption, so that no mapping model of the program is carried out"

  /// Objects get new keys, to which a history does not lead. Newer frameworks make its tables in every store, empty.
  private func checkHistory(_ tables: Set<String>) throws {
    for table in [HistoryTables.Entity.transaction, .change].map(\.table) where tables.contains(table) {
      guard try opened.connection.integer("SELECT 1 FROM \(table) LIMIT 1") != nil else { continue }
      throw NSError.migration(
        "\(url.path) has a persistent history (\(table)), which can't be carried over, as objects get new keys.",
        advice: "Read it and delete it first with NSPersistentHistoryChangeRequest.deleteHistory(before:), or "
          + "\(Self.inferring).")
    }
  }

  /// - Throws: `NSError` 134150 if another program has written to the store since it was opened here.
  package func checkUnchanged() throws {
    do {
      try opened.checkUnchanged()
      guard try opened.connection.integer("PRAGMA data_version") != version else { return }
    } catch let error as SQLiteError {
      throw Self.unreadable(url, error)
    }
    throw NSError.coreData(
      .managerSourceStore,
      "Another program has written to \(url.path) during its migration, and the migrated store would lack that. Close it "
        + "there, and try again.")
  }

  private static func unreadable(_ url: URL, _ error: SQLiteError) -> NSError {
    .sqlite(error, .managerSourceStore, message: "The store \(url.path) can't be read")
  }
}
