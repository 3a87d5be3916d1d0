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
    let planned = Dictionary(grouping: entries.filter(\.isPlanned), by: \.run)
    for (id, inputs) in planned.sorted(by: { $0.key < $1.key }) {
      guard let plan = try openPlan(id, inputs), let obstacle = obstacle(of: plan, isPlan: isPlan) else { continue }
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure,
        message:
          "the plan \(id) is open, and \(obstacle); close it with 'report --plan \(id)', or end it with --abandon, "
          + "and try again then",
        concernsStore: true)
    }
  }

  /// What an open plan writes, by the names of root entities.
  private struct OpenPlan {
    /// The entity of its entries, and its root.
    let entity: String
    let root: String
    let comparesKeys: Bool
    /// What its records lead to.
    let related: Set<String>
  }

  /// Why this run can't begin while a plan is open; nil where it can.
  private func obstacle(of plan: OpenPlan, isPlan: Bool) -> String? {
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
      "its workers look up \(shared) objects, of which they know those that they have created themselves and those "
      + "that the store had"
  }

  /// A plan that is open; nil for one that was ended.
  private func openPlan(_ id: String, _ inputs: [LedgerEntry]) throws(RunFailure) -> OpenPlan? {
    let (plans, entities) = (plans, store.coordinator.managedObjectModel.entitiesByName)
    let (pipeline, comparesKeys) = try store.perform { coordinator in
      (
        try coordinator.participantRows("SELECT pipeline FROM \(plans.plan) WHERE planID = ? AND state = 'open'", [id])
          .first?.first as? String,
        try SharedKeyTables(PlanTableNames(plan: id, definition.vocabulary)).areThere(in: coordinator)
      )
    }
    guard let pipeline, let entity = inputs.first?.entity else { return nil }
    let plan = try? StoredPlan(encoded: pipeline, vocabulary: definition.vocabulary)
    let related = plan?.pipeline.linkedColumns.compactMap {
      entities[entity]?.relationshipsByName[$0.relationship]?.destinationEntity?.rootEntity.name
    }
    return OpenPlan(
      entity: entity, root: entities[entity]?.rootEntity.name ?? entity, comparesKeys: comparesKeys,
      related: Set(related ?? []))
  }
}
