import Foundation

/// Whether a store was written with a model: by the version hashes of the entities.
struct ModelFit {
  /// Names of entities, in order.
  let changed: [String]
  let onlyInStore: [String]
  let onlyInModel: [String]

  /// - Parameters:
  ///   - stored: The store's version hashes by entity name.
  ///   - exactly: False: an entity whose hash can't be computed fits by its name.
  init(_ stored: [String: Data], _ model: NSManagedObjectModel, configuration: String?, exactly: Bool = false) {
    let entities = model.entities(forConfigurationName: configuration) ?? []
    let wanted = Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
    changed = wanted.filter { name, entity in
      stored[name].map { $0 != entity.versionHash && (exactly || entity.hasExactVersionHash) } ?? false
    }.keys.sorted()
    onlyInStore = stored.keys.filter { wanted[$0] == nil }.sorted()
    onlyInModel = wanted.keys.filter { stored[$0] == nil }.sorted()
  }

  var isFit: Bool { isPart && onlyInStore.isEmpty }
  /// Whether the store has the model's entities, and perhaps others.
  var isPart: Bool { changed.isEmpty && onlyInModel.isEmpty }

  /// The entities that differ, as error messages list them.
  var differences: String {
    [("changed", changed), ("only in the store", onlyInStore), ("only in the model", onlyInModel)]
      .filter { !$0.1.isEmpty }.map { "\($0.1.joined(separator: ", ")) (\($0.0))" }.joined(separator: "; ")
  }
}

/// What to do about a store that was written with another version of the model. Looked into only once it was refused.
struct ModelAdvice {
  let metadata: StoreMetadata
  let model: NSManagedObjectModel
  let configuration: String?
  let options: [AnyHashable: Any]?

  var text: String {
    let search = SourceModelSearch(given: MigrationOptions.sourceModels(options), for: model)
    let (found, lookedAt) = search.find(metadata, configuration: configuration)
    guard let found, let name = lookedAt.last else {
      let versions =
        lookedAt.isEmpty
        ? "" : "None of the versions that were found fits (\(lookedAt.joined(separator: ", "))). "
      return versions + "Open it with the version of the model it was made by."
    }
    let problems = MappingInference(from: found.model, to: model).problems
    guard problems.isEmpty else {
      let list = problems.map { "\($0.place): \($0.reason)" }.joined(separator: " ")
      return
        "It fits \(name): open it with that version. No lightweight migration leads from there to this model: \(list)"
    }
    return
      "It fits \(name): open it with that version, or have it migrated, which a lightweight migration can do: open "
      + "it for writing with NSMigratePersistentStoresAutomaticallyOption and "
      + "NSInferMappingModelAutomaticallyOption set to true."
  }
}
