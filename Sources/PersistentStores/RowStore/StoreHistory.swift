import Foundation
import ManagedObjectModel

/// Whose changes a store writes: what its history keeps of a transaction.
package struct ChangeOrigin: Sendable, Equatable {
  package var author: String?
  package var contextName: String?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}

/// A store that can track the history of its rows: a transaction for each save and batch request, with the objects that
/// it inserted, updated and deleted.
package protocol HistoryTrackingStore: RowStore {
  var tracksHistory: Bool { get }
  /// A number that changes with every commit of any process; nil while this process writes, and for a closed store.
  func dataVersion() -> UInt32?
  /// The number of the last transaction; 0 before the first.
  func lastTransactionNumber() throws -> Int64
  /// The transactions of `range`, the oldest first, each with its changes in the order of their numbers.
  ///
  /// - Throws: `NSError` 134301 if transactions of the range were deleted.
  func history(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction]
  /// Deletes the transactions before `end`, with their changes.
  ///
  /// - Returns: The number of deleted transactions.
  func deleteHistory(before end: HistoryEnd) throws -> Int
}

/// The transactions that are read.
package enum HistoryRange: Sendable {
  case all
  case afterNumber(Int64)
  /// Seconds since 2001-01-01 UTC.
  case afterSeconds(Double)
}

/// The first transaction that is not deleted.
package enum HistoryEnd: Sendable {
  case number(Int64)
  /// Seconds since 2001-01-01 UTC.
  case seconds(Double)
}

package struct HistoryTransaction: Sendable {
  package let number: Int64
  /// Seconds since 2001-01-01 UTC.
  package let seconds: Double
  package let author: String?
  package let bundleID: String?
  package let contextName: String?
  package let processID: String?
  package var changes: [HistoryChange] = []
}

package struct HistoryChange: Sendable {
  package enum Kind: Int, Sendable {
    case insert
    case update
    case delete
  }

  package let number: Int64
  package let kind: Kind
  package let id: NSManagedObjectID
  /// The names of the changed properties of an update; nil if that is not known.
  package let updatedProperties: [String]?
  /// What a deletion keeps: the values of the attributes that are preserved, by name.
  package let tombstone: [String: StoredValue]
}
