import Foundation
import ManagedObjectModel
import PersistentStores

/// The type of stores in a database of a PostgreSQL server, with a `postgresql://` URL. An extension of this library, not
/// in Core Data.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: address)  // postgresql://loader@db.example/journal
/// description.type = NSPostgreSQLStoreType
/// ```
public let NSPostgreSQLStoreType = "PostgreSQL"

/// The options of `addPersistentStore` that concern a store of a server.
struct ServerOptions: Sendable {
  let isReadOnly: Bool
  let timeoutSeconds: Double
  let ignoresVersions: Bool
  let allowsIncompleteSchema: Bool
  /// The maximum number of connections that wait for their next use, in addition to the writing one.
  let readersMax: Int

  var timeoutMilliseconds: Int { max(1, Int(timeoutSeconds * 1000)) }

  /// - Throws: `NSError` 134080 for an option that such a store can't have.
  init(_ options: [AnyHashable: Any]?) throws {
    func isOn(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false }
    isReadOnly = isOn(NSReadOnlyPersistentStoreOption)
    ignoresVersions = isOn(NSIgnorePersistentStoreVersioningOption)
    allowsIncompleteSchema = isOn(OCDIncompleteSchemaOption)
    let seconds =
      (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? StoreOptions.timeoutSecondsDefault
    timeoutSeconds = max(0, min(seconds, 1e6))
    readersMax = max(1, (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue ?? 4)
    if isOn(NSPersistentHistoryTrackingKey) || options?[NSPersistentHistoryTrackingKey] is [AnyHashable: Any] {
      throw NSError.coreData(
        .open, "A store in PostgreSQL does not track a history of its changes.",
        suggestion: "Add it without NSPersistentHistoryTrackingKey.")
    }
  }
}
