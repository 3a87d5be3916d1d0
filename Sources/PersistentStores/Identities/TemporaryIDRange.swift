import ManagedObjectModel
import Foundation
import Locking
import Synchronization

/// A run of temporary identities, one for each object of a batch, in order.
///
/// Whoever holds a temporary ID holds its range, so the day a save gives the objects their keys, every context of
/// the chain learns it from here: the range is resolved once, by each store that takes objects of it, and never changes
/// again.
package final class TemporaryIDRange: Sendable {
  /// Serial number of the first identity; numbers are unique in the process.
  package let first: UInt64
  package let count: Int
  /// Of all the objects.
  let entity: NSEntityDescription

  /// The keys a store gave to the objects of a range.
  package struct Resolution: Sendable {
    var store: StoreIdentity
    /// Key of the first row that is neither removed nor obtained.
    var firstKey: Int64
    var removedRows: [Int]

    package init(store: StoreIdentity, firstKey: Int64, removedRows: [Int]) {
      self.store = store
      self.firstKey = firstKey
      self.removedRows = removedRows
    }
  }

  fileprivate struct State: Sendable {
    /// One for each store that took rows; a row is in the one that does not leave it out.
    var resolutions: [Resolution] = []
    var obtained: [Int: (store: StoreIdentity, key: Int64)] = [:]
    /// Rows that were meant for a store (`assign(_:to:)`).
    var assigned: [Int: StoreIdentity] = [:]
  }

  private let state = Locked(State())
  /// How often something was learnt: 0 spares the lock on the common path, a greater number than last time tells a
  /// context to look.
  private let news = Atomic<Int>(0)

  /// The sum over all ranges: while it stands still, none has learnt anything.
  private static let newsTotal = Atomic<Int>(0)
  package static var newsTotalCount: Int { newsTotal.load(ordering: .acquiring) }

  private static let nextSerial = Atomic<UInt64>(1)

  package init(count: Int, of entity: NSEntityDescription) {
    self.count = count
    self.entity = entity
    first = Self.nextSerial.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
  }

  /// Records the keys of a finished save.
  package func resolve(_ resolution: Resolution) {
    state.withLock { $0.resolutions.append(resolution) }
    noteNews()
  }

  /// Records a key handed out before the save (`obtainPermanentIDs(for:)`).
  package func obtain(_ key: Int64, row: Int, from store: StoreIdentity) {
    state.withLock { $0.obtained[row] = (store, key) }
    noteNews()
  }

  /// Notes which store the object in `row` is meant for.
  package func assign(_ store: StoreIdentity, row: Int) { state.withLock { $0.assigned[row] = store } }

  /// The rows for which a store was chosen, or has handed out a key already.
  package var storesChosen: [Int: StoreIdentity] {
    state.withLock { $0.assigned.merging($0.obtained.mapValues(\.store)) { $1 } }
  }

  package func storeChosen(row: Int) -> StoreIdentity? {
    state.withLock { $0.obtained[row]?.store ?? $0.assigned[row] }
  }

  private func noteNews() {
    news.add(1, ordering: .acquiringAndReleasing)
    Self.newsTotal.add(1, ordering: .acquiringAndReleasing)
  }

  package var newsCount: Int { news.load(ordering: .acquiring) }

  /// Keys handed out before the save, by row.
  package var keysObtained: [Int: Int64] {
    newsCount > 0 ? state.withLock { $0.obtained.mapValues(\.key) } : [:]
  }

  /// The store and key of the object in `row`, once it has them.
  package func permanent(row: Int) -> (store: StoreIdentity, key: Int64)? {
    newsCount > 0 ? state.withLock { $0.permanent(row: row) } : nil
  }

  /// Whether `resolution` is all that was learnt.
  func isResolved(as resolution: Resolution) -> Bool {
    state.withLock { known in
      guard known.obtained.isEmpty, known.resolutions.count == 1 else { return false }
      let only = known.resolutions[0]
      return only.store === resolution.store && only.firstKey == resolution.firstKey
        && only.removedRows == resolution.removedRows
    }
  }

  /// The IDs of the objects in `rows`, as a set: the present ones, or those that they would have with `resolutions`.
  func ids(
    _ rows: some Sequence<Int>, count: Int, as resolutions: [Resolution]? = nil
  ) -> Set<NSManagedObjectID> {
    var result = Set<NSManagedObjectID>(unique: count)
    let known = resolutions.map { State(resolutions: $0) } ?? (newsCount > 0 ? state.withLock { $0 } : State())
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
      guard let before = resolution.removedRows.rank(of: row) else { continue }
      // Rows with keys of their own do not use up one of the run.
      let taken = obtained.isEmpty ? 0 : obtained.keys.count { $0 < row && resolution.removedRows.rank(of: $0) != nil }
      return (resolution.store, resolution.firstKey + Int64(row - before - taken))
    }
    return nil
  }

  fileprivate var stores: [StoreIdentity] { resolutions.map(\.store) + obtained.values.map(\.store) }
}

extension [Int] {
  /// In ascending numbers: those of `rows` that are not among these.
  func others(in rows: Range<Int>) -> LazyFilterSequence<Range<Int>> { rows.lazy.filter { rank(of: $0) != nil } }

  /// In ascending numbers: how many lie before `row`; nil when `row` is one of them.
  package func rank(of row: Int) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == row ? nil : low
  }
}

/// Which store a permanent ID belongs to. It outlives the store, as IDs do.
package final class StoreIdentity: Sendable {
  /// The store's UUID as its metadata has it.
  package let uuid: String
  /// Unique in the process, also when one file is opened twice.
  private let ordinal: UInt64
  /// By the name of any entity: the number of the root of its inheritance tree.
  private let rootEntityNumbers: [String: UInt64]
  private let holder = Locked(Holder())
  // Unchecked: a reference that is only handed on; its class says who may use it.
  private struct Holder: @unchecked Sendable { weak var owner: AnyObject? }

  private static let nextOrdinal = Atomic<UInt64>(1)

  /// - Parameters:
  ///   - uuid: Unique among the stores of a coordinator.
  ///   - rootEntityNumbers: By the name of each entity that the store keeps: a number from 1 to 2²⁴ − 1 that is equal
  ///     for the entities of one inheritance tree and different for those of different trees.
  package init(uuid: String, rootEntityNumbers: [String: UInt64]) {
    self.uuid = uuid
    self.rootEntityNumbers = rootEntityNumbers
    ordinal = Self.nextOrdinal.wrappingAdd(1, ordering: .relaxed).oldValue
  }

  /// What stands for the store where the coordinator is used: its `NSPersistentStore`, as long as there is one.
  package var owner: AnyObject? {
    get { holder.withLock { $0 }.owner }
    set {
      let new = Holder(owner: newValue)
      holder.withLock { $0 = new }
    }
  }

  /// Tells one key sequence from all others in the process; never 0. Entities of one inheritance tree share one.
  func scope(ofEntity name: String) -> UInt64 { ordinal << 24 | (rootEntityNumbers[name] ?? 0) }
}
