import Foundation

/// Changes of relationships that a child saved. They are applied as changes, not as values: what siblings have added to
/// the same relationship stays.
extension NSManagedObjectContext {
  /// Reads what the changes of to-one relationships replace: one read for each relationship, not for each object.
  func readOwners(of rows: [RowRelationships]) throws {
    var objects: [ObjectIdentifier: (relationship: NSRelationshipDescription, owners: [NSManagedObject])] = [:]
    for row in rows {
      for change in row.changes {
        guard case .one = change.content, let owner = registeredObject(for: row.id), !owner.isInserted else { continue }
        let key = ObjectIdentifier(change.relationship)
        objects[key, default: (change.relationship, [])].owners.append(owner)
      }
    }
    for (relationship, owners) in objects.values { try readTogether(relationship, of: owners) }
  }

  /// Both ends of a pair carry a change, so that each one is applied twice, the second time without an effect.
  func adoptRelationships(_ rows: [RowRelationships]) {
    var lists: [(owner: NSManagedObject, relationship: NSRelationshipDescription, change: MemberChange)] = []
    for row in rows {
      for change in row.changes {
        guard case .many(let members) = change.content else { continue }
        lists.append((object(with: row.id), change.relationship, members))
      }
    }
    for list in lists {
      for id in list.change.removed { list.owner.removeRelated(object(with: id), list.relationship) }
    }
    // Before the other ends: lists have the order of additions.
    for list in lists {
      for id in list.change.added { list.owner.addRelated(object(with: id), list.relationship) }
    }
    for row in rows {
      for change in row.changes {
        guard case .one(let id) = change.content else { continue }
        object(with: row.id).setRelated(id.map(object(with:)), change.relationship)
      }
    }
    for list in lists where list.relationship.isOrdered {
      guard let order = list.change.order else {
        list.owner.reorderAdded(list.change.added.map(object(with:)), list.relationship)
        continue
      }
      let present = list.owner.related(list.relationship)
      list.owner.arrange(Self.merged(order.map(object(with:)), present), list.relationship)
    }
  }

  /// The order that a child or an undo has set, with the objects that it did not have behind those that they follow now.
  static func merged(_ order: [NSManagedObject], _ present: [NSManagedObject]) -> [NSManagedObject] {
    let (known, there) = (Set(order), Set(present))
    var followers: [NSManagedObject?: [NSManagedObject]] = [:]
    var last: NSManagedObject?
    for object in present {
      if known.contains(object) { last = object } else { followers[last, default: []].append(object) }
    }
    let first: [NSManagedObject] = followers[nil] ?? []
    return first + order.filter(there.contains).flatMap { [$0] + (followers[$0] ?? []) }
  }
}
