import Foundation
import ManagedObjectModel
import PersistentStores

/// What a program asks of a model that it was given.
enum ModelUse {
  static func use(_ model: NSManagedObjectModel) {
    _ = model.entityVersionHashesByName
    for entity in model.entities {
      _ = entity.attributesByName.values.map(\.attributeType)
      _ = entity.relationshipsByName.values.map { $0.inverseRelationship?.name }
      _ = entity.subentities.count
    }
    for configuration in model.configurations { _ = model.entities(forConfigurationName: configuration) }
    // A store with this model: its tables, and its metadata as bytes.
    _ = try? SQLSchema(model: model)
    _ = try? StoreMetadata(model: model).propertyList()
  }
}
