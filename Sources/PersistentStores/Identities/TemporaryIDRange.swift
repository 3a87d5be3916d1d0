import ManagedObjectModel
import Foundation
import SystemSupport
import Synchronization

/// A range of temporary identities, one for each object of a batch, in order.
///
/// A temporary ID retains its range, so that every context of the chain can read here which keys a save allocated. Each
/// store that takes objects of the range resolves it once; a resolution never changes.
package final class TemporaryIDRange: Sendable {
  /// Serial number of the first identity; numbers are unique in the process.
  package let first: UInt64
  package let count: Int
  /// The entity of all objects.
  package let entity: NSEntityDescription

  /// The keys that a store allocated for the objects of a range.
  package struct Resolution: Sendable {
    package var store: StoreIdentity
    /// Key of the first row that is neither removed nor obtained.
    package var firstKey: Int64
    package var removedRows: [Int]

    package init(store: StoreIdentity, firstKey: Int64, removedRows: [Int]) {
      self.store = store
      self.firstKey = firstKey
      self.removedRows = removedRows
    }

    /// The key of `row`, where the rows in `obtained` have keys of their own; nil for a removed row.
    package func key(row: Int, obtained: [Int: Int64]) -> Int64? {
      guard let before = removedRows.insertionIndex(ifAbsent: row) else { return nil }
      if let known = obtained[row] { return known }
      // Rows with keys of their own do not consume a key of the sequence.
      let taken =
        obtained.isEmpty
        ? 0 : obtained.keys.count { $0 < row && removedRows.insertionIndex(ifAbsent: $0) != nil }
      return firstKey + Int64(row - before - taken)
    }
  }

  fileprivate struct State: Sendable {
    /// One for each store that took rows; a row belongs to the resolution that does not exclude it.
    var resolutions: [Resolution] = []
    var obtained: [Int: (store: StoreIdentity, key: Int64)] = [:]
    /// Rows that were assigned to a store (`assign(_:to:)`).
    var assigned: [Int: StoreIdentity] = [:]
  }

  private let state = Locked(State())
  /// The number of changes: 0 avoids the lock on the common path; an increase since the last check makes a context
  /// look.
  private let revisionCounter = Atomic<Int>(0)

  /// The sum over all ranges: while it is constant, no range has changed.
  private static let globalRevisionCounter = Atomic<Int>(0)
  package static var globalRevision: Int { globalRevisionCounter.load(ordering: .acquiring) }

  private static let nextSerial = Atomic<UInt64>(1)

  package init(count: Int, of entity: NSEntityDescription) {
    self.count = count
    self.entity = entity
    first = Self.nextSerial.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
  }

  /// Records the keys of a finished save.
  package func resolve(_ resolution: Resolution) {
    state.withLock { $0.resolutions.append(resolution) }
    bumpRevision()
  }

  /// Records a key that was allocated before the save (`obtainPermanentIDs(for:)`).
  package func obtain(_ key: Int64, row: Int, from store: StoreIdentity) {
    state.withLock { $0.obtained[row] = (store, key) }
    bumpRevision()
  }

  /// Records the store that the object in `row` is assigned to.
  package func assign(_ store: StoreIdentity, row: Int) { state.withLock { $0.assigned[row] = store } }

  /// The rows for which a store was chosen or has already allocated a key.
  package var storesChosen: [Int: StoreIdentity] {
    state.withLock { $0.assigned.merging($0.obtained.mapValues(\.store)) { $1 } }
  }

  package func storeChosen(row: Int) -> StoreIdentity? {
    state.withLock { $0.obtained[row]?.store ?? $0.assigned[row] }
  }

  private func bumpRevision() {
    revisionCounter.add(1, ordering: .acquiringAndReleasing)
    Self.globalRevisionCounter.add(1, ordering: .acquiringAndReleasing)
  }

  package var revision: Int { revisionCounter.load(ordering: .acquiring) }

  /// Keys allocated before the save, by row.
  package var keysObtained: [Int: Int64] {
    revision > 0 ? state.withLock { $0.obtained.mapValues(\.key) } : [:]
  }

  /// The store and key of the object in `row`, once it has them.
  package func permanent(row: Int) -> (store: StoreIdentity, key: Int64)? {
    revision > 0 ? state.withLock { $0.permanent(row: row) } : nil
  }

  /// Whether `resolution` is the only change.
  func isResolved(as resolution: Resolution) -> Bool {
    state.withLock { known in
      guard known.obtained.isEmpty, known.resolutions.count == 1 else { return false }
      let only = known.resolutions[0]
      return only.store === resolution.store && only.firstKey == resolution.firstKey
        && only.removedRows == resolution.removedRows
    }
  }

  /// The IDs of the objects in `rows` as a set: the current ones, or those that they would have with `resolutions`.
  func ids(
    _ rows: some Sequence<Int>, count: Int, as resolutions: [Resolution]? = nil
  ) -> Set<NSManagedObjectID> {
    var result = Set<NSManagedObjectID>(unique: count)
    let known = resolutions.map { State(resolutions: $0) } ?? (revision > 0 ? state.withLock { $0 } : State())
    let spaces = known.stores.map { PermanentIDSpace($0, entity) }
    for row in rows {
      if !spaces.isEmpty, let (store, key) = known.permanent(row: row),
        let space = spaces.first(where: { $0.store === store })
      {
        result.add(NSManagedObjectID(space: space, key: key))
      } else {
        result.add(NSManagedObjectID(range: self, row: row))
      }
    }
    return result
  }
}

