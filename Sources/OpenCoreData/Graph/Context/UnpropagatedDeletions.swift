/// Deleted objects whose delete rules were not carried out yet, in order.
struct UnpropagatedDeletions {
  private var objects: [NSManagedObject] = []

  var isEmpty: Bool { objects.isEmpty }

  mutating func add(_ deleted: NSManagedObject) { objects.append(deleted) }

  /// The rules of a round could not be carried out: they come first again.
  mutating func putBack(_ deleted: [NSManagedObject]) { objects = deleted + objects }

  /// The rules of these have nothing to do.
  mutating func remove(_ done: [NSManagedObject]) {
    guard !objects.isEmpty, !done.isEmpty else { return }
    if objects.elementsEqual(done, by: ===) { return objects = [] }
    let done = Set(done)
    objects.removeAll(where: done.contains)
  }

  mutating func take() -> [NSManagedObject] {
    defer { objects = [] }
    return objects
  }
}
