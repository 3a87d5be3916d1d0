import ManagedObjectModel

/// One row on its way up a chain of contexts: its identity and its values.
package struct FetchedRow: Sendable {
  package let id: NSManagedObjectID
  package var version: Int64
  /// By slot, for the values that the query asked for; empty if it asked only for identities.
  package var values: [StoredValue]
  /// By index in the query's `keyPaths`.
  package var extras: [StoredValue] = []
  /// The files of values that were left out because these are missing, by slot.
  package var leftOut: [Int: String] = [:]

  package init(
    id: NSManagedObjectID, version: Int64, values: [StoredValue], extras: [StoredValue] = [],
    leftOut: [Int: String] = [:]
  ) {
    self.id = id
    self.version = version
    self.values = values
    self.extras = extras
    self.leftOut = leftOut
  }
}
