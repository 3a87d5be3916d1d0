import ManagedObjectModel
import Foundation

/// One reason why no mapping can be inferred between two models.
struct MappingProblem: Hashable {
  let entity: String
  let property: String?
  /// One or two sentences: what changed, and what to do about it.
  let reason: String

  /// `Session.rating` or `Session`, with the names of the new model.
  var subject: String { property.map { "\(entity).\($0)" } ?? entity }

  var nsError: NSError {
    var info: [String: Any] = ["entity": entity, "reason": reason]
    info["property"] = property
    return .coreData(.inferredMappingModel, "\(subject): \(reason)", userInfo: info)
  }

  /// All problems as one error (134190); each is also a separate error under NSDetailedErrorsKey.
  static func error(_ problems: [MappingProblem]) -> NSError {
    let list = problems.map { "\($0.subject): \($0.reason)" }.joined(separator: " ")
    return .coreData(
      .inferredMappingModel, "No mapping between the two models can be inferred. \(list)",
      userInfo: ["reason": list, NSDetailedErrorsKey: problems.map(\.nsError)])
  }
}

extension NSError {
  /// A migration that stopped and left the store as it was (134110).
  package static func migration(_ problem: String, advice: String, userInfo: [String: Any] = [:]) -> NSError {
    .coreData(.migration, "\(problem) The store was left as it is. \(advice)", userInfo: userInfo)
  }
}

extension NSError {
  /// A store that does not have the source model (134150).
  package static func notOfSourceModel(_ store: URL) -> NSError {
    .coreData(
      .managerSourceStore,
      "The store \(store.path) is not one of the source model. Give the model that it was written with: "
        + "NSManagedObjectModel.mergedModel(from:forStoreMetadata:) finds it.")
  }
}
