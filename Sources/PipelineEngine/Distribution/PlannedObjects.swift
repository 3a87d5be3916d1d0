import OpenCoreData
import PersistentStores

/// Writes what identifies the objects of the store that the records of a part can lead to, for its workers.
///
/// `plan` does so, or a worker that finds the parts complete that fill these entities. Several workers may do so at the
/// same time, also while others have begun with the part: what is there stays.
struct PlannedObjects {
  let environment: ImportEnvironment
  let ledger: Ledger
  private var store: ImportStore { environment.store }

  /// Writes them, if that was not done.
  func complete() throws(RunFailure) {
    let tables = environment.sharedLinks
    if try store.perform({ try tables.isComplete(in: $0) }) { return }
    let isCancelled = environment.monitor.isCancelled
    for (group, links) in Dictionary(grouping: environment.links, by: \.group).sorted(by: { $0.key < $1.key }) {
      for entity in links[0].relationship.destinationEntity?.withDescendants ?? [] where !entity.isAbstract {
        try store.walk(links[0].digester(of: entity), of: entity, with: [], unless: isCancelled) { digests, keys in
          try save(tables.insert(digests.keys, storeKeys: keys, entity: entity.name ?? "", group: group))
        }
      }
    }
    if isCancelled() {
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure, message: "cancelled while the related objects of the store were read")
    }
    try store.perform { _ in try save(tables.noteCompletion) }
  }

  private func save(_ statement: LedgerTables.Statement) throws {
    ledger.prepare(Ledger.Page(statements: [statement]))
    defer { ledger.clear() }
    try store.coordinator.saveParticipants()
  }
}
