import Foundation

/// Whether a model is compatible with a store, judged by the version hashes of the entities.
package struct ModelCompatibility {
  /// Names of entities, sorted.
  package let changed: [String]
  let onlyInStore: [String]
  let onlyInModel: [String]

  /// - Parameters:
  ///   - stored: The store's version hashes by entity name.
  ///   - exactly: False: an entity whose hash can't be computed is compared by name.
  package init(_ stored: [String: Data], _ model: NSManagedObjectModel, configuration: String?, exactly: Bool = false) {
    let entities = model.entities(forConfigurationName: configuration) ?? []
    let ownEntities = Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
    changed = ownEntities.filter { name, entity in
      stored[name].map { $0 != entity.versionHash && (exactly || entity.hasExactVersionHash) } ?? false
    }.keys.sorted()
    onlyInStore = stored.keys.filter { ownEntities[$0] == nil }.sorted()
    onlyInModel = ownEntities.keys.filter { stored[$0] == nil }.sorted()
  }

  package var isCompatible: Bool { isPart && onlyInStore.isEmpty }
  /// Whether the store has the model's entities. It may have others in addition.
  package var isPart: Bool { changed.isEmpty && onlyInModel.isEmpty }

  /// The differing entities, as error messages list them.
  package var differences: String {
    [("changed", changed), ("only in the store", onlyInStore), ("only in the model", onlyInModel)]
      .filter { !$0.1.isEmpty }.map { "\($0.1.joined(separator: ", ")) (\($0.0))" }.joined(separator: "; ")
  }
}
