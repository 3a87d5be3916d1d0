import Foundation
import Synchronization

/// The entities of a context's model by the classes that objects were made with: looking for one in the model, which a
/// chain of contexts leads to, would take longer than the rest of an insertion.
struct ClassEntities {
  private var known: [(type: ObjectIdentifier, entity: NSEntityDescription)] = []
  private var changesSeen = 0

  /// How often a context got another parent or coordinator, and with it another model, as its children did.
  private static let changes = Atomic<Int>(0)

  static func forgetAll() { changes.add(1, ordering: .sequentiallyConsistent) }

  /// The entity of the class.
  ///
  /// - Parameter find: Looks for it in the model.
  mutating func entity(of type: NSManagedObject.Type, find: () -> NSEntityDescription?) -> NSEntityDescription? {
    let changes = Self.changes.load(ordering: .acquiring)
    if changes == changesSeen, let known = known.first(where: { $0.type == ObjectIdentifier(type) }) {
      return known.entity
    }
    guard let found = find() else { return nil }
    if changes != changesSeen { (known, changesSeen) = ([], changes) }
    known.append((ObjectIdentifier(type), found))
    return found
  }
}
