import OpenCoreData

extension RunModel {
  /// The names of the entities that can have objects of their own, sorted.
  package var entityNames: [String] { model.entities.filter { !$0.isAbstract }.compactMap(\.name).sorted() }

  /// The names of an entity's attributes, sorted.
  ///
  /// - Parameter entity: The entity's name. Without one it is `usual`, or else the only entity of the model.
  package func attributeNames(of entity: String?, usual: String) -> [String] {
    let entities = model.entitiesByName
    let chosen = entity.map { entities[$0] } ?? entities[usual] ?? (entities.count == 1 ? entities.first?.value : nil)
    return chosen?.attributesByName.keys.sorted() ?? []
  }
}
