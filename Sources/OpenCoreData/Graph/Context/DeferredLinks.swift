import ManagedObjectModel

/// To-one relationships of new objects that were set one by one, and that nothing has asked for since: rows and what they
/// lead to, without a pending change of either end.
///
/// They become pending changes of both ends when one is asked for (`NSManagedObjectContext.linkPackedRows`). Most often a
/// save comes first, which packs them as they are.
struct DeferredLinks {
  /// The links of one relationship of a segment's objects.
  struct List {
    let segment: PendingSegment
    let relationship: NSRelationshipDescription
    /// The objects that rows lead to, each once.
    private(set) var targets: [NSManagedObject] = []
    /// The index of each of them.
    private(set) var indices: [ObjectIdentifier: Int32] = [:]
    /// Rows, ascending, and for each the index of its object.
    private(set) var links: [(row: Int32, target: Int32)] = []

    fileprivate init(_ segment: PendingSegment, _ relationship: NSRelationshipDescription) {
      (self.segment, self.relationship) = (segment, relationship)
    }

    /// Whether a row is behind the others: then it has no link yet.
    fileprivate func accepts(_ row: Int) -> Bool { links.last.map { $0.row < row } ?? true }

    fileprivate mutating func append(_ object: NSManagedObject, row: Int) {
      let index = indices[ObjectIdentifier(object)] ?? Int32(targets.count)
      if index == targets.count {
        targets.append(object)
        indices[ObjectIdentifier(object)] = index
      }
      links.append((Int32(row), index))
    }

    /// Whether the last row leads to `owner`, and that of `object` may follow; it does then, and leads there too.
    fileprivate mutating func repeatLast(_ owner: NSManagedObject, for object: NSManagedObject) -> Bool {
      guard let last = links.last, targets[Int(last.target)] === owner, object.storage === segment.storage,
        object.row > last.row, segment.isLive(Int(object.row))
      else { return false }
      links.append((object.row, last.target))
      return true
    }
  }

  private(set) var lists: [List] = []
  /// The event in which they were set.
  private(set) var eventNumber: UInt64 = 0

  var isEmpty: Bool { lists.isEmpty }

  /// Whether all objects that rows lead to are still there.
  var leadToPresentObjects: Bool { lists.allSatisfy { $0.targets.allSatisfy(\.isNotGone) } }

  /// Adds the link of a row.
  ///
  /// - Returns: False if the row has to be linked at once: it may have a link of the relationship already, or there are
  ///   links of an earlier event, which have to be known before those of the present one. Nothing was added then.
  mutating func append(
    _ owner: NSManagedObject, row: Int, of segment: PendingSegment, _ relationship: NSRelationshipDescription,
    in event: UInt64
  ) -> Bool {
    guard isEmpty || event == eventNumber else { return false }
    // Nearly always the last one.
    let index =
      lists.lastIndex { $0.relationship === relationship && $0.segment === segment } ?? lists.count
    if index == lists.count {
      lists.append(List(segment, relationship))
    } else if !lists[index].accepts(row) {
      return false
    }
    eventNumber = event
    lists[index].append(owner, row: row)
    return true
  }

  /// Adds the link of a new object, if the one that was added last leads to `owner` by the relationship, too: there is
  /// nothing to note for the owner then.
  ///
  /// - Returns: Whether it was added.
  mutating func repeatLast(
    _ owner: NSManagedObject, for object: NSManagedObject, _ relationship: NSRelationshipDescription, in event: UInt64
  ) -> Bool {
    guard let last = lists.indices.last, event == eventNumber, lists[last].relationship === relationship else {
      return false
    }
    return lists[last].repeatLast(owner, for: object)
  }
}
