import Foundation

extension NSManagedObjectModel {
  /// A model with copies of the entities of all `models`. An entity that several of them have must have the same
  /// version hash in each; otherwise the result is nil, as it is for nil. Of no models the result is an empty model.
  /// Configurations of the same name are united.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models else { return nil }
    var merged: [String: NSEntityDescription] = [:]
    var ordered: [NSEntityDescription] = []
    for entity in models.flatMap(\.entities) {
      guard let name = entity.name else { return nil }
      if let known = merged[name] {
        guard known.versionHash == entity.versionHash else { return nil }
      } else {
        merged[name] = entity
        ordered.append(entity)
      }
    }
    self.init()
    takeCopies(of: ordered)
    for model in models {
      versionIdentifiers.formUnion(model.versionIdentifiers)
      sourceFiles += model.sourceFiles
      fetchRequestTemplates.merge(model.fetchRequestTemplates) { first, _ in first }
      takeRequests(of: model)
      entityNamesByConfiguration.merge(model.entityNamesByConfiguration) { first, second in
        first + second.filter { !first.contains($0) }
      }
    }
  }

  /// The merge of every `.momd`, `.mom`, `.xcdatamodeld` and `.xcdatamodel` among the resources of `bundles` (nil: the
  /// main bundle). If a model exists in several forms, the first of these counts. Nil if there are no models, one
  /// cannot be read, or they contradict each other.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    let urls = ModelFile.resources(of: bundles ?? [.main])
    var models: [NSManagedObjectModel] = []
    for url in urls {
      guard let model = NSManagedObjectModel(contentsOf: url) else { return nil }
      models.append(model)
    }
    return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
  }

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
    for case let relationship as NSRelationshipDescription in entities.flatMap(\.ownProperties) {
      let inverseName = relationship.inverseRelationship?.name
      let destination = relationship.destinationEntity?.name.flatMap { copies[$0] }
      relationship.destinationEntity = destination
      relationship.inverseRelationship = inverseName.flatMap {
        destination?.propertiesByName[$0] as? NSRelationshipDescription
      }
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
