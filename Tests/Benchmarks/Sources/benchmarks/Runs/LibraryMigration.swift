import Foundation
import OpenCoreData

/// A migration of the library whose policy sets a new attribute of each book.
enum LibraryMigration {
  static func run(from source: URL, to destination: URL) throws {
    guard let old = NSManagedObjectModel.embedded(named: "Library"), let new = old.copy() as? NSManagedObjectModel,
      let book = new.entitiesByName["Book"]
    else { throw BenchmarkFailure("the model Library is not embedded; 'make bench' builds the program with it") }
    let shelf = NSAttributeDescription()
    (shelf.name, shelf.attributeType, shelf.isOptional) = ("shelf", .stringAttributeType, true)
    book.properties.append(shelf)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    for entity in mapping.entityMappings where entity.destinationEntityName == "Book" {
      entity.mappingType = .customEntityMappingType
      NSEntityMigrationPolicy.register(ShelfPolicy.self, forName: "ShelfPolicy")
      entity.entityMigrationPolicyClassName = "ShelfPolicy"
    }
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: source, with: mapping, toDestinationURL: destination)
  }
}

/// Puts each book on the shelf of its place.
private final class ShelfPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
    for book in made { book.setValue(source.value(forKey: "place"), forKey: "shelf") }
  }
}
