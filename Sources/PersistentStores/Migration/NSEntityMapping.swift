import ManagedObjectModel
import Foundation

/// How a migration treats an entity's objects. (Apple: NSEntityMappingType.)
public enum NSEntityMappingType: UInt, Sendable {
  case undefinedEntityMappingType = 0
  case customEntityMappingType = 1
  case addEntityMappingType = 2
  case removeEntityMappingType = 3
  case copyEntityMappingType = 4
  case transformEntityMappingType = 5
}

/// The source of a destination property's values. (Apple: NSPropertyMapping.)
open class NSPropertyMapping: NSObject {
  /// The name of the property in the destination entity.
  public let name: String
  /// The name of the property in the source entity; nil for an added property, which gets its default value.
  ///
  /// An addition: Apple's `valueExpression` is an NSExpression, which Foundation can create on Apple's platforms only.
  public let sourceName: String?

  init(name: String, sourceName: String?) {
    self.name = name
    self.sourceName = sourceName
  }

  open override var description: String { "(NSPropertyMapping: \(name) ← \(sourceName ?? "default"))" }
}

/// How objects of one source entity become objects of one destination entity. (Apple: NSEntityMapping.)
open class NSEntityMapping: NSObject {
  /// `IEM_Add_Session`, `IEM_Remove_…`, `IEM_Copy_…` or `IEM_Transform_…`, as Apple's framework names inferred
  /// mappings.
  public let name: String
  public let mappingType: NSEntityMappingType
  /// The mappings of stored attributes, by name; nil if the entity is removed.
  public let attributeMappings: [NSPropertyMapping]?
  /// The mappings of relationships, by name; nil if the entity is removed.
  public let relationshipMappings: [NSPropertyMapping]?

  /// These entities belong to the models that the mapping model retains.
  let source: NSEntityDescription?
  let destination: NSEntityDescription?

  open var sourceEntityName: String? { source?.name }
  open var destinationEntityName: String? { destination?.name }
  open var sourceEntityVersionHash: Data? { source?.versionHash }
  open var destinationEntityVersionHash: Data? { destination?.versionHash }

  /// - Parameters:
  ///   - source: nil for an added entity.
  ///   - destination: nil for a removed one.
  ///   - match: The matched properties of both entities.
  init(source: NSEntityDescription?, destination: NSEntityDescription?, match: PropertyMatch) {
    self.source = source
    self.destination = destination
    let word: String
    switch (source, destination) {
    case (nil, _): (mappingType, word) = (.addEntityMappingType, "Add")
    case (_, nil): (mappingType, word) = (.removeEntityMappingType, "Remove")
    case (let source?, let destination?):
      let isCopy = source.name == destination.name && source.versionHash == destination.versionHash
      (mappingType, word) = isCopy ? (.copyEntityMappingType, "Copy") : (.transformEntityMappingType, "Transform")
    }
    name = "IEM_\(word)_\((destination ?? source)?.name ?? "")"
    func mappings(_ properties: [NSPropertyDescription]) -> [NSPropertyMapping] {
      properties.filter { !$0.isTransient }.sorted { String.byteOrder($0.name, $1.name) }
        .map { NSPropertyMapping(name: $0.name, sourceName: match.sources[$0.name]?.name) }
    }
    attributeMappings = destination.map { mappings(Array($0.attributesByName.values)) }
    relationshipMappings = destination.map { mappings(Array($0.relationshipsByName.values)) }
  }

  open override var description: String { "(NSEntityMapping: \(name))" }
}
