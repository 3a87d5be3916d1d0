import ManagedObjectModel
import Foundation

/// Infers whether and how rows of one model become rows of another without custom code.
///
/// The rules are those of Apple's lightweight migration (Core Data Model Versioning and Data Migration, "Lightweight
/// Migration"): entities and properties may be added, removed and renamed; optionality may change if a default value
/// fills the gap; properties may move within a hierarchy; hierarchies may not be merged.
struct MappingInference {
  let match: ModelMatch
  /// Sorted by entity and property; each problem once, at the entity that declares the property.
  private(set) var problems: [MappingProblem] = []

  init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    match = ModelMatch(from: source, to: destination)
    for (first, second) in match.conflicts {
      note(second, property: nil, reason: Self.conflictReason(first.name ?? "", "entities"))
    }
    let entities = destination.entities.sorted { String.byteOrder($0.name ?? "", $1.name ?? "") }
    for entity in entities {
      if entity.superentity == nil { checkHierarchy(below: entity) }
      guard match.source(of: entity) != nil else { continue }
      let properties = match.properties(of: entity)
      for (first, second) in properties.conflicts {
        note(entity, property: second, reason: Self.conflictReason(first, "properties"))
      }
      for property in entity.propertiesByName.values.sorted(by: { String.byteOrder($0.name, $1.name) })
      where !property.isTransient && !(property is NSFetchedPropertyDescription) {
        check(property, of: entity, properties.sources[property.name])
      }
    }
  }

  private static func conflictReason(_ other: String, _ kind: String) -> String {
    "It and '\(other)' are both declared to be the same one of the former \(kind). Give one of them another renaming "
      + "identifier."
  }

  private mutating func note(_ entity: NSEntityDescription, property: String?, reason: String) {
    // A subentity would repeat the problems of its superentity's properties.
    let declaring = property.flatMap { entity.propertiesByName[$0]?.owner } ?? entity
    let problem = MappingProblem(entity: declaring.name ?? "", property: property, reason: reason)
    if !problems.contains(problem) { problems.append(problem) }
  }

  // MARK: Hierarchies

  /// Rows of one hierarchy share a key sequence, so rows of two hierarchies can't be merged into one.
  private mutating func checkHierarchy(below root: NSEntityDescription) {
    var first: NSEntityDescription?
    for entity in root.withDescendants {
      guard let source = match.source(of: entity) else { continue }
      if let first, first.rootEntity !== source.rootEntity {
        note(
          entity, property: nil,
          reason: "It and '\(first.name ?? "")' had no superentity in common and now have '\(root.name ?? "")'. "
            + "Hierarchies can't be merged: keep them apart.")
      }
      first = first ?? source
    }
  }

  // MARK: Properties

  private mutating func check(
    _ property: NSPropertyDescription, of entity: NSEntityDescription, _ found: NSPropertyDescription?
  ) {
    switch (property, found) {
    case (let attribute as NSAttributeDescription, nil): checkAdded(attribute, entity)
    case (let attribute as NSAttributeDescription, let old as NSAttributeDescription):
      if old.isTransient { checkAdded(attribute, entity) } else { check(attribute, entity, formerly: old) }
    case (let relationship as NSRelationshipDescription, nil): checkAdded(relationship, entity)
    case (let relationship as NSRelationshipDescription, let old as NSRelationshipDescription):
      if old.isTransient {
        checkAdded(relationship, entity)
      } else if let obstacle = obstacle(relationship, entity, formerly: old) {
        note(entity, property: relationship.name, reason: obstacle)
      }
    default:
      let (was, isNow) =
        found is NSAttributeDescription ? ("an attribute", "a relationship") : ("a relationship", "an attribute")
      note(entity, property: property.name, reason: "It was \(was) and is \(isNow) now. Give the new one another name.")
    }
  }

  private mutating func checkAdded(_ attribute: NSAttributeDescription, _ entity: NSEntityDescription) {
    guard !attribute.isOptional, attribute.defaultStoredValue.isNull else { return }
    note(
      entity, property: attribute.name,
      reason:
        "It is new and mandatory, and has no default value for existing objects. Give it one, or make it "
        + "optional; if it is an old attribute renamed, set its renaming identifier.")
  }

  private mutating func check(
    _ attribute: NSAttributeDescription, _ entity: NSEntityDescription, formerly old: NSAttributeDescription
  ) {
    if attribute.attributeType != old.attributeType {
      note(
        entity, property: attribute.name,
        reason:
          "Its type was \(old.attributeType.word) and is \(attribute.attributeType.word); values are not converted. Keep "
          + "the attribute, and add another of the new type.")
    }
    if attribute.allowsExternalBinaryDataStorage != old.allowsExternalBinaryDataStorage {
      note(
        entity, property: attribute.name,
        reason:
          "Whether its data may lie in files of their own has changed, and data is not moved. Keep the setting, "
          + "or add another attribute.")
    }
    if !attribute.isOptional, old.isOptional, attribute.defaultStoredValue.isNull {
      note(
        entity, property: attribute.name,
        reason: "It was optional and is mandatory, and has no default value for the objects without one. Give it one.")
    }
  }

  private mutating func checkAdded(_ relationship: NSRelationshipDescription, _ entity: NSEntityDescription) {
    if !relationship.isOptional {
      note(
        entity, property: relationship.name,
        reason: "It is new and mandatory, and existing objects have no destination for it. Make it optional.")
    }
    // Of several objects that lead to one, only one could keep its link.
    if !relationship.isToMany, let inverse = relationship.inverseRelationship, inverse.isToMany,
      let former = inverse.owner.flatMap({ match.source(of: inverse, in: $0) }), !former.isToMany
    {
      note(
        entity, property: relationship.name,
        reason:
          "It is new and to-one, and its inverse '\(inverse.name)' was to-one and is to-many: of several objects that "
          + "lead to one, only one would keep its link. Make it to-many, or keep '\(inverse.name)' to-one.")
    }
  }
}

/// An inference without problems.
package struct InferredMapping {
  /// Retained, as entities reference their model weakly.
  let sourceModel: NSManagedObjectModel
  let destinationModel: NSManagedObjectModel
  let match: ModelMatch

  /// - Throws: `NSError` 134190 with every problem.
  init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
    let inference = MappingInference(from: source, to: destination)
    guard inference.problems.isEmpty else { throw MappingProblem.error(inference.problems) }
    (sourceModel, destinationModel, match) = (source, destination, inference.match)
  }
}

extension NSAttributeType {
  /// `string`, `integer16`: the name of the case without the common suffix.
  fileprivate var word: String { "\(self)".replacingOccurrences(of: "AttributeType", with: "") }
}
