import ManagedObjectModel
import Foundation

/// Migrates a store to another model by writing a new store. (Apple: NSMigrationManager.)
///
/// It supports inferred mappings only, so there are no entity migration policies to call.
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(from: url, with: mapping, toDestinationURL: newURL)
/// ```
open class NSMigrationManager: NSObject {
  public let sourceModel: NSManagedObjectModel
  public let destinationModel: NSManagedObjectModel
  /// The mapping model of the last migration.
  open private(set) var mappingModel: NSMappingModel?
  /// 0 before, 1 after a migration.
  open private(set) var migrationProgress: Float = 0

  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Writes the contents of a store of the source model into a new store of the destination model.
  ///
  /// The new file appears complete or not at all; the old one is only read. The new store keeps the UUID of the old one
  /// and gets copies of its external data files.
  ///
  /// - Parameters:
  ///   - sourceURL: A store of `sourceModel`.
  ///   - sourceType: `NSSQLiteStoreType`.
  ///   - sourceOptions: As for `addPersistentStore`; only the timeout is used.
  ///   - mappings: From `NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:)`.
  ///   - destinationURL: A file that does not exist yet.
  ///   - destinationType: `NSSQLiteStoreType`.
  ///   - destinationOptions: As for `addPersistentStore`; ignored.
  /// - Throws: `NSError` 134110, 134140 (no mapping model), 134150 (the source), 134160 (the destination).
  open func migrateStore(
    from sourceURL: URL, sourceType: String = NSSQLiteStoreType, options sourceOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL destinationURL: URL,
    destinationType: String = NSSQLiteStoreType, destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard let mappings else {
      throw NSError.coreData(
        .missingMappingModel, "A migration needs a mapping model: infer one with NSMappingModel.inferredMappingModel.")
    }
    guard mappings.sourceModel === sourceModel, mappings.destinationModel === destinationModel else {
      throw NSError.coreData(
        .missingMappingModel,
        "The mapping model belongs to other models. Infer one from the models of the migration manager.")
    }
    guard sourceType == NSSQLiteStoreType, destinationType == NSSQLiteStoreType else {
      throw NSError.coreData(.invalidStoreType, "Only stores of the type NSSQLiteStoreType can be migrated.")
    }
    guard !FileManager.default.fileExists(atPath: destinationURL.path) else {
      throw NSError.coreData(
        .managerDestinationStore, "There is already a file at \(destinationURL.path). Give another path, or remove it.")
    }
    migrationProgress = 0
    mappingModel = mappings
    let workplace = try Workplace(beside: destinationURL)
    try copy(sourceURL, sourceOptions, to: workplace.file)
    try migrate(workplace.file)
    try workplace.publish(as: destinationURL, supportOf: sourceURL)
    migrationProgress = 1
  }

  private func copy(_ source: URL, _ options: [AnyHashable: Any]?, to copy: URL) throws {
    do {
      let opened = try OpenedDatabase.openForReading(source.path, options: try StoreOptions(options))
      // The connection may read a copy that exists only as long as this value.
      defer { withExtendedLifetime(opened) { opened.connection.close() } }
      let metadata = try opened.connection.storeMetadata(at: source).metadata
      guard sourceModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata.dictionary) else {
        throw NSError.coreData(
          .managerSourceStore,
          "The store \(source.path) is not one of the source model. Give the model that it was "
            + "written with: NSManagedObjectModel.mergedModel(from:forStoreMetadata:) finds it.")
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

  /// A folder next to the destination, so that a rename publishes the result. This object removes it when it is
  /// released.
  private final class Workplace {
    private let folder: URL
    var file: URL { folder.appendingPathComponent("store.sqlite") }

    init(beside destination: URL) throws {
      folder = destination.deletingLastPathComponent()
        .appendingPathComponent(".\(destination.lastPathComponent)-\(UUID().uuidString)", isDirectory: true)
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      } catch {
        throw NSError.coreData(
          .managerDestinationStore,
          "Nothing can be written next to \(destination.path). Check the path and the permissions of its folder.",
          userInfo: [NSUnderlyingErrorKey: error])
      }
    }

    /// The folder of external data is moved first: when the store's file exists, all of the store exists.
    func publish(as destination: URL, supportOf source: URL) throws {
      let files = FileManager.default
      do {
        let support = LargeValues.supportFolder(of: source)
        if files.fileExists(atPath: support.path) {
          try files.copyItem(at: support, to: LargeValues.supportFolder(of: destination))
        }
        try files.moveItem(at: file, to: destination)
      } catch {
        throw NSError.coreData(
          .managerDestinationStore,
          "The migrated store can't be put at \(destination.path): \(error.localizedDescription) Check the folder.",
          userInfo: [NSUnderlyingErrorKey: error])
      }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
  }
}
