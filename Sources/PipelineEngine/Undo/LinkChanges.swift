import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// How often the entries of an entity were linked or unlinked by imports and undos: each time their version grew by one,
/// though its values stayed.
struct LinkChanges {
  /// A save that changed an entry's links.
  private struct Change {
    let ordinal: Int64
    let input: Int64
  }

  /// By primary key, in the order of the saves.
  private var changes: [Int64: [Change]] = [:]

  /// - Throws: ``UndoRefusal`` for a record that is damaged.
  init(of entity: NSEntityDescription, _ tables: LedgerTables, in coordinator: NSPersistentStoreCoordinator) throws {
    guard try tables.layout(in: coordinator) == .current, let root = entity.rootEntity.name else { return }
    let rows = try coordinator.participantRows(
      "SELECT inputID, ordinal, keys FROM \(tables.linked) WHERE entity = ? ORDER BY ordinal", [root])
    for row in rows {
      guard let input = row[0] as? Int64, let ordinal = row[1] as? Int64, let data = row[2] as? Data,
        let keys = LinkedKeys.decoded(data)
      else {
        throw UndoRefusal(
          message: "the ledger's record of linked objects is damaged; restore the store from a "
            + "copy")
      }
      for key in keys { changes[key, default: []].append(Change(ordinal: ordinal, input: input)) }
    }
  }

  /// Notes what the undo itself changes.
  mutating func add(_ keys: [Int64]) {
    for key in keys { changes[key, default: []].append(Change(ordinal: .max, input: 0)) }
  }

  /// The version that an entry would have if it had not been linked.
  ///
  /// - Parameter ordinal: The save that found the version; nil for the present one.
  func ownVersion(_ version: Int64, of key: Int64, before ordinal: Int64? = nil) -> Int64 {
    guard let all = changes[key] else { return version }
    // A damaged version may be the least of all: then it differs from each expected one.
    guard let ordinal else { return version &- Int64(all.count) }
    return version &- Int64(all.count { $0.ordinal < ordinal })
  }

  /// The inputs that have linked entries to one of these.
  func inputs(of key: Int64) -> Set<Int64> { Set(changes[key, default: []].map(\.input)) }
}
