import Foundation
import OpenCoreData

extension ImportEnvironment {
  /// Checks that no plan is open whose workers would not know what this run inserts or changes, and whose entries a plan
  /// would not know.
  ///
  /// - Parameters:
  ///   - entries: Those of the ledger.
  ///   - isPlan: Whether the run is a plan itself.
  /// - Throws: 75 where there is one.
  func checkOpenPlans(_ entries: [LedgerEntry], isPlan: Bool = false) throws(RunFailure) {
    if isDryRun || store.givesKeysInOrder || !store.isOpen { return }
    for id in Set(entries.filter(\.isPlanned).map(\.run)).sorted() {
      guard let obstacle = try openParts(id).lazy.compactMap({ obstacle(of: $0, isPlan: isPlan) }).first else {
        continue
      }
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure,
        message:
          "the plan \(id) is open, and \(obstacle); close it with 'report --plan \(id)', or end it with --abandon, "
          + "and try again then",
        concernsStore: true)
    }
  }

  /// What a part of an open plan writes, by the names of root entities.
  private struct OpenPart {
    /// The entity of its entries, and its root.
    let entity: String
    let root: String
    let comparesKeys: Bool
    /// What its records lead to.
    let related: Set<String>
  }

  /// Why this run can't begin while a plan is open; nil where it can.
  private func obstacle(of plan: OpenPart, isPlan: Bool) -> String? {
    let own = store.entity.rootEntity.name ?? ""
    let related = Set(links.compactMap { $0.relationship.destinationEntity?.rootEntity.name })
    let touched = related.union([own])
    if plan.comparesKeys, touched.contains(plan.root) {
      return "the keys of its \(plan.entity) entries are not all in the store yet"
    }
    // A plan reads once what its records can lead to, and the keys of its entity.
    if isPlan, related.contains(plan.root) || !definition.key.isEmpty && own == plan.root {
      return "its \(plan.entity) entries are not all in the store yet"
    }
    guard let shared = plan.related.intersection(touched).min() else { return nil }
    return
      "its workers look up \(shared) objects, and know only those that they have created and those that the store had "
      + "before"
  }

  /// The parts of a plan that is open; none for one that was ended.
  private func openParts(_ id: String) throws(RunFailure) -> [OpenPart] {
    let (plans, entities) = (plans, store.coordinator.managedObjectModel.entitiesByName)
    let pipeline = try store.perform {
      try $0.participantRows("SELECT pipeline FROM \(plans.plan) WHERE planID = ? AND state = 'open'", [id])
        .first?.first as? String
    }
    struct Kept: Decodable { var pipeline: PipelineDefinition }
    let decoder = JSONDecoder()
    decoder.userInfo[.definitionVocabulary] = definition.vocabulary
    guard let pipeline, let plan = try? decoder.decode(Kept.self, from: Data(pipeline.utf8)) else { return [] }
    return plan.pipeline.imports.map { part in
      let entity = entities[part.entity]
      let related = part.linkedColumns.compactMap {
        entity?.relationshipsByName[$0.relationship]?.destinationEntity?.rootEntity.name
      }
      return OpenPart(
        entity: part.entity, root: entity?.rootEntity.name ?? part.entity, comparesKeys: !part.key.isEmpty,
        related: Set(related))
    }
  }
}
