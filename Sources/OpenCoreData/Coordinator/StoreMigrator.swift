import Foundation

/// What brings a store to another version of its model by code of the program. (Declared here, because the coordinator
/// calls it; what implements it uses contexts.)
protocol StoreMigrator {
  /// Replaces the store by what it is to become, completely or not at all.
  func migrate(_ store: MigratedStore) throws
}

/// A store of an older version that is about to be opened.
struct MigratedStore {
  var file: URL
  let type: String
  let model: NSManagedObjectModel
  let configuration: String?
  let options: [AnyHashable: Any]?
  /// What the store's version may be among, in addition to those that are searched for.
  var sourceModels: [NSManagedObjectModel]
  /// The checksum of the store's version.
  let checksum: String

  /// Nil for a store that is already of this version.
  init?(
    _ file: URL, type: String, model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
  ) throws {
    (self.file, self.type, self.model, self.configuration, self.options) = (file, type, model, configuration, options)
    sourceModels = MigrationOptions.sourceModels(options)
    let metadata = try Self.metadata(of: file, type, options)
    checksum = VersionHash.checksum(of: metadata.versionHashes)
    if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.dictionary) { return nil }
  }

  private static func metadata(
    of file: URL, _ type: String, _ options: [AnyHashable: Any]?
  ) throws -> StoreMetadata {
    StoreMetadata(
      dictionary: try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: type, at: file, options: options))
  }

  func isUpToDate() throws -> Bool {
    let metadata = try Self.metadata(of: file, type, options)
    return model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.dictionary)
  }

  /// The model of the store; nil if it is not found.
  func sourceModel() throws -> NSManagedObjectModel? {
    SourceModelSearch(given: sourceModels, for: model).find(
      try Self.metadata(of: file, type, options), configuration: configuration
    )
    .found?.model
  }

  /// Migrates it to a version by an inferred mapping.
  func migrate(to model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: configuration, at: file,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        OCDSourceModelsOption: sourceModels,
      ])
    try coordinator.remove(store)
  }
}

extension NSPersistentStoreCoordinator {
  /// Migrates the store in `file` with stages, or with a mapping model that leads from its version to the model's, if the
  /// options ask for migration and there are any: those of the options, then the files of the main bundle. Otherwise the
  /// opening infers a mapping.
  func migrateIfAsked(
    _ file: URL, type: String, configuration: String?, options: [AnyHashable: Any]?
  ) throws {
    guard (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue != true,
      FileManager.default.fileExists(atPath: file.path)
    else { return }
    ExchangeFolder.removeLeft(of: file)
    guard MigrationOptions(options) != nil else { return }
    let stages = options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? any StoreMigrator
    let mappings = MigrationOptions.mappingModels(options)
    let bundles = MigrationOptions.mappingBundles(options)
    guard stages != nil || !mappings.isEmpty || !MappingFile.resources(of: bundles).isEmpty,
      let store = try MigratedStore(
        file, type: type, model: managedObjectModel, configuration: configuration, options: options)
    else { return }
    if let stages { return try stages.migrate(store) }
    guard let source = try store.sourceModel() else { return }
    if let given = mappings.first(where: { $0.leads(from: source, to: managedObjectModel) }) {
      return try given.migrate(store)
    }
    let search = MappingSearch(bundles: bundles, from: source, to: managedObjectModel)
    if let found = search.found { return try NSMappingModel(found).migrate(store) }
    // An inferred mapping would lose what a file that can't be read may say about this migration.
    guard !search.hasUnreadable else {
      throw NSError.coreData(
        .missingMappingModel,
        "\(file.path) can't be migrated: of the mapping model files of the program, none that can be read leads to the "
          + "model. The store was left as it is. Repair the file, take it out of the program's resources, or give what is "
          + "to be carried out with OCDMappingModelsOption, an empty list for none. Looked at: \(search.lookedAt.joined(separator: ", "))."
      )
    }
  }
}
