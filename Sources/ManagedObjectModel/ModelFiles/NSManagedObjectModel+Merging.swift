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
}
