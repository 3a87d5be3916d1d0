import Foundation

/// A step of a staged migration. (Apple documentation: NSMigrationStage.)
open class NSMigrationStage: NSObject {
  /// A name for logs of the client's own.
  open var label: String?

  override init() {}

  /// The versions before and after it, in their order.
  var checksums: [String] { [] }
}

/// Versions of a model between which mappings can be inferred. (Apple documentation: NSLightweightMigrationStage.)
///
/// ```swift
/// let stage = NSLightweightMigrationStage([old.versionChecksum, new.versionChecksum])
/// ```
open class NSLightweightMigrationStage: NSMigrationStage {
  /// In the order of the versions.
  public let versionChecksums: [String]

  /// A stage between models with these version checksums, in the order of the versions.
  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }

  override var checksums: [String] { versionChecksums }
}

/// A step between two versions with code before and after it. (Apple documentation: NSCustomMigrationStage.)
///
/// The step itself is an inferred migration. The handlers use ``NSStagedMigrationManager/container``.
///
/// ```swift
/// let stage = NSCustomMigrationStage(migratingFrom: first, to: second)
/// stage.willMigrateHandler = { manager, _ in
///   let context = manager.container?.newBackgroundContext()
///   try context?.performAndWait { try context?.save() }
/// }
/// ```
open class NSCustomMigrationStage: NSMigrationStage {
  /// The model of the store before the stage.
  public let currentModel: NSManagedObjectModelReference
  /// The model of the store after the stage.
  public let nextModel: NSManagedObjectModelReference
  /// Called with a store of ``currentModel``. What it throws ends the migration, and the store stays as it was.
  open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
  /// Called with a store of ``nextModel``.
  open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

  /// A stage that migrates a store of `currentModel` to `nextModel` and calls the handlers.
  public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
    (self.currentModel, self.nextModel) = (currentModel, nextModel)
  }

  override var checksums: [String] { [currentModel.versionChecksum, nextModel.versionChecksum] }
}
