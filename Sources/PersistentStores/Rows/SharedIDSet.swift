import ManagedObjectModel
import Dispatch
import Locking
import Synchronization

/// The set of the IDs of rows that are inserted together. Every level that they pass on their way to a store announces
/// it, and IDs don't depend on contexts: it is made once for all of them, and again where it has become another.
///
/// Where many objects are announced, it is made on another thread while the caller makes the objects, or a store writes
/// the rows.
package final class SharedIDSet: Sendable {
  package init() {}

  private struct Made: Sendable {
    let removedRows: [Int]
    let rowCount: Int
    let newsCount: Int
    /// The keys that a store was about to give, and may not have given.
    var expected: TemporaryIDRange.Resolution?
    let ids: Set<NSManagedObjectID>
  }

  private let made = Locked<Made?>(nil)
  private let isWanted = Atomic(false)
  /// Sets of fewer are there sooner than another thread.
  private static let preparedCountMin = 256

  package func ids(of rows: InsertedRows) -> Set<NSManagedObjectID> {
    isWanted.store(true, ordering: .relaxed)
    return ids(of: rows.range, count: rows.batch.count, without: rows.removedRows)
  }

  /// Makes the set beside what the caller goes on with, which will want it.
  package func prepare(_ rows: InsertedRows) {
    isWanted.store(true, ordering: .relaxed)
    guard rows.liveCount >= Self.preparedCountMin else { return }
    let (range, count, removedRows) = (rows.range, rows.batch.count, rows.removedRows)
    DispatchQueue.global().async { _ = self.ids(of: range, count: count, without: removedRows) }
  }

  /// Makes the set, if anybody has wanted it so far, as it will be once a store has given the keys that it is about to.
  func prepare(_ rows: InsertedRows, expecting resolution: TemporaryIDRange.Resolution) {
    guard isWanted.load(ordering: .relaxed), rows.liveCount >= Self.preparedCountMin, rows.range.newsCount == 0 else {
      return
    }
    let (range, count, removedRows) = (rows.range, rows.batch.count, rows.removedRows)
    DispatchQueue.global().async {
      self.made.withLock {
        let ids = range.ids(removedRows.others(in: 0..<count), count: count - removedRows.count, as: [resolution])
        $0 = Made(removedRows: removedRows, rowCount: count, newsCount: 1, expected: resolution, ids: ids)
      }
    }
  }

  /// Lets go of the set of these rows as it was prepared, beside the caller.
  package func release(_ rows: InsertedRows) {
    guard isWanted.load(ordering: .relaxed), rows.liveCount >= Self.preparedCountMin else { return }
    DispatchQueue.global().async { self.made.withLock { $0 = nil } }
  }

  /// Whoever comes while the set is being made waits for it.
  private func ids(
    of range: TemporaryIDRange, count: Int, without removedRows: [Int]
  ) -> Set<NSManagedObjectID> {
    made.withLock { made in
      let news = range.newsCount
      if let made, made.newsCount == news, made.rowCount == count, made.removedRows == removedRows,
        made.expected.map(range.isResolved) ?? true
      {
        return made.ids
      }
      let ids = range.ids(removedRows.others(in: 0..<count), count: count - removedRows.count)
      made = Made(removedRows: removedRows, rowCount: count, newsCount: news, ids: ids)
      return ids
    }
  }
}
