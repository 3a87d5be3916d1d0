import Foundation

/// Migrates a store to another model by writing a new store. (Apple documentation: NSMigrationManager.)
///
/// An inferred mapping model that was not changed is carried out by SQL. Any other one is carried out object by object, by
/// the policies of its entity mappings (``NSEntityMigrationPolicy``).
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(from: url, with: mapping, toDestinationURL: newURL)
/// ```
open class NSMigrationManager: NSObject {
  private let givenModels: (source: NSManagedObjectModel, destination: NSManagedObjectModel)
  private let source: MigrationStack
  private let destination: MigrationStack
  private let lock = NSLock()
  private var progress: (mapping: NSEntityMapping?, fraction: Float, cancellation: NSError?) = (nil, 0, nil)
  private var running: CustomMigration?

  /// The mapping model of the last migration.
  open private(set) var mappingModel: NSMappingModel?
  /// Values of the client's own, for its policies.
  open var userInfo: [AnyHashable: Any]?
  /// Whether an inferred mapping model is carried out by SQL, without policies and without progress. Default true.
  open var usesStoreSpecificMigrationManager = true

  /// A manager for stores of `sourceModel`.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    givenModels = (sourceModel, destinationModel)
    source = MigrationStack(sourceModel)
    destination = MigrationStack(destinationModel)
  }

  /// A copy of the model that the manager was made with, without the classes of its entities: what the source context
  /// uses.
  open var sourceModel: NSManagedObjectModel { source.model }
  /// As ``sourceModel``, of the destination.
  open var destinationModel: NSManagedObjectModel { destination.model }
  /// The context that reads the source store. During a migration, policies use it without `perform`.
  open var sourceContext: NSManagedObjectContext { source.context }
  /// The context that writes the destination store. During a migration, policies use it without `perform`. The manager
  /// saves it; a policy that deletes objects leaves the save to the manager.
  open var destinationContext: NSManagedObjectContext { destination.context }

  // MARK: Progress, also from another thread

  /// The entity mapping that is carried out, in one of the three passes; nil outside of a migration.
  open var currentEntityMapping: NSEntityMapping? { lock.withLock { progress.mapping } }

  /// How much of the migration is done, from 0 to 1. It can't be observed here: ask for it.
  open var migrationProgress: Float { lock.withLock { progress.fraction } }

  func note(_ mapping: NSEntityMapping?, fraction: Float) {
    lock.withLock { (progress.mapping, progress.fraction) = (mapping, fraction) }
  }

  /// Ends the migration before its next object, or, where SQL carries it out, before the new file gets its name:
  /// `migrateStore` throws `error`, and there is no new store. May be called from another thread.
  open func cancelMigrationWithError(_ error: any Error) {
    lock.withLock { progress.cancellation = error as NSError }
  }

  func checkCancellation() throws { if let error = lock.withLock({ progress.cancellation }) { throw error } }

  // MARK: Migrating

  /// Writes the contents of a store of the source model into a new store of the destination model.
  ///
  /// The new file appears complete or not at all; the old one is only read. With an inferred mapping model, the new store
  /// has the UUID and the keys of the old one; with any other one it has new ones. It gets files of its own for large
  /// values.
  ///
  /// - Parameters:
  ///   - sourceURL: A store of `sourceModel`.
  ///   - sourceType: `NSSQLiteStoreType`.
  ///   - sourceOptions: As for `addPersistentStore`; only the timeout is used.
  ///   - mappings: How objects become other objects.
  ///   - destinationURL: A file that does not exist yet.
  ///   - destinationType: `NSSQLiteStoreType`.
  ///   - destinationOptions: As for `addPersistentStore`; with an inferred mapping model ignored.
  /// - Throws: `NSError` 134110, 134140 (the mapping model does not match the models), 134150 or 134090 (the source, also
  ///   if another program writes to it meanwhile), 134160 (the destination), 134170 (a policy's class), a validation code
  ///   (1550–1690, several as 1560), and what policies throw.
  open func migrateStore(
    from sourceURL: URL, sourceType: String = NSSQLiteStoreType, options sourceOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL destinationURL: URL,
    destinationType: String = NSSQLiteStoreType, destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    let mappings = try checked(mappings)
    guard sourceType == NSSQLiteStoreType, destinationType == NSSQLiteStoreType else {
      throw NSError.coreData(.invalidStoreType, "Only stores of the type NSSQLiteStoreType can be migrated.")
    }
    guard !FileManager.default.fileExists(atPath: destinationURL.path) else {
      throw NSError.coreData(
        .managerDestinationStore, "There is already a file at \(destinationURL.path). Give another path, or remove it.")
    }
    lock.withLock { progress = (nil, 0, nil) }
    defer { lock.withLock { progress.mapping = nil } }
    mappingModel = mappings
    let folder = try MigrationFolder(nextTo: destinationURL)
    if usesStoreSpecificMigrationManager,
      mappings.isInferred(from: givenModels.source, to: givenModels.destination)
    {
      try StoreCopyMigration(from: givenModels.source, to: givenModels.destination)
        .run(from: sourceURL, options: sourceOptions, to: folder.file)
      try checkCancellation()
      try folder.publish(as: destinationURL, dataOf: sourceURL)
    } else {
      let migration = try CustomMigration(mappings, of: self)
      let original = try MigrationSource(sourceURL, options: sourceOptions, model: givenModels.source)
      try run(
        migration, from: original, options: sourceOptions, to: folder.file,
        destinationOptions: destinationOptions ?? [:])
      try checkCancellation()
      try folder.publish(as: destinationURL, dataOf: folder.file)
    }
    note(nil, fraction: 1)
  }

  private func checked(_ mappings: NSMappingModel?) throws -> NSMappingModel {
    guard let mappings else {
      throw NSError.coreData(
        .missingMappingModel, "A migration needs a mapping model: infer one with NSMappingModel.inferredMappingModel.")
    }
    guard !mappings.isInferred(forOthersThan: givenModels.source, givenModels.destination) else {
      throw NSError.coreData(
        .missingMappingModel,
        "The mapping model belongs to other models. Infer one from the models of the migration manager.")
    }
    return mappings
  }

  private func run(
    _ migration: CustomMigration, from original: MigrationSource, options sourceOptions: [AnyHashable: Any]?,
    to file: URL, destinationOptions: [AnyHashable: Any]
  ) throws {
    running = migration
    defer {
      running = nil
      source.close()
      destination.close()
    }
    _ = try source.open(original.url, options: Self.readingOptions(sourceOptions))
    let made = try destination.open(file, options: destinationOptions)
    destination.coordinator.setMetadata(original.customMetadata, for: made)
    // Both contexts are used by one thread, until the last save.
    try sourceContext.performAndWait {
      try sourceContext.throwingReadFailures {
        try destinationContext.performAndWait {
          try destinationContext.throwingReadFailures { try migration.run() }
        }
      }
    }
    try original.checkUnchanged()
    try destination.coordinator.checkpoint()
  }

  private static func readingOptions(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
    var reading: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
    reading[NSPersistentStoreTimeoutOption] = options?[NSPersistentStoreTimeoutOption]
    return reading
  }

  // MARK: For policies

  /// The entity whose objects the mapping reads, in ``sourceModel``; nil for an added entity.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The entity whose objects the mapping makes, in ``destinationModel``; nil for a removed entity.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  /// Notes that the mapping has made `destinationInstance` of `sourceInstance`.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    running?.associations(entityMapping.name)?.add(sourceInstance, destinationInstance)
  }

  /// What the mapping of that name has made of the source objects, in their order; all that it has made for nil. Empty for
  /// a name that the mapping model does not have.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    guard let table = running?.associations(mappingName) else { return [] }
    guard let sourceInstances else { return table.instances(0..<table.count, in: destinationContext).map(\.0) }
    let context = destinationContext
    var found: [NSManagedObject] = []
    for source in sourceInstances { table.appendDestinations(of: source.key, in: context, to: &found) }
    return found
  }

  /// The source objects that the mapping of that name has made the destination instances of, in their order; all for nil.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    guard let table = running?.associations(mappingName) else { return [] }
    let ids = destinationInstances.map { $0.flatMap { table.sources(of: $0) } }
    var seen: Set<ObjectKey> = []
    return (ids ?? table.allSources()).filter { seen.insert($0.key).inserted }.map(sourceContext.object(with:))
  }

  /// Forgets all associations. The contexts stay as they are.
  open func reset() { running?.forgetAssociations() }

  /// What the source objects of a relationship have become, by whatever mapping.
  func destinationInstances(ofAnyMapping sourceInstances: [NSManagedObject]) -> [NSManagedObject] {
    sourceInstances.flatMap { running?.instances(ofAnyMapping: $0.key) ?? [] }
  }

  /// The migration that runs.
  ///
  /// - Throws: `NSError` 134170 for a mapping that is not one of it.
  func migration(in mapping: NSEntityMapping) throws -> CustomMigration {
    guard let running, running.has(mapping) else {
      throw NSError.coreData(
        .entityMigrationPolicy, "The entity mapping '\(mapping.name)' is not one of a migration that runs.")
    }
    return running
  }
}
