import Foundation
import OpenCoreData

/// Keeps the notifications of one context whole, in order.
final class NoteKeeper {
  // Unchecked: posted and read on the context's queue, which the tests stand on.
  private final class Store: @unchecked Sendable {
    var notifications: [Notification] = []
  }
  private let store = Store()
  private var tokens: [any NSObjectProtocol] = []

  var notifications: [Notification] { store.notifications }
  var names: [Notification.Name] { notifications.map(\.name) }

  init(_ context: NSManagedObjectContext) {
    let names: [Notification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
      .NSManagedObjectContextDidSaveObjectIDs, .NSManagedObjectContextDidMergeChangesObjectIDs,
    ]
    tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [store] notification in
        store.notifications.append(notification)
      }
    }
  }

  /// The contents of the last notification called `name`.
  func userInfo(_ name: Notification.Name) -> [AnyHashable: Any]? { notifications.last { $0.name == name }?.userInfo }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
