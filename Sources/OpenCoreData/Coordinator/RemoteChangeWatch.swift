import Foundation
import SystemSupport

/// Posts `NSPersistentStoreRemoteChange` when a store has changed, whichever process and connection has changed it.
///
/// It asks the store for the version of its data every quarter of a second. SQLite reads a few bytes of the index of the
/// write-ahead log for that; a store in PostgreSQL reads the number of the last transaction of its history, because
/// LISTEN does not work behind every pooler. While this process writes to the store it waits for the next turn.
// Unchecked: the timer is set up before it starts, and cancelling it is safe from any thread.
final class RemoteChangeWatch: @unchecked Sendable {
  static let intervalMilliseconds = 250

  private let timer: any DispatchSourceTimer

  /// - Returns: Nil if the store's options do not ask for the notification, or if the store can't be watched.
  init?(_ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator) {
    let option = store.options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey] as? NSNumber
    guard option?.boolValue == true, store.rowStore is any HistoryTrackingStore else { return nil }
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue.global(qos: .utility))
    let seen = Locked(Self.version(of: store))
    timer.setEventHandler { [weak store, weak coordinator] in
      guard let store, let coordinator, let version = Self.version(of: store) else { return }
      let isNew = seen.withLock { seen in
        defer { seen = version }
        return seen != nil && seen != version
      }
      if isNew { coordinator.postRemoteChange(of: store) }
    }
    timer.schedule(
      deadline: .now() + .milliseconds(Self.intervalMilliseconds), repeating: .milliseconds(Self.intervalMilliseconds),
      leeway: .milliseconds(Self.intervalMilliseconds / 5))
    timer.activate()
  }

  private static func version(of store: NSPersistentStore) -> UInt32? {
    (store.rowStore as? any HistoryTrackingStore)?.dataVersion()
  }

  func stop() { timer.cancel() }

  deinit { timer.cancel() }
}

extension NSPersistentStoreCoordinator {
  fileprivate func postRemoteChange(of store: NSPersistentStore) {
    var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier]
    info[NSPersistentStoreURLKey] = store.url
    info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
    NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
  }
}
