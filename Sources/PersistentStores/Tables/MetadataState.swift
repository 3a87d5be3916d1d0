import Foundation
import ManagedObjectModel

/// A store's metadata, with the edition that the file has. A save participant can set metadata after its transaction
/// has written it.
// Unchecked: `lock` guards all mutable state; the values are property list values.
package final class MetadataState: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [String: Any]
  private var edition = 0
  private var writtenEdition = 0
  private var savedEdition = 0

  package init(_ values: [String: Any]) { self.values = values }

  package var current: [String: Any] { lock.withLock { values } }
  package var hasUnsavedChanges: Bool { lock.withLock { edition != savedEdition } }

  /// Replaces the clients' keys.
  package func setCustomKeys(of new: [String: Any]) {
    lock.withLock {
      var metadata = StoreMetadata(dictionary: values)
      metadata.custom = StoreMetadata(dictionary: new).custom
      values = metadata.dictionary.merging([NSStoreUUIDKey: values[NSStoreUUIDKey] ?? ""]) { $1 }
      edition += 1
    }
  }

  /// Writes changed metadata inside a save's transaction.
  package func write(_ body: (StoreMetadata) throws -> Void) throws {
    let (metadata, current) = lock.withLock { (StoreMetadata(dictionary: values), edition) }
    try body(metadata)
    lock.withLock { writtenEdition = current }
  }

  /// Called after the commit of a save.
  package func noteSaved() { lock.withLock { savedEdition = writtenEdition } }
}
