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
  public let currentModel: NSManagedObjectModelReference
  public let nextModel: NSManagedObjectModelReference
  /// Called with a store of ``currentModel``. What it throws ends the migration, and the store stays as it was.
  open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
  /// Called with a store of ``nextModel``.
  open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

  public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
    (self.currentModel, self.nextModel) = (currentModel, nextModel)
  }

  override var checksums: [String] { [currentModel.versionChecksum, nextModel.versionChecksum] }
}
