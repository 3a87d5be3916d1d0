import OpenCoreData

extension ImportEnvironment {
  /// Checks that no plan compares the keys of entries that this run may insert or change: its workers would not know them.
  ///
  /// - Parameters:
  ///   - entries: Those of the ledger.
  ///   - comparesKeys: Whether the run is a plan that compares keys itself; it can't know what another plan inserts.
  /// - Throws: 75 where there is one.
  func checkOpenPlans(_ entries: [LedgerEntry], comparesKeys: Bool = false) throws(RunFailure) {
    if isDryRun || store.givesKeysInOrder || !store.isOpen { return }
    let planned = Dictionary(grouping: entries.filter(\.isPlanned), by: \.run)
    for (id, inputs) in planned.sorted(by: { $0.key < $1.key }) {
      guard let entity = inputs.first?.entity, touches(entity), try isOpen(plan: id, comparingKeys: !comparesKeys)
      else { continue }
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure,
        message:
          "the plan \(id) is open, and \(comparesKeys ? "its" : "the keys of its") \(entity) entries are not all in "
          + "the store yet; close it with 'report --plan \(id)', or end it with --abandon, and try again then",
        concernsStore: true)
    }
  }

  /// Whether the run may insert or change entries of the same inheritance tree.
  private func touches(_ name: String) -> Bool {
    let other = store.coordinator.managedObjectModel.entitiesByName[name]?.rootEntity.name ?? name
    let linked = links.compactMap { $0.relationship.destinationEntity?.rootEntity.name }
    return ([store.entity.rootEntity.name] + linked).contains(other)
  }

  private func isOpen(plan id: String, comparingKeys: Bool) throws(RunFailure) -> Bool {
    let (plans, keys) = (plans, SharedKeyTables(plan: id, definition.vocabulary))
    return try store.perform { coordinator in
      if comparingKeys { return try keys.areThere(in: coordinator) }
      return try !coordinator.participantRows("SELECT 1 FROM \(plans.plan) WHERE planID = ? AND state = 'open'", [id])
        .isEmpty
    }
  }
}
