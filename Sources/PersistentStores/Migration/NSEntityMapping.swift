import ManagedObjectModel
import Foundation

/// How a migration treats an entity's objects. (Apple documentation: NSEntityMappingType.)
public enum NSEntityMappingType: UInt, Sendable {
  /// As its entities say: an added entity has no source, a removed one no destination.
  case undefinedEntityMappingType = 0
  /// A migration policy makes the objects.
  case customEntityMappingType = 1
  /// The entity is new; there are no source objects.
  case addEntityMappingType = 2
  /// The entity is gone; its objects are not migrated.
  case removeEntityMappingType = 3
  /// The objects are copied without a change.
  case copyEntityMappingType = 4
  /// The objects are copied by property mappings.
  case transformEntityMappingType = 5
}

/// How objects of one source entity become objects of one destination entity. (Apple documentation: NSEntityMapping.)
///
/// ```swift
/// let mapping = NSEntityMapping()
/// mapping.name = "SessionToSession"
/// mapping.mappingType = .customEntityMappingType
/// mapping.sourceEntityName = "Session"
/// mapping.destinationEntityName = "Session"
/// mapping.entityMigrationPolicyClassName = "Journal.SessionPolicy"
/// ```
open class NSEntityMapping: NSObject {
  /// The name under which relationships and policies ask for its instances. It must be unique in the mapping model.
  /// Inferred mappings are named `IEM_Add_Session`, `IEM_Remove_…`, `IEM_Copy_…` or `IEM_Transform_…`.
  open var name: String = "" { didSet { isChanged = true } }
  /// Whether the entity's objects are added, removed, copied, transformed, or migrated by a policy.
  open var mappingType: NSEntityMappingType = .undefinedEntityMappingType { didSet { isChanged = true } }
  /// Nil for an added entity.
  open var sourceEntityName: String? { didSet { isChanged = true } }
  /// The version of the source entity that the mapping is for; nil for any.
  open var sourceEntityVersionHash: Data? { didSet { isChanged = true } }
  /// Nil for a removed entity.
  open var destinationEntityName: String? { didSet { isChanged = true } }
  /// The version of the destination entity that the mapping is for; nil for any.
  open var destinationEntityVersionHash: Data? { didSet { isChanged = true } }
  /// The mappings of attributes, in the order in which they are carried out. Attributes without one get their default
  /// values.
  open var attributeMappings: [NSPropertyMapping]? { didSet { isChanged = true } }
  /// The mappings of relationships, in the order in which they are carried out.
  open var relationshipMappings: [NSPropertyMapping]? { didSet { isChanged = true } }
  /// Which objects there are: a fetch request, what `FETCH` returns, or a list of objects. Nil for all objects of the
  /// source entity, without those of its subentities.
  open var sourceExpression: ManagedObjectModel.NSExpression? { didSet { isChanged = true } }
  /// Values of the client's own, for its policies.
  open var userInfo: [AnyHashable: Any]? { didSet { isChanged = true } }
  /// The class of the policy, a subclass of ``NSEntityMigrationPolicy``: `Module.Class`, or the name that it was
  /// registered with. Nil for that class itself.
  open var entityMigrationPolicyClassName: String? { didSet { isChanged = true } }

  private var isChanged = false

  /// Whether it is not as it was inferred any more.
  var isModified: Bool {
    isChanged || ((attributeMappings ?? []) + (relationshipMappings ?? [])).contains(where: \.isModified)
  }

  public override init() {}

  /// An inferred mapping.
  ///
  /// - Parameters:
  ///   - source: nil for an added entity.
  ///   - destination: nil for a removed one.
  ///   - match: The matched properties of both entities.
  init(source: NSEntityDescription?, destination: NSEntityDescription?, match: PropertyMatch) {
    let word: String
    switch (source, destination) {
    case (nil, _): (mappingType, word) = (.addEntityMappingType, "Add")
    case (_, nil): (mappingType, word) = (.removeEntityMappingType, "Remove")
    case (let source?, let destination?):
      let isCopy = source.name == destination.name && source.versionHash == destination.versionHash
      (mappingType, word) = isCopy ? (.copyEntityMappingType, "Copy") : (.transformEntityMappingType, "Transform")
    }
    name = "IEM_\(word)_\((destination ?? source)?.name ?? "")"
    (sourceEntityName, sourceEntityVersionHash) = (source?.name, source?.versionHash)
    (destinationEntityName, destinationEntityVersionHash) = (destination?.name, destination?.versionHash)
    sourceExpression = source?.name.map { MappingExpressions.objects(of: $0) }
    func mappings(
      _ properties: [NSPropertyDescription], _ expression: (String) -> ManagedObjectModel.NSExpression
    ) -> [NSPropertyMapping] {
      properties.filter { !$0.isTransient }.sorted { String.byteOrder($0.name, $1.name) }
        .map { NSPropertyMapping(name: $0.name, match.sources[$0.name].map { expression($0.name) }) }
    }
    attributeMappings = destination.map {
      mappings(Array($0.attributesByName.values), MappingExpressions.value)
    }
    relationshipMappings = destination.map {
      mappings(Array($0.relationshipsByName.values)) { MappingExpressions.instances(of: $0) }
    }
  }

  open override var description: String { "(NSEntityMapping: \(name))" }
}
