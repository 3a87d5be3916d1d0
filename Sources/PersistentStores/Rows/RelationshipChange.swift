import ManagedObjectModel

/// The changes of one object's relationships that a save passes to the level below.
///
/// Both ends of a pair carry the change. An updated object also has an `UpdatedRow`, an inserted one a row of a batch.
package struct RowRelationships: Sendable {
  package let id: NSManagedObjectID
  package let changes: [RelationshipChange]

  package init(id: NSManagedObjectID, changes: [RelationshipChange]) {
    self.id = id
    self.changes = changes
  }
}

/// What a save changes in one relationship of one object.
package struct RelationshipChange: Sendable {
  package enum Content: Sendable {
    /// The new object at the other end of a to-one relationship.
    case one(NSManagedObjectID?)
    case many(MemberChange)

    /// The objects that are named.
    package var ids: [NSManagedObjectID] {
      switch self {
      case .one(let id): id.map { [$0] } ?? []
      case .many(let members): members.added + members.removed
      }
    }
  }

  package let relationship: NSRelationshipDescription
  package let content: Content

  package init(_ relationship: NSRelationshipDescription, _ content: Content) {
    self.relationship = relationship
    self.content = content
  }
}

/// The change of a to-many relationship, which need not have been read for it.
package struct MemberChange: Sendable {
  /// In the order of addition. The level below may have some. One that is also in `removed` is there, and moves to the end
  /// of an ordered relationship; its inverse leads to one object.
  package let added: [NSManagedObjectID]
  package let removed: [NSManagedObjectID]
  /// All objects in their new order; nil for an unordered relationship, and where objects were only added at the end
  /// or removed.
  package let order: [NSManagedObjectID]?

  package init(added: [NSManagedObjectID], removed: [NSManagedObjectID], order: [NSManagedObjectID]?) {
    self.added = added
    self.removed = removed
    self.order = order
  }
}
