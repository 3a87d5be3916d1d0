import Foundation

extension NSManagedObjectModel {
  /// Fills this model with copies of `originals`, which must include every superentity, and redirects inheritance and
  /// relationships of the copies to the copies.
  func takeCopies(of originals: [NSEntityDescription]) {
    let pairs = originals.compactMap { entity in entity.name.map { ($0, entity.copyAlone()) } }
    let copies = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    let children = Dictionary(grouping: originals) { $0.superentity?.name ?? "" }
    for (name, copy) in copies {
      copy.subentities = (children[name] ?? []).compactMap { $0.name.flatMap { copies[$0] } }
    }
    entities = originals.compactMap { $0.name.flatMap { copies[$0] } }
    // Looked up once for each entity: they are collected from it and its superentities.
    var properties: [ObjectIdentifier: [String: NSPropertyDescription]] = [:]
    for case let relationship as NSRelationshipDescription in entities.flatMap(\.ownProperties) {
      let inverseName = relationship.inverseRelationship?.name
      let destination = relationship.destinationEntity?.name.flatMap { copies[$0] }
      relationship.destinationEntity = destination
      if let destination, inverseName != nil, properties[ObjectIdentifier(destination)] == nil {
        properties[ObjectIdentifier(destination)] = destination.propertiesByName
      }
      let inverse = inverseName.flatMap { name in destination.flatMap { properties[ObjectIdentifier($0)]?[name] } }
      relationship.inverseRelationship = inverse as? NSRelationshipDescription
    }
  }
}

extension NSEntityDescription {
  /// The entity and all entities that inherit from it, depth first, at each level in the order of their names without
  /// regard to case: the order in which Core Data numbers them.
  package var withDescendants: [NSEntityDescription] {
    [self] + subentities.sorted(by: Self.numberOrder).flatMap(\.withDescendants)
  }

  /// The order in which Core Data numbers entities that inherit from the same one.
  package static func numberOrder(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
    let (first, second) = (left.name ?? "", right.name ?? "")
    let (firstFolded, secondFolded) = (first.lowercased(), second.lowercased())
    return firstFolded == secondFolded
      ? String.byteOrder(first, second) : String.byteOrder(firstFolded, secondFolded)
  }
}
