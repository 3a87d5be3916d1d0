import Foundation

/// The stages by which a store gets from any version to the newest. (Apple documentation: NSStagedMigrationManager.)
///
/// Give it to `addPersistentStore` with `NSPersistentStoreStagedMigrationManagerOptionKey`, together with the two options
/// of inferred migration. The stages work on a copy next to the store; when the last one is done, the copy takes the
/// store's place in one transaction. A migration that fails or is killed leaves the store as it was.
///
/// ```swift
/// let manager = NSStagedMigrationManager([NSCustomMigrationStage(migratingFrom: first, to: second)])
/// let description = NSPersistentStoreDescription(url: file)
/// description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
open class NSStagedMigrationManager: NSObject {
  /// All versions of the model, in their order.
  public let stages: [NSMigrationStage]
  /// Has the copy of the store, in a handler; nil at other times.
  open private(set) var container: NSPersistentContainer?

  /// A manager that carries out `stages`, which are in the order of the versions.
  public init(_ stages: [NSMigrationStage]) { self.stages = stages }
}

extension NSStagedMigrationManager: StoreMigrator {
  func migrate(_ store: MigratedStore) throws {
    let remaining = try remainingStages(of: store)
    let folder = try ExchangeFolder(of: store.file)
    let exchange = try StoreExchange(store.file, options: store.options)
    // Another process may have migrated it before this one had the folder.
    guard try !store.isUpToDate() else { return }
    try exchange.copy(to: folder.file)
    let models = try remaining.flatMap { [try $0.currentModel.resolve(), try $0.nextModel.resolve()] }
    var copy = store
    copy.file = folder.file
    copy.sourceModels = models + store.sourceModels
    for stage in remaining {
      try copy.migrate(to: try stage.currentModel.resolve())
      try call(stage.willMigrateHandler, of: stage, model: try stage.currentModel.resolve(), store: copy)
      try copy.migrate(to: try stage.nextModel.resolve())
      try call(stage.didMigrateHandler, of: stage, model: try stage.nextModel.resolve(), store: copy)
    }
    try copy.migrate(to: store.model)
    try exchange.replace(with: folder)
  }

  private func call(
    _ handler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?, of stage: NSCustomMigrationStage,
    model: NSManagedObjectModel, store: MigratedStore
  ) throws {
    guard let handler else { return }
    let made = NSPersistentContainer(name: "Migration", managedObjectModel: model)
    let coordinator = made.persistentStoreCoordinator
    let added = try coordinator.addPersistentStore(
      ofType: store.type, configurationName: store.configuration, at: store.file, options: nil)
    container = made
    defer {
      container = nil
      try? coordinator.remove(added)
    }
    try handler(self, stage)
  }

  /// The custom stages between the version of the store and that of its new model.
  ///
  /// - Throws: `NSError` 134505 for a version that no stage has, 134506 for a store that is newer than the model.
  private func remainingStages(of store: MigratedStore) throws -> [NSCustomMigrationStage] {
    let (start, end) = (try position(of: store.checksum, isStore: true), try position(of: store.model.versionChecksum))
    guard start <= end else {
      throw NSError.coreData(
        .stagedMigrationBackward,
        "The store \(store.file.path) is of a later version than the model, and stages lead forward only.")
    }
    return stages[start..<end].compactMap { $0 as? NSCustomMigrationStage }
  }

  /// The number of stages up to and with the one that ends at a version, or has it.
  private func position(of checksum: String, isStore: Bool = false) throws -> Int {
    let begins = stages.firstIndex { ($0 as? NSCustomMigrationStage)?.currentModel.versionChecksum == checksum }
    if let begins { return begins }
    if let last = stages.lastIndex(where: { $0.checksums.contains(checksum) }) { return last + 1 }
    throw NSError.coreData(
      .stagedMigrationUnknownVersion,
      "The version of \(isStore ? "the store" : "the model"), with the checksum \(checksum), is in none of the stages of "
        + "the migration. Name every version in a stage.")
  }
}
