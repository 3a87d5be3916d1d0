import ManagedObjectModel
import PersistentStores

/// Packs the to-one relationships of new objects for a save. A thousand books of ten authors then travel as a column of
/// their rows, and not as a thousand changes of books and ten lists of additions.
///
/// The objects keep their pending changes: the save may fail.
struct LinkPacking {
  /// The inserted objects with relationships that are not packed, in order.
  private(set) var others: [NSManagedObject] = []
  /// The objects that packed relationships lead to, for each relationship.
  private var targets: [[ObjectIdentifier: Int32]] = []
  /// The keys of objects that rows lead to which were packed already when a child handed them up.
  private let adoptedTargets: Set<ObjectKey>
  private let isPossible: Bool

  /// - Parameter rows: The rows of the context's pending insertions; they get the packed relationships.
  init(_ context: NSManagedObjectContext, _ rows: inout [InsertedRows]) {
    isPossible = context.storeTakesPackedLinks
    // Only updated objects are compared with them.
    adoptedTargets = context.graph.updates.isEmpty ? [] : rows.packedEnds
    let deferred = context.graph.insertions.deferredLinks.lists
    for segment in context.graph.insertions.segments where !segment.entity.relationshipsByName.isEmpty {
      guard let index = rows.firstIndex(where: { $0.range === segment.range }) else { continue }
      pack(segment, deferred.filter { $0.segment === segment }, into: &rows[index])
    }
  }

  /// Whether the deferred links of a context can be packed as they are.
  static func packsDeferred(of context: NSManagedObjectContext) -> Bool {
    let deferred = context.graph.insertions.deferredLinks
    return deferred.isEmpty || context.storeTakesPackedLinks && deferred.leadToPresentObjects
  }

  /// Whether new rows lead to an object that is not new, and change it by that.
  func changes(_ object: NSManagedObject) -> Bool {
    isTarget(object) || !adoptedTargets.isEmpty && adoptedTargets.contains(object.identity.resolved.key)
  }

  private func isTarget(_ object: NSManagedObject) -> Bool { targets.contains { $0[ObjectIdentifier(object)] != nil } }

  /// Whether the rows say all that is pending in a relationship.
  func includes(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> Bool {
    if !relationship.isToMany { return object.isInserted && isPacked(relationship) }
    guard let inverse = relationship.inverseRelationship, isPacked(inverse), isTarget(object),
      let members = object.auxiliaryIfPresent?.pending.many[relationship.name]
    else { return false }
    let name = inverse.name
    return members.hasOnlyAdded { $0.state.contains(.inserted) && $0.unpackedLink(name) === object }
  }

  /// Whether an object at this end changes nothing at the other end that rows can't express: a position in an order, or
  /// the former owner of a single object.
  private func isPacked(_ relationship: NSRelationshipDescription) -> Bool {
    guard isPossible, !relationship.isToMany, !relationship.isTransient else { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    return inverse.isToMany && !inverse.isOrdered && !inverse.isTransient
  }

  private mutating func pack(_ segment: PendingSegment, _ deferred: [DeferredLinks.List], into rows: inout InsertedRows)
  {
    var links = segment.entity.relationshipsByName.compactMap { name, relationship in
      isPacked(relationship) ? Link(relationship, name: name, count: segment.batch.count) : nil
    }
    for list in deferred {
      if let index = links.firstIndex(where: { $0.relationship === list.relationship }) { links[index].take(list) }
    }
    var rest: [NSManagedObject] = []
    segment.handles.forEach { row, object in
      // Not as a copy, which would be made for each object.
      guard let auxiliary = object.auxiliaryIfPresent, !auxiliary.pending.isEmpty else { return }
      var isWhole = auxiliary.pending.many.isEmpty
      auxiliary.pending.one.forEach { name, value in
        guard let target = value else { return }
        if target.isNotGone, let index = links.firstIndex(where: { $0.name == name }) {
          links[index].set(target, row: row)
        } else {
          isWhole = false
        }
      }
      if !isWhole { rest.append(object) }
    }
    for link in links where !link.objects.isEmpty {
      rows.batch.setLink(link.packed)
      if link.relationship.inverseRelationship != nil { targets.append(link.known) }
    }
    others += rest.sorted { $0.number < $1.number }
  }

  /// One relationship of the objects of a segment.
  private struct Link {
    let relationship: NSRelationshipDescription
    let name: String
    private(set) var objects: [NSManagedObject] = []
    /// Empty until there is an object.
    private var indices: [Int32] = []
    private let count: Int
    private(set) var known: [ObjectIdentifier: Int32] = [:]
    /// The object that was set last, and its index: often many rows in turn lead to one.
    private var last: (object: NSManagedObject, index: Int32)?

    init(_ relationship: NSRelationshipDescription, name: String, count: Int) {
      (self.relationship, self.name, self.count) = (relationship, name, count)
    }

    /// Takes links before any was set.
    mutating func take(_ list: DeferredLinks.List) {
      (objects, known) = (list.targets, list.indices)
      indices = Array(repeating: BatchLink.none, count: count)
      for (row, target) in list.links { indices[Int(row)] = target }
    }

    mutating func set(_ object: NSManagedObject, row: Int) {
      if let last, last.object === object {
        indices[row] = last.index
        return
      }
      if indices.isEmpty { indices = Array(repeating: BatchLink.none, count: count) }
      let index = known[ObjectIdentifier(object)] ?? Int32(objects.count)
      if index == objects.count {
        objects.append(object)
        known[ObjectIdentifier(object)] = index
      }
      indices[row] = index
      last = (object, index)
    }

    var packed: BatchLink { BatchLink(relationship, targets: objects.map(\.objectID), indices: indices) }
  }
}
