import Foundation
import OpenCoreData
import TestSupport
import Testing

/// The examples of doc comments and articles about migration, compiled. A change to an example changes both places.
private enum DocExamplesMigration {
  static func manager(
    old: NSManagedObjectModel, new: NSManagedObjectModel, url: URL, newURL: URL
  ) throws {
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(from: url, with: mapping, toDestinationURL: newURL)
  }

  static func reference(old: NSManagedObjectModel) {
    let first = NSManagedObjectModelReference(model: old, versionChecksum: old.versionChecksum)
    print(first.resolvedModel === old)
  }

  static func lightweight(old: NSManagedObjectModel, new: NSManagedObjectModel) -> NSMigrationStage {
    let stage = NSLightweightMigrationStage([old.versionChecksum, new.versionChecksum])
    return stage
  }

  static func custom(first: NSManagedObjectModelReference, second: NSManagedObjectModelReference) {
    let stage = NSCustomMigrationStage(migratingFrom: first, to: second)
    stage.willMigrateHandler = { manager, _ in
      let context = manager.container?.newBackgroundContext()
      try context?.performAndWait { try context?.save() }
    }
  }

  static func staged(first: NSManagedObjectModelReference, second: NSManagedObjectModelReference, file: URL) {
    let manager = NSStagedMigrationManager([NSCustomMigrationStage(migratingFrom: first, to: second)])
    let description = NSPersistentStoreDescription(url: file)
    description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
  }
}

final class SpotPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    made.first?.setValue("unknown", forKey: "country")
  }
}

final class NamePolicy: NSEntityMigrationPolicy {
  func fullName(_ person: NSManagedObject?) -> String? { person?.value(forKey: "name") as? String }

  override func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    switch name {
    case "fullName:": fullName(arguments[0] as? NSManagedObject)
    default: try super.value(ofMethod: name, arguments: arguments)
    }
  }
}
