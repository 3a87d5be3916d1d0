import ManagedObjectModel
import Dispatch
import SystemSupport
import Synchronization

/// The set of the IDs of rows that are inserted together. Every level between the context and a store announces it, and
/// IDs don't depend on contexts. It is therefore built once for all levels, and built again if it changes.
///
/// For large sets, another thread builds it while the caller creates the objects or a store writes the rows.
package final class SharedIDSet: Sendable {
  package init() {}

  private struct Made: Sendable {
    let removedRows: [Int]
    let rowCount: Int
    let revision: Int
    /// The keys that a store was about to allocate, and may not have allocated.
    var expected: TemporaryIDRange.Resolution?
    let ids: Set<NSManagedObjectID>
  }

  private let made = Locked<Made?>(nil)
  private let isWanted = Atomic(false)
  /// A smaller set is built faster than a thread starts.
  private static let preparedCountMin = 256

  package func ids(of rows: InsertedRows) -> Set<NSManagedObjectID> {
    isWanted.store(true, ordering: .relaxed)
    return ids(of: rows.range, count: rows.batch.count, without: rows.removedRows)
  }

  /// Builds the set in parallel with the caller, which will need it.
  package func prepare(_ rows: InsertedRows) {
    isWanted.store(true, ordering: .relaxed)
    guard rows.liveCount >= Self.preparedCountMin else { return }
    let (range, count, removedRows) = (rows.range, rows.batch.count, rows.removedRows)
    DispatchQueue.global().async { _ = self.ids(of: range, count: count, without: removedRows) }
  }

  /// If the set was requested before, builds it with the keys that a store is about to allocate.
  func prepare(_ rows: InsertedRows, expecting resolution: TemporaryIDRange.Resolution) {
    guard isWanted.load(ordering: .relaxed), rows.liveCount >= Self.preparedCountMin, rows.range.revision == 0 else {
      return
    }
    let (range, count, removedRows) = (rows.range, rows.batch.count, rows.removedRows)
    DispatchQueue.global().async {
      self.made.withLock {
        let ids = range.ids(removedRows.complement(in: 0..<count), count: count - removedRows.count, as: [resolution])
        $0 = Made(removedRows: removedRows, rowCount: count, revision: 1, expected: resolution, ids: ids)
      }
    }
  }

  /// Releases the prepared set of these rows, in parallel with the caller.
  package func release(_ rows: InsertedRows) {
    guard isWanted.load(ordering: .relaxed), rows.liveCount >= Self.preparedCountMin else { return }
    DispatchQueue.global().async { self.made.withLock { $0 = nil } }
  }

  /// Callers that arrive while the set is being built wait for it.
  private func ids(
    of range: TemporaryIDRange, count: Int, without removedRows: [Int]
  ) -> Set<NSManagedObjectID> {
    made.withLock { made in
      let revision = range.revision
      if let made, made.revision == revision, made.rowCount == count, made.removedRows == removedRows,
        made.expected.map(range.isResolved) ?? true
      {
        return made.ids
      }
      let ids = range.ids(removedRows.complement(in: 0..<count), count: count - removedRows.count)
      made = Made(removedRows: removedRows, rowCount: count, revision: revision, ids: ids)
      return ids
    }
  }
}