extension TemporaryIDRange.State {
  fileprivate func permanent(row: Int) -> (store: StoreIdentity, key: Int64)? {
    if !obtained.isEmpty, let known = obtained[row] { return known }
    for resolution in resolutions {
      guard let before = resolution.removedRows.insertionIndex(ifAbsent: row) else { continue }
      // Rows with keys of their own do not consume a key of the sequence.
      let taken =
        obtained.isEmpty
        ? 0 : obtained.keys.count { $0 < row && resolution.removedRows.insertionIndex(ifAbsent: $0) != nil }
      return (resolution.store, resolution.firstKey + Int64(row - before - taken))
    }
    return nil
  }

  fileprivate var stores: [StoreIdentity] { resolutions.map(\.store) + obtained.values.map(\.store) }
}

extension [Int] {
  /// In ascending numbers: the elements of `rows` that are not in this array.
  func complement(in rows: Range<Int>) -> LazyFilterSequence<Range<Int>> {
    rows.lazy.filter { insertionIndex(ifAbsent: $0) != nil }
  }

  /// In ascending numbers: how many are less than `row`; nil if `row` is one of them.
  package func insertionIndex(ifAbsent row: Int) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == row ? nil : low
  }
}

/// The store that a permanent ID belongs to. It outlives the store, as IDs do.
package final class StoreIdentity: Sendable {
  /// The UUID in the store's metadata.
  package var uuid: String {
    get { holder.withLock { $0.uuid } }
    set { holder.withLock { $0.uuid = newValue } }
  }
  /// What the keys of the store stand for; nil for a store that makes its own keys.
  package let references: ReferenceTable?
  /// Unique in the process, also if one file is opened twice.
  private let ordinal: UInt64
  /// By entity name: the number of the root of its inheritance tree.
  private let rootEntityNumbers: [String: UInt64]
  private let holder: Locked<Holder>
  // Unchecked: a reference that is only passed on; its class defines how it may be used.
  private struct Holder: @unchecked Sendable {
    var uuid: String
    weak var owner: AnyObject?
  }

  private static let nextOrdinal = Atomic<UInt64>(1)

  /// - Parameters:
  ///   - uuid: Unique among the stores of a coordinator.
  ///   - rootEntityNumbers: By the name of each entity that the store keeps: a number from 1 to 2²⁴ − 1 that is equal
  ///     for the entities of one inheritance tree and different for those of different trees.
  ///   - references: What the keys of the store stand for; nil for a store that makes its own keys.
  package init(uuid: String, rootEntityNumbers: [String: UInt64], references: ReferenceTable? = nil) {
    holder = Locked(Holder(uuid: uuid))
    self.rootEntityNumbers = rootEntityNumbers
    self.references = references
    ordinal = Self.nextOrdinal.wrappingAdd(1, ordering: .relaxed).oldValue
  }

  /// The object that represents the store for the coordinator: its `NSPersistentStore`, as long as it exists.
  package var owner: AnyObject? {
    get { holder.withLock { $0 }.owner }
    set {
      let new = Holder(uuid: uuid, owner: newValue)
      holder.withLock { $0 = new }
    }
  }

  /// Distinguishes a key sequence from all others in the process; never 0. Entities of one inheritance tree share one.
  func scope(ofEntity name: String) -> UInt64 { ordinal << 24 | (rootEntityNumbers[name] ?? 0) }
}
