import Foundation
import SystemSupport
import OpenCoreData

extension RunModel {
  /// The model of a store in a database, which keeps the hashes of its entities: the definition's, or an embedded one that
  /// is compatible with the store.
  static func ofServer(_ place: StoreLocation, _ definition: PipelineDefinition) throws -> RunModel {
    if let name = definition.model {
      if PipelineDefinition.isModelPath(name) {
        let file = definition.url(for: name)
        guard mayExist(file.path) else { throw MissingModel(path: file.path) }
        return RunModel(model: try StoreModel.find(forStoreAt: nil, file: file, embedded: []).model)
      }
      guard let current = NSManagedObjectModel.embedded(named: name) else {
        throw PipelineError(path: "model", unknown(name))
      }
      return RunModel(model: current)
    }
    let own = definition.vocabulary.model
    let names = [own].compactMap(\.self) + EmbeddedModels.all.map(\.name).filter { $0 != own }
    let models = names.compactMap(NSManagedObjectModel.embedded(named:))
    guard place.exists else {
      guard let first = models.first, own != nil else {
        throw PipelineError(
          path: "model", "no model is named, and no store keeps one; name one in the pipeline")
      }
      return RunModel(model: first)
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: place.type, at: try place.url())
    guard
      let found = models.first(where: {
        $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      })
    else { throw unknownModel(of: place.shown) }
    return RunModel(model: found)
  }
}
