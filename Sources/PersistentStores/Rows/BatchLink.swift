import ManagedObjectModel

/// A to-one relationship of a batch's rows, packed: the objects at the other end, and for each row which of them.
package struct BatchLink: Sendable {
  package let relationship: NSRelationshipDescription
  /// The objects that rows lead to, each once.
  package private(set) var targets: [NSManagedObjectID]
  /// The indices of the targets, for objects that are set one by one.
  private var known: [ObjectKey: Int32] = [:]
  /// By row the index of its object in ``targets``, or ``none``; rows beyond the end have none.
  private var indices: [Int32]

  package static let none: Int32 = -1

  /// - Parameters:
  ///   - targets: The objects, each once.
  ///   - indices: By row an index of `targets`, or ``none``.
  package init(_ relationship: NSRelationshipDescription, targets: [NSManagedObjectID] = [], indices: [Int32] = []) {
    self.relationship = relationship
    self.targets = targets
    self.indices = indices
  }

  /// The index of the object that a row leads to; nil if there is none.
  package func target(row: Int) -> Int? {
    guard row < indices.count, indices[row] != Self.none else { return nil }
    return Int(indices[row])
  }

  /// By row the value of its object, and `none` for a row that leads to nothing.
  ///
  /// - Parameter values: By target.
  package func values(of rowCount: Int, _ values: [Int64], none: Int64) -> [Int64] {
    var result = [Int64](repeating: none, count: rowCount)
    for row in 0..<min(rowCount, indices.count) where indices[row] != Self.none {
      result[row] = values[Int(indices[row])]
    }
    return result
  }

  /// By target whether a row leads to it.
  ///
  /// - Parameter removedRows: Ascending numbers of rows that do not count.
  package func usedTargets(without removedRows: [Int]) -> [Bool] {
    var isUsed = [Bool](repeating: false, count: targets.count)
    var removed = removedRows[...]
    for (row, target) in indices.enumerated() {
      if removed.first == row {
        removed.removeFirst()
      } else if target != Self.none {
        isUsed[Int(target)] = true
      }
    }
    return isUsed
  }

  mutating func set(_ target: NSManagedObjectID?, row: Int) {
    while indices.count <= row { indices.append(Self.none) }
    guard let target else {
      indices[row] = Self.none
      return
    }
    let index = known[target.key] ?? Int32(targets.count)
    if index == targets.count {
      targets.append(target)
      known[target.key] = index
    }
    indices[row] = index
  }

  mutating func truncate(to count: Int) {
    if indices.count > count { indices.removeLast(indices.count - count) }
  }

  /// Keeps the rows with these numbers, in their order.
  mutating func keep(_ rows: some Sequence<Int>) {
    indices = rows.map { $0 < indices.count ? indices[$0] : Self.none }
  }
}

extension ObjectBatch {
  /// Sets a to-one relationship of the last row, without making an object for either end.
  ///
  /// The object at the other end is a stored one, or one that is pending in the same context or above it: a row of
  /// another batch that was inserted there. A save writes both ends in one transaction, as if the objects had been
  /// linked one by one.
  ///
  /// ```swift
  /// let spots = context.insert(spotBatch)
  /// for session in sessions {
  ///   sessionBatch.appendRow()
  ///   sessionBatch.setObject(spots[session.spot], for: spotRelationship)
  /// }
  /// context.insert(sessionBatch)
  /// ```
  ///
  /// - Parameters:
  ///   - object: The ID of the object at the other end; nil for none.
  ///   - relationship: A to-one relationship of the batch's entity that a store keeps.
  public mutating func setObject(_ object: NSManagedObjectID?, for relationship: NSRelationshipDescription) {
    // The caller's mistakes: of the order of its calls, and of objects that it has.
    precondition(count > 0, "A row is appended before its relationships are set.")
    // As above.
    precondition(
      entity.relationshipsByName[relationship.name] === relationship && !relationship.isToMany
        && !relationship.isTransient,
      "\(relationship.name) is not a to-one relationship of \(entity.name ?? "") that a store keeps.")
    if let object, let destination = relationship.destinationEntity {
      // As above.
      precondition(
        object.entity.isKindOf(entity: destination),
        "\(relationship.name) leads to \(destination.name ?? ""), and \(object) is a \(object.entity.name ?? "").")
    }
    let index = links.firstIndex { $0.relationship === relationship } ?? links.count
    if index == links.count { links.append(BatchLink(relationship)) }
    links[index].set(object, row: count - 1)
  }

  /// Adds or replaces a relationship of all rows.
  package mutating func setLink(_ link: BatchLink) {
    links.removeAll { $0.relationship === link.relationship }
    links.append(link)
  }

  /// Removes the packed relationships.
  ///
  /// - Returns: What they were.
  package mutating func takeLinks() -> [BatchLink] {
    defer { links = [] }
    return links
  }
}
