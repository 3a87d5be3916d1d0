import Foundation

/// Changes at indices of ordered relationships, also for generated accessors. They read the relationship.
extension NSManagedObject {
  /// Inserts objects at indices: each is the index of its object afterwards.
  public final func insertRelatedObjects(_ objects: [NSManagedObject], at indexes: IndexSet, forKey key: String) {
    let relationship = relationship(key)
    for (object, index) in zip(objects, indexes) { insertRelated(object, at: index, relationship) }
  }

  /// Removes the objects at indices.
  public final func removeRelatedObjects(at indexes: IndexSet, forKey key: String) {
    let relationship = relationship(key)
    let objects = related(relationship).filter(\.isThere)
    for index in indexes {
      check(index, in: 0..<objects.count, relationship)
      removeRelated(objects[index], relationship)
    }
  }

  /// Replaces the objects at indices by others.
  public final func replaceRelatedObjects(at indexes: IndexSet, with objects: [NSManagedObject], forKey key: String) {
    let relationship = relationship(key)
    for (object, index) in zip(objects, indexes) { replaceRelated(at: index, with: object, relationship) }
  }

  /// Inserts an object at an index; one that is there already stays where it is, as in an ordered set.
  func insertRelated(_ object: NSManagedObject, at index: Int, _ relationship: NSRelationshipDescription) {
    var objects = related(relationship).filter(\.isThere)
    check(index, in: 0..<objects.count + 1, relationship)
    guard !objects.contains(object) else { return }
    addRelated(object, relationship)
    guard index < objects.count else { return }
    objects.insert(object, at: index)
    arrange(objects, relationship)
  }

  /// Replaces the object at an index; nothing happens if the new one is there at another index.
  func replaceRelated(at index: Int, with object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    var objects = related(relationship).filter(\.isThere)
    check(index, in: 0..<objects.count, relationship)
    guard !objects.contains(object) else { return }
    objects[index] = object
    setRelated(objects, relationship)
  }

  /// Ends the process for an index without an object, as an exception does on Apple's systems.
  private func check(_ index: Int, in indices: Range<Int>, _ relationship: NSRelationshipDescription) {
    // The caller's mistake: the message says which indices there are.
    precondition(
      indices.contains(index),
      "The index \(index) is beyond the bounds of \(entity.name ?? "").\(relationship.name); "
        + (indices.isEmpty ? "it has no objects." : "use 0 to \(indices.upperBound - 1)."))
  }
}
