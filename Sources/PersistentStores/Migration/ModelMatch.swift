import ManagedObjectModel
import Foundation

/// A name in a model with its renaming identifier, if any.
struct RenamableName {
  let name: String
  let identifier: String?
}

/// The old name that each new name continues.
struct NameMatch {
  /// Indexes of the old names by index of the new ones.
  private(set) var sources: [Int: Int] = [:]
  /// Pairs of new names that claim the same old name, by index.
  private(set) var conflicts: [(Int, Int)] = []

  /// Stated renamings take precedence over equal names. A renaming identifier is the old name or the old version's
  /// renaming identifier, so that one set once may stay through all later versions.
  init(old: [RenamableName], new: [RenamableName]) {
    let rules: [(RenamableName, RenamableName) -> Bool] = [
      { old, new in new.identifier != nil && new.identifier == old.identifier && new.name == old.name },
      { old, new in new.identifier == old.name },
      { old, new in new.identifier != nil && new.identifier == old.identifier },
      { old, new in new.name == old.name },
      { old, new in new.identifier == nil && new.name == old.identifier },
    ]
    for rule in rules {
      let taken = Set(sources.values)
      var claimed: [Int: Int] = [:]
      for position in new.indices where sources[position] == nil {
        let found = old.indices.first { !taken.contains($0) && rule(old[$0], new[position]) }
        guard let found else { continue }
        if let other = claimed[found] {
          conflicts.append((other, position))
        } else {
          claimed[found] = position
          sources[position] = found
        }
      }
    }
  }
}

/// The source of the properties of one entity.
struct PropertyMatch {
  /// By name in the destination.
  var sources: [String: NSPropertyDescription] = [:]
  /// Pairs of names in the destination that claim the same property.
  var conflicts: [(String, String)] = []

  init() {}

  /// Own and inherited properties are compared together, so a property may move within its hierarchy.
  init(from source: NSEntityDescription, to destination: NSEntityDescription) {
    func listed(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
      entity.propertiesByName.values.filter { !($0 is NSFetchedPropertyDescription) }
        .sorted { String.byteOrder($0.name, $1.name) }
    }
    func names(_ properties: [NSPropertyDescription]) -> [RenamableName] {
      properties.map { RenamableName(name: $0.name, identifier: $0.explicitRenamingIdentifier) }
    }
    let (old, new) = (listed(source), listed(destination))
    let match = NameMatch(old: names(old), new: names(new))
    for (position, found) in match.sources { sources[new[position].name] = old[found] }
    conflicts = match.conflicts.map { (new[$0].name, new[$1].name) }
  }
}

/// The corresponding entities and properties of two models.
struct ModelMatch {
  private var sources: [ObjectIdentifier: NSEntityDescription] = [:]
  private var destinations: [ObjectIdentifier: NSEntityDescription] = [:]
  private var propertyMatches: [ObjectIdentifier: PropertyMatch] = [:]
  /// Pairs of entities of the destination that claim the same source.
  private(set) var conflicts: [(NSEntityDescription, NSEntityDescription)] = []

  init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    func listed(_ model: NSManagedObjectModel) -> [NSEntityDescription] {
      model.entities.sorted { String.byteOrder($0.name ?? "", $1.name ?? "") }
    }
    func names(_ entities: [NSEntityDescription]) -> [RenamableName] {
      entities.map { RenamableName(name: $0.name ?? "", identifier: $0.explicitRenamingIdentifier) }
    }
    let (old, new) = (listed(source), listed(destination))
    let match = NameMatch(old: names(old), new: names(new))
    for (position, found) in match.sources {
      sources[ObjectIdentifier(new[position])] = old[found]
      destinations[ObjectIdentifier(old[found])] = new[position]
      propertyMatches[ObjectIdentifier(new[position])] = PropertyMatch(from: old[found], to: new[position])
    }
    conflicts = match.conflicts.map { (new[$0], new[$1]) }
  }

  /// The source of a destination entity; nil for an added one.
  func source(of destination: NSEntityDescription) -> NSEntityDescription? { sources[ObjectIdentifier(destination)] }

  /// The destination of a source entity; nil for a removed one.
  func destination(of source: NSEntityDescription) -> NSEntityDescription? { destinations[ObjectIdentifier(source)] }

  func properties(of destination: NSEntityDescription) -> PropertyMatch {
    propertyMatches[ObjectIdentifier(destination)] ?? PropertyMatch()
  }

  /// The source of a stored attribute in objects of `entity`; nil for an added attribute and for one that had no
  /// column.
  func source(of attribute: NSAttributeDescription, in entity: NSEntityDescription) -> NSAttributeDescription? {
    let found = properties(of: entity).sources[attribute.name] as? NSAttributeDescription
    return found?.isTransient == true ? nil : found
  }

  /// The source of a stored relationship in objects of `entity`; nil for an added relationship and for one that was not
  /// stored.
  func source(of relationship: NSRelationshipDescription, in entity: NSEntityDescription)
    -> NSRelationshipDescription?
  {
    let found = properties(of: entity).sources[relationship.name] as? NSRelationshipDescription
    return found?.isTransient == true ? nil : found
  }
}
