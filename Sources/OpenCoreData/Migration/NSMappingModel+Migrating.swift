import Foundation

extension NSMappingModel: StoreMigrator {
  /// Migrates a store in place: a manager makes a new file, and what is in it takes the place of what the store has.
  func migrate(_ store: MigratedStore) throws {
    guard let source = try store.sourceModel() else { return }
    let folder = try ExchangeFolder(of: store.file)
    let exchange = try StoreExchange(store.file, options: store.options)
    // Another process may have migrated it before this one had the folder.
    guard try !store.isUpToDate() else { return }
    try NSMigrationManager(sourceModel: source, destinationModel: store.model)
      .migrateStore(from: store.file, options: store.options, with: self, toDestinationURL: folder.file)
    try exchange.replace(with: folder)
  }
}
