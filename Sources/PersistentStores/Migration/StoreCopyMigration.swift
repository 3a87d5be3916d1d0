import Foundation
import ManagedObjectModel

/// An inferred migration into a new file: a copy of the store, migrated by SQL.
package struct StoreCopyMigration {
  package let sourceModel: NSManagedObjectModel
  package let destinationModel: NSManagedObjectModel

  package init(from sourceModel: NSManagedObjectModel, to destinationModel: NSManagedObjectModel) {
    (self.sourceModel, self.destinationModel) = (sourceModel, destinationModel)
  }

  /// - Parameters:
  ///   - source: A store of the source model, which is only read.
  ///   - file: A file that does not exist yet.
  ///   - options: As for `addPersistentStore`; only the timeout is used.
  /// - Throws: `NSError` 134110, 134150 (the source), 134160 (the new file).
  package func run(from source: URL, options: [AnyHashable: Any]?, to file: URL) throws {
    try copy(source, options, to: file)
    try migrate(file)
  }

  private func copy(_ source: URL, _ options: [AnyHashable: Any]?, to copy: URL) throws {
    do {
      let opened = try OpenedDatabase.openForReading(source.path, options: try StoreOptions(options))
      // The connection may read a copy that exists only as long as this value.
      defer { withExtendedLifetime(opened) { opened.connection.close() } }
      let metadata = try opened.connection.storeMetadata(at: source).metadata
      guard sourceModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata.dictionary) else {
        throw NSError.notOfSourceModel(source)
      }
      // On a connection that is made read-only by this switch, it also forbids writing the copy.
      try opened.connection.execute("PRAGMA query_only = OFF")
      try opened.connection.run("VACUUM INTO ?", [.text(copy.path)])
      try opened.checkUnchanged()
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .managerSourceStore, message: "The store \(source.path) can't be read")
    }
  }

  private func migrate(_ file: URL) throws {
    do {
      let opened = try OpenedDatabase.open(file, options: try StoreOptions(nil))
      defer { opened.connection.close() }
      try StoreMigration(
        opened: opened, url: file, model: destinationModel, configuration: nil,
        options: MigrationOptions(infersMapping: true, sourceModels: [sourceModel])
      ).runIfNeeded()
      _ = try opened.connection.rows("PRAGMA journal_mode = WAL")
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .managerDestinationStore, message: "The migrated store can't be written")
    }
  }
}
