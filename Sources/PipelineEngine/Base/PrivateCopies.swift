import PersistentStores

/// The copies of stores that this process reads in the temporary folder.
package enum PrivateCopies {
  /// Removes them. The process is about to end.
  package static func removeAll() { PrivateFolder.removeAll() }
}
