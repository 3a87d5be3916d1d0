import ManagedObjectModel
import Foundation

extension StoreMetadata {
  /// The model must be the one that the store was written with.
  ///
  /// - Throws: `NSError` 134100 with the advice for another one.
  package func checkCompatible(
    with model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?, location: String
  ) throws {
    let compatibility = ModelCompatibility(versionHashes, model, configuration: configuration)
    guard !compatibility.isCompatible else { return }
    let advice = ModelAdvice(metadata: self, model: model, configuration: configuration, options: options).text
    throw NSError.coreData(
      .incompatibleModel,
      "The model used to open the store \(location) is not the one it was created with. These entities "
        + "differ: \(compatibility.differences). \(advice.message)",
      suggestion: advice.suggestion, userInfo: ["metadata": versionHashes])
  }
}

/// Advice for a store that was written with another version of the model. Computed only after the store was rejected.
struct ModelAdvice {
  let metadata: StoreMetadata
  let model: NSManagedObjectModel
  let configuration: String?
  let options: [AnyHashable: Any]?

  /// The advice, and the options that follow it, if it is a migration.
  var text: (message: String, suggestion: String?) {
    let search = SourceModelSearch(given: MigrationOptions.sourceModels(options), for: model)
    let (found, lookedAt) = search.find(metadata, configuration: configuration)
    guard let found, let name = lookedAt.last else {
      let versions =
        lookedAt.isEmpty
        ? "" : "None of the versions found is compatible (\(lookedAt.joined(separator: ", "))). "
      return (versions + "Open it with the version of the model that it was written with.", nil)
    }
    let problems = MappingInference(from: found.model, to: model).problems
    guard problems.isEmpty else {
      let list = problems.map { "\($0.subject): \($0.reason)" }.joined(separator: " ")
      let message =
        "It is compatible with \(name): open it with that version. No lightweight migration leads from there to this "
        + "model: \(list)"
      return (message, nil)
    }
    return (
      "It is compatible with \(name): open it with that version, or have its app migrate it, which a lightweight "
        + "migration can do.",
      "Open it for writing with NSMigratePersistentStoresAutomaticallyOption and "
        + "NSInferMappingModelAutomaticallyOption set to true."
    )
  }
}
