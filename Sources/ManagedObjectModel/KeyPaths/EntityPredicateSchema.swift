import Foundation

/// The attributes of an entity in the form that predicates and sort keys use.
package struct EntityPredicateSchema: PredicateSchema {
  let entity: NSEntityDescription

  package init(entity: NSEntityDescription) { self.entity = entity }

  package func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    switch try AttributePath(keyPath, of: entity).end {
    case .attribute(let attribute, _): return attribute.attributeType.predicateType
    case .object: return .object
    case .entityName: return .text
    }
  }

  package func elements(onKeyPath keyPath: [String]) throws -> PredicateElements? {
    ElementPath(keyPath, of: entity).map {
      PredicateElements(count: $0.relationships.count, schema: EntityPredicateSchema(entity: $0.destination))
    }
  }

  /// The key of the error's user info whose value is the key path that the entity does not have.
  package static let unknownKeyPathKey = "NSUnknownKeyPath"

  package static func unknown(_ keyPath: [String], in entity: NSEntityDescription) -> NSError {
    .coreData(
      .coreData,
      "keypath \(keyPath.joined(separator: ".")) not found in entity \(entity.name ?? ""). Its attributes are: "
        + entity.attributeSlots.map(\.name).joined(separator: ", ")
        + (entity.relationshipsByName.isEmpty
          ? "." : "; its relationships: \(entity.relationshipsByName.keys.sorted().joined(separator: ", "))."),
      userInfo: [unknownKeyPathKey: keyPath.joined(separator: ".")])
  }
}

extension NSEntityDescription: PredicateNamed {
  package var predicateName: String? { name }
}
