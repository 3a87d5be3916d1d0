import ManagedObjectModel
import Foundation

/// Models that a store may have been written with, an array of NSManagedObjectModel: an option of `addPersistentStore`
/// that lightweight migration searches first. This library's own key; Apple's framework searches bundles.
public let OCDSourceModelsOption = "OCDSourceModelsOption"

/// Mapping models, an array of NSMappingModel: an option of `addPersistentStore` with which a store of an older version is
/// migrated by the first one that leads from its version to the model's. This library's own key. Without one that leads
/// there, the mapping model files of the main bundle are searched, as by Apple's framework. An empty array leaves these
/// out, so that a mapping is inferred.
public let OCDMappingModelsOption = "OCDMappingModelsOption"

/// The stages of a migration, an `NSStagedMigrationManager`: an option of `addPersistentStore`. (Apple documentation:
/// NSPersistentStoreStagedMigrationManagerOptionKey.)
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// Whether parts of an inferred migration may be left for later: an option of `addPersistentStore`. It has no effect, as a
/// migration is complete when the store is open. (Apple documentation:
/// NSPersistentStoreDeferredLightweightMigrationOptionKey.)
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// The options of `addPersistentStore` for a store of another version of the model.
package struct MigrationOptions {
  let infersMapping: Bool
  let sourceModels: [NSManagedObjectModel]
  let mappingBundles: [Bundle]

  /// Nil unless migration is requested.
  package init?(_ options: [AnyHashable: Any]?) {
    func isSet(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false }
    guard isSet(NSMigratePersistentStoresAutomaticallyOption) else { return nil }
    infersMapping = isSet(NSInferMappingModelAutomaticallyOption)
    sourceModels = Self.sourceModels(options)
    mappingBundles = Self.mappingBundles(options)
  }

  package static func sourceModels(_ options: [AnyHashable: Any]?) -> [NSManagedObjectModel] {
    list(options?[OCDSourceModelsOption])
  }

  package static func mappingModels(_ options: [AnyHashable: Any]?) -> [NSMappingModel] {
    list(options?[OCDMappingModelsOption])
  }

  /// Where mapping model files are searched for.
  package static func mappingBundles(_ options: [AnyHashable: Any]?) -> [Bundle] {
    (options?[OCDMappingModelsOption] as? [Any])?.isEmpty == true ? [] : [.main]
  }

  private static func list<Element>(_ value: Any?) -> [Element] {
    (value as? [Element]) ?? (value as? NSArray)?.compactMap { $0 as? Element } ?? []
  }

  init(infersMapping: Bool, sourceModels: [NSManagedObjectModel]) {
    self.infersMapping = infersMapping
    self.sourceModels = sourceModels
    mappingBundles = [.main]
  }
}

/// Migrates a store to a version of the model in one transaction: afterwards it is complete in the new form, or
/// unchanged.
struct StoreMigration {
  let opened: OpenedDatabase
  let url: URL?
  let model: NSManagedObjectModel
  let configuration: String?
  let options: MigrationOptions

  private var path: String { url?.path ?? "in memory" }
  private var connection: SQLiteConnection { opened.connection }

  /// Has no effect on a store that already has the requested version.
  ///
  /// - Throws: `NSError` 134110 (incompatible data), 134130 (no source model), 134140 (no mapping), 134090 (locked).
  func runIfNeeded() throws {
    let target = StoreMetadata(model: model, configuration: configuration)
    do {
      guard try !isCompatible(stored().metadata) else { return }
      guard !opened.isReadOnly else {
        throw NSError.migration(
          "The store \(path) was written with another version of the model, and a store that is opened for "
            + "reading only can't be migrated.",
          advice: "Give the version of the model that it was written with.")
      }
      try connection.execute("PRAGMA foreign_keys = OFF")
      // Renaming must not rewrite references in other programs' views and triggers, which mean the table of that name.
      try connection.execute("PRAGMA legacy_alter_table = ON")
      defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
      try connection.transaction {
        let (uuid, metadata) = try stored()
        // Another process may have migrated it while this one waited for the lock.
        guard !isCompatible(metadata) else { return }
        try run(from: metadata, uuid, to: target)
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .migration, message: "The store \(path) was left as it is: migrating it failed")
    }
  }

  private func isCompatible(_ metadata: StoreMetadata) -> Bool {
    ModelCompatibility(metadata.versionHashes, model, configuration: configuration).isCompatible
  }

  private func stored() throws -> (uuid: String, metadata: StoreMetadata) {
    try connection.storeMetadata(at: url)
  }

  private func run(from metadata: StoreMetadata, _ uuid: String, to target: StoreMetadata) throws {
    let search = MigrationSearch(path: path, model: model, configuration: configuration, options: options)
    let source = try search.sourceModel(metadata)
    var written = target
    written.custom = metadata.custom
    let plan = MigrationPlan(
      try search.mapping(from: source.model), source: try layout(of: source.model, source.configuration),
      destination: try SQLSchema(model: model, configuration: configuration), destinationModel: model)
    try MigrationRun(connection: connection, path: path, plan: plan, largeValues: url.map(ExternalFolder.init))
      .run(uuid: uuid, metadata: written)
  }

  /// If a store's layout differs from its model, data in unknown columns would be lost.
  private func layout(of model: NSManagedObjectModel, _ configuration: String?) throws -> SQLSchema {
    do {
      return try SQLSchema(
        model: model, configuration: configuration, existing: StoreLayout(connection), location: path)
    } catch {
      guard !(error is SQLiteError) else { throw error }
      let error = error as NSError
      throw NSError.migration(
        error.localizedDescription, advice: "Migrate it with the program that wrote it.",
        userInfo: [NSUnderlyingErrorKey: error])
    }
  }
}
