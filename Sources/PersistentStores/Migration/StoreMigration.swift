import ManagedObjectModel
import Foundation

/// Models that a store may have been written with, an array of NSManagedObjectModel: an option of
/// `addPersistentStore` that lightweight migration looks at first. Not of Apple's, whose framework looks into bundles.
public let OCDSourceModelsOption = "OCDSourceModelsOption"

/// What the options of `addPersistentStore` say about a store of another version of the model.
struct MigrationOptions {
  let infersMapping: Bool
  let sourceModels: [NSManagedObjectModel]

  /// Nil where no migration is asked for.
  init?(_ options: [AnyHashable: Any]?) {
    func isSet(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false }
    guard isSet(NSMigratePersistentStoresAutomaticallyOption) else { return nil }
    infersMapping = isSet(NSInferMappingModelAutomaticallyOption)
    sourceModels = Self.sourceModels(options)
  }

  static func sourceModels(_ options: [AnyHashable: Any]?) -> [NSManagedObjectModel] {
    (options?[OCDSourceModelsOption] as? [NSManagedObjectModel])
      ?? (options?[OCDSourceModelsOption] as? NSArray)?.compactMap { $0 as? NSManagedObjectModel } ?? []
  }

  init(infersMapping: Bool, sourceModels: [NSManagedObjectModel]) {
    self.infersMapping = infersMapping
    self.sourceModels = sourceModels
  }
}

/// Brings a store to a version of the model, in one transaction: afterwards it is whole in the new form, or untouched.
struct StoreMigration {
  let opened: OpenedDatabase
  let url: URL?
  let model: NSManagedObjectModel
  let configuration: String?
  let options: MigrationOptions

  private var path: String { url?.path ?? "in memory" }
  private var connection: SQLiteConnection { opened.connection }

  /// Does nothing to a store that is of the wanted version already.
  ///
  /// - Throws: `NSError` 134110 (the data does not fit), 134130 (no source model), 134140 (no mapping), 134090 (locked).
  func runIfNeeded() throws {
    let wanted = StoreMetadata(model: model, configuration: configuration)
    do {
      guard try !fits(stored().metadata) else { return }
      guard !opened.isReadOnly else {
        throw NSError.migration(
          "The store \(path) is of another version of the model, and a store that is opened for reading only can't be "
            + "migrated.",
          "Open it for writing once.")
      }
      try connection.execute("PRAGMA foreign_keys = OFF")
      // Renaming must not reach into views and triggers of others, which mean the table of that name.
      try connection.execute("PRAGMA legacy_alter_table = ON")
      defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
      try connection.transaction {
        let (uuid, metadata) = try stored()
        // Another process may have done it while this one waited for the lock.
        guard !fits(metadata) else { return }
        try run(from: metadata, uuid, to: wanted)
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .migration, "The store \(path) was left as it is: migrating it failed")
    }
  }

  private func fits(_ metadata: StoreMetadata) -> Bool {
    ModelFit(metadata.versionHashes, model, configuration: configuration).isFit
  }

  private func stored() throws -> (uuid: String, metadata: StoreMetadata) {
    try connection.storeMetadata(at: url)
  }

  private func run(from metadata: StoreMetadata, _ uuid: String, to wanted: StoreMetadata) throws {
    let source = try sourceModel(metadata)
    let mapping = try mapping(from: source.model)
    var written = wanted
    written.custom = metadata.custom
    try MigrationRun(
      connection: connection, path: path, mapping: mapping,
      source: layout(of: source.model, source.configuration),
      destination: SQLSchema(model: model, configuration: configuration),
      destinationEntities: model.entitiesByName
    ).run(uuid: uuid, metadata: written)
  }

  /// A store that is laid out otherwise than its model says would lose what is not found.
  private func layout(of model: NSManagedObjectModel, _ configuration: String?) throws -> SQLSchema {
    do {
      return try SQLSchema(
        model: model, configuration: configuration, found: StoreLayout(connection), place: path)
    } catch {
      guard !(error is SQLiteError) else { throw error }
      let error = error as NSError
      throw NSError.migration(
        error.localizedDescription, "Migrate it with the program that wrote it.", [NSUnderlyingErrorKey: error])
    }
  }

  private func sourceModel(
    _ metadata: StoreMetadata
  ) throws -> (model: NSManagedObjectModel, configuration: String?) {
    let search = SourceModelSearch(given: options.sourceModels, for: model)
    let (found, lookedAt) = search.find(metadata, configuration: configuration)
    if let found { return found }
    let list =
      lookedAt.isEmpty ? "There is no other model to look at." : "Looked at: \(lookedAt.joined(separator: ", "))."
    throw NSError.coreData(
      .missingSourceModel,
      "The store \(path) was written with a version of the model that was not found. \(list) Keep that version in "
        + "the .xcdatamodeld, or give it with OCDSourceModelsOption.",
      ["metadata": metadata.versionHashes])
  }

  private func mapping(from source: NSManagedObjectModel) throws -> NSMappingModel {
    guard options.infersMapping else {
      throw NSError.coreData(
        .missingMappingModel,
        "The store \(path) is of another version of the model, and there is no mapping model. Set "
          + "NSInferMappingModelAutomaticallyOption to have one inferred.")
    }
    do {
      return try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
    } catch {
      let error = error as NSError
      var info = error.userInfo
      info[NSUnderlyingErrorKey] = error
      throw NSError.coreData(
        .missingMappingModel, "The store \(path) can't be migrated by itself. \(error.localizedDescription)", info)
    }
  }
}
