import ManagedObjectModel
import Foundation

/// Finds what a store is migrated from, and how.
package struct MigrationSearch {
  /// The store's name in messages.
  let path: String
  let model: NSManagedObjectModel
  let configuration: String?
  let options: MigrationOptions

  package init(path: String, model: NSManagedObjectModel, configuration: String?, options: MigrationOptions) {
    (self.path, self.model, self.configuration, self.options) = (path, model, configuration, options)
  }

  package func sourceModel(
    _ metadata: StoreMetadata
  ) throws -> (model: NSManagedObjectModel, configuration: String?) {
    let search = SourceModelSearch(given: options.sourceModels, for: model)
    let (found, lookedAt) = search.find(metadata, configuration: configuration)
    if let found { return found }
    let list =
      lookedAt.isEmpty ? "No other model was found." : "Looked at: \(lookedAt.joined(separator: ", "))."
    throw NSError.coreData(
      .missingSourceModel,
      "The store \(path) was written with a version of the model that was not found. \(list) Keep that version in "
        + "the .xcdatamodeld.",
      suggestion: "Or give the version with OCDSourceModelsOption.",
      userInfo: ["metadata": metadata.versionHashes])
  }

  /// The mapping model files that lead elsewhere, or can't be read.
  private func lookedAt(from source: NSManagedObjectModel) -> String {
    let names = MappingSearch(bundles: options.mappingBundles, from: source, to: model).lookedAt
    return names.isEmpty ? "" : " Looked at: \(names.joined(separator: ", "))."
  }

  package func mapping(from source: NSManagedObjectModel) throws -> InferredMapping {
    guard options.infersMapping else {
      throw NSError.coreData(
        .missingMappingModel,
        "The store \(path) was written with another version of the model, and no mapping model was found."
          + lookedAt(from: source),
        suggestion:
          "Give one with OCDMappingModelsOption, or set NSInferMappingModelAutomaticallyOption to have one inferred.")
    }
    do {
      return try InferredMapping(from: source, to: model)
    } catch {
      let error = error as NSError
      var info = error.userInfo
      info[NSUnderlyingErrorKey] = error
      throw NSError.coreData(
        .missingMappingModel, "The store \(path) can't be migrated automatically. \(error.localizedDescription)",
        userInfo: info)
    }
  }
}
