import Foundation
import OpenCoreData

/// The IDs of what a context has saved last. It keeps no objects, so that the context can forget them.
final class LastSave {
  // Unchecked: posted and read one after the other, by the test that waits for each of its contexts.
  private final class Store: @unchecked Sendable {
    var ids: [AnyHashable: Any] = [:]
  }
  private let store = Store()
  private let token: any NSObjectProtocol

  /// In the form of a notification's contents.
  var ids: [AnyHashable: Any] { store.ids }

  init(_ context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSaveObjectIDs, object: context, queue: nil
    ) { [store] notification in store.ids = notification.userInfo ?? [:] }
  }

  deinit { NotificationCenter.default.removeObserver(token) }
}
