import Foundation
import SystemSupport

/// The store classes of clients, by the names of their types.
enum StoreClasses {
  private static let classes = Locked<[String: NSPersistentStore.Type]>([:])

  static func registered(_ type: String) -> NSPersistentStore.Type? { classes.withLock { $0[type] } }

  static func register(_ storeClass: NSPersistentStore.Type?, _ type: String) {
    classes.withLock { $0[type] = storeClass }
  }

  static var all: [String: NSPersistentStore.Type] { classes.withLock { $0 } }
}
