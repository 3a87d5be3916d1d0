import OpenCoreData
import PersistentStores

/// The records to which errors about related objects are attributed.
extension PlannedLinks {
  /// The rows of the chunk that name an object which was created with this ID, or that change one of the store; nil for
  /// another object.
  func rows(ofRelated id: NSManagedObjectID) -> [Int]? {
    if let change = changes[id] { return change.rows }
    guard let row = id.batchRow else { return nil }
    let creation = creations.values.first { $0.batch.entity === id.entity }
    return creation.flatMap { row < $0.rowsOfObject.count ? $0.rowsOfObject[row] : nil }
  }

  /// Why the store may refuse an object that was created or changed; nil for another one.
  func constraintMessage(of id: NSManagedObjectID) -> String? {
    guard rows(ofRelated: id) != nil else { return nil }
    let constraints = id.entity.uniquenessConstraintNames.map { $0.joined(separator: ", ") }
    if constraints.isEmpty { return nil }
    return
      "the record would \(changes[id] == nil ? "create" : "change") a \(id.entity.name ?? ""), and another one has the same "
      + constraints.joined(separator: " or the same ")
  }
}

/// Which rows of a chunk say where the entries of a plan lead over one relationship: where several records have the key of
/// an entry, the last one that states it.
struct LinkingRows {
  private let plan: ChunkPlan
  /// By number of an inserted entry, where it is not the row that the entry is made from.
  private let laterRows: [Int: Int]
  /// By primary key.
  private var updates: [Int64: Int] = [:]

  init(_ plan: ChunkPlan, over relationship: NSRelationshipDescription) {
    self.plan = plan
    let link = plan.links.links.first { $0.link.name == relationship.name }
    laterRows = link?.laterRows ?? [:]
    guard let link else { return }
    for (update, list) in zip(plan.updates, link.listsOfUpdates) where list != nil {
      updates[update.storeKey] = update.row
    }
  }

  /// The row for an entry; nil for an object that is none of the plan's entries, or whose link stays.
  func row(of entry: NSManagedObjectID) -> Int? {
    guard entry.entity.rootEntity === plan.inserts.entity.rootEntity else { return nil }
    if let number = entry.batchRow { return laterRows[number] ?? plan.insertedRows[number] }
    return entry.storeKey.flatMap { updates[$0] }
  }

  /// The row for the entry that another row has led somewhere before.
  func row(after row: Int) -> Int {
    if let number = plan.insertedRows.firstIndex(of: row) { return laterRows[number] ?? row }
    return plan.updates.first { $0.row == row }.flatMap { updates[$0.storeKey] } ?? row
  }
}
