import Foundation

/// The row store of an object of a client's store class.
protocol ClassStoreAdapter: RowStore {
  /// What the client's object says about itself.
  var details: StoreDetails { get }
  func setIdentifier(_ identifier: String)
  func replaceMetadata(_ metadata: [String: Any])
  /// Gives objects with temporary IDs permanent ones. The client's class can choose them by the values.
  func obtainPermanentIDs(for rows: [FetchedRow]) throws
}
