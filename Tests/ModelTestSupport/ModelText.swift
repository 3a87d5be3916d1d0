import Foundation

import ManagedObjectModel

/// A model as sorted lines of text, one per description: what compiled models and model files both carry.
///
/// Class names are left out (a model within a store does not keep them, nor a compiled one those of transformables),
/// and so is what only code generators look at.
package func modelText(_ model: NSManagedObjectModel) -> [String] {
  var lines = model.entities.flatMap(lines)
  lines += model.entityNamesByConfiguration.map { "configuration \($0): \($1.sorted())" }
  lines += model.fetchRequestTemplates.values.map { "request \($0)" }
  return lines.sorted()
}

private func lines(_ entity: NSEntityDescription) -> [String] {
  let name = entity.name ?? "?"
  let parts = [
    "abstract \(entity.isAbstract)", "super \(entity.superentity?.name ?? "-")",
    "subentities \(entity.subentities.compactMap(\.name).sorted())",
    "modifier \(entity.versionHashModifier ?? "-")", "renaming \(entity.explicitRenamingIdentifier ?? "-")",
    "unique \(entity.uniquenessConstraintNames)", "info \(sorted(entity.userInfo))",
    "hash \(entity.versionHash.base64EncodedString())",
  ]
  let indexes = entity.indexes.map { index in
    let elements = index.elements.map { "\($0.propertyName ?? "?") \($0.collationType) \($0.isAscending)" }
    return "\(name) index \(index.name): \(elements)"
  }
  return ["\(name): \(parts.joined(separator: ", "))"] + indexes
    + entity.ownProperties.map { "\(name).\($0.name): \(text($0))" }
}

private func text(_ property: NSPropertyDescription) -> String {
  var parts = [
    "\(type(of: property))", "optional \(property.isOptional)", "transient \(property.isTransient)",
    "modifier \(property.versionHashModifier ?? "-")", "renaming \(property.explicitRenamingIdentifier ?? "-")",
    "info \(sorted(property.userInfo))", "spotlight \(property.isIndexedBySpotlight)",
  ]
  switch property {
  case let attribute as NSAttributeDescription:
    let constraints = attribute.constraints
    parts += [
      "\(attribute.attributeType)",
      "default \(attribute.defaultValue.map { "\($0)" } ?? "-")",
      "transformer \(attribute.valueTransformerName ?? "-")",
      "external \(attribute.allowsExternalBinaryDataStorage)",
      "preserved \(attribute.preservesValueInHistoryOnDeletion)",
      "bounds \(String(describing: constraints.minimum)) \(String(describing: constraints.maximum))",
      "lengths \(constraints.lengthMin ?? -1) \(constraints.lengthMax ?? -1)", "pattern \(constraints.pattern ?? "-")",
      "derivation \((attribute as? NSDerivedAttributeDescription)?.derivationExpressionFormat ?? "-")",
    ]
  case let relationship as NSRelationshipDescription:
    parts += [
      "to \(relationship.destinationEntity?.name ?? "-")", "inverse \(relationship.inverseRelationship?.name ?? "-")",
      "\(relationship.minCount)...\(relationship.maxCount)", "ordered \(relationship.isOrdered)",
      "\(relationship.deleteRule)",
    ]
  case let fetched as NSFetchedPropertyDescription: parts.append("\(fetched.template.map { "\($0)" } ?? "-")")
  default: break
  }
  return parts.joined(separator: ", ")
}

private func sorted(_ info: [AnyHashable: Any]?) -> [String] { (info ?? [:]).map { "\($0)=\($1)" }.sorted() }
