import Foundation
import ManagedObjectModel
import PersistentStores

/// The options of `addPersistentStore` that concern a store of a server.
struct ServerOptions: Sendable {
  let isReadOnly: Bool
  let timeoutSeconds: Double
  let ignoresVersions: Bool
  let allowsIncompleteSchema: Bool
  /// Whether history is tracked; nil for what the store shows.
  let tracksHistory: Bool?
  /// The maximum number of connections that wait for their next use, in addition to the writing one.
  let readersMax: Int

  var timeoutMilliseconds: Int { max(1, Int(timeoutSeconds * 1000)) }

  init(_ options: [AnyHashable: Any]?) {
    func isOn(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false }
    isReadOnly = isOn(NSReadOnlyPersistentStoreOption)
    ignoresVersions = isOn(NSIgnorePersistentStoreVersioningOption)
    allowsIncompleteSchema = isOn(OCDIncompleteSchemaOption)
    let seconds =
      (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? StoreOptions.timeoutSecondsDefault
    timeoutSeconds = max(0, min(seconds, 1e6))
    readersMax = max(1, (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue ?? 4)
    // Apple takes a dictionary of settings for "on", too.
    let tracking = options?[NSPersistentHistoryTrackingKey]
    tracksHistory = tracking == nil ? nil : isOn(NSPersistentHistoryTrackingKey) || tracking is [AnyHashable: Any]
  }
}
