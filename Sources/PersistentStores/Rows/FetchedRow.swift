import ManagedObjectModel

/// One row on its way up a chain: who it is and what it holds.
package struct FetchedRow: Sendable {
  package let id: NSManagedObjectID
  package var version: Int64
  /// By slot, as far as the query wanted values; empty where it wanted identities only.
  package var values: [StoredValue]
  /// By place in the query's `keyPaths`.
  package var extras: [StoredValue] = []

  package init(id: NSManagedObjectID, version: Int64, values: [StoredValue], extras: [StoredValue] = []) {
    self.id = id
    self.version = version
    self.values = values
    self.extras = extras
  }
}
