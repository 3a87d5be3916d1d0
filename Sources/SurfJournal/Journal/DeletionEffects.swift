import OpenCoreData

/// What the delete rules of a model do to objects other than those that are named: how many objects of each entity are
/// deleted too, and how many lose a link.
package struct DeletionEffects: Sendable, Hashable, Encodable {
  /// By entity.
  package private(set) var alsoDeleted: [String: Int] = [:]
  /// By entity and relationship, such as `Session.spot`.
  package private(set) var unlinked: [String: Int] = [:]

  init() {}

  /// Call it on the queue of the context, whose pending changes have been processed.
  ///
  /// - Parameter named: The objects that are to be deleted anyway.
  init(of context: NSManagedObjectContext, besides named: Set<NSManagedObjectID>) {
    for object in context.deletedObjects where !named.contains(object.objectID) {
      alsoDeleted[object.entity.name ?? "", default: 0] += 1
    }
    for object in context.updatedObjects {
      for name in object.namesOfChangedRelationships {
        unlinked["\(object.entity.name ?? "").\(name)", default: 0] += 1
      }
    }
  }

  package var isEmpty: Bool { alsoDeleted.isEmpty && unlinked.isEmpty }

  /// A line for each kind of effect; empty without effects.
  package var text: String {
    let deleted = alsoDeleted.sorted { $0.key < $1.key }.map { "\($1) \($0)" }
    let lost = unlinked.sorted { $0.key < $1.key }.map { "\($0) of \($1) \($1 == 1 ? "object" : "objects")" }
    return (deleted.isEmpty ? "" : "also deleted: \(deleted.joined(separator: ", "))\n")
      + (lost.isEmpty ? "" : "links removed: \(lost.joined(separator: ", "))\n")
  }
}
