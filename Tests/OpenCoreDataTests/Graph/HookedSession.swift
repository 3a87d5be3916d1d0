import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A hand-written class that overrides lifecycle methods and says nothing of it.
final class HookedSession: NSManagedObject {
  final class Calls: Sendable {
    private let state = Locked<[String: Int]>([:])
    var counts: [String: Int] { state.withLock { $0 } }
    func reset() { state.withLock { $0 = [:] } }
    func note(_ name: String) { state.withLock { $0[name, default: 0] += 1 } }
  }
  static let calls = Calls()

  override func awakeFromInsert() { Self.calls.note("awakeFromInsert") }

  override func willSave() {
    Self.calls.note("willSave")
    if let place, !place.hasSuffix("!") { setValue(place + "!", forKey: "place") }
  }

  override func didSave() { Self.calls.note("didSave") }

  override func validateForInsert() throws {
    Self.calls.note("validateForInsert")
    try super.validateForInsert()
  }
}

/// The notifications of some contexts as lines: the context's number, the kind, and how many objects of each sort.
final class NotificationLog {
  private final class Lines: Sendable {
    let all = Locked<[String]>([])
  }
  private let lineStore = Lines()
  private var tokens: [any NSObjectProtocol] = []
  var lines: [String] { lineStore.all.withLock { $0 } }

  init(_ contexts: [NSManagedObjectContext]) {
    let kinds: [(Notification.Name, String)] = [
      (.NSManagedObjectContextObjectsDidChange, "change"), (.NSManagedObjectContextWillSave, "willSave"),
      (.NSManagedObjectContextDidSave, "didSave"), (.NSManagedObjectContextDidSaveObjectIDs, "didSaveIDs"),
    ]
    for (index, context) in contexts.enumerated() {
      for (name, kind) in kinds {
        let lines = lineStore
        tokens.append(
          NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
            let contents = (notification.userInfo ?? [:]).map { key, value in
              "\(key) \((value as? any Collection)?.count ?? -1)"
            }
            let line = ["\(index)", kind] + contents.sorted()
            lines.all.withLock { $0.append(line.joined(separator: " ")) }
          })
      }
    }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
