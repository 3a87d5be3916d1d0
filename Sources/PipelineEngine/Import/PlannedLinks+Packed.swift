import OpenCoreData
import PersistentStores

extension PlannedLinks {
  /// The stored objects that packed relationships lead to and that know of it by an inverse.
  var packedTargets: [NSManagedObjectID] {
    links.filter { $0.link.relationship.inverseRelationship != nil }.flatMap { link in
      var isUsed = [Bool](repeating: false, count: targets.count)
      for target in link.ofInserts where target != BatchLink.none { isUsed[Int(target)] = true }
      return targets.indices.compactMap { index -> NSManagedObjectID? in
        guard isUsed[index], case .stored(let id) = targets[index] else { return nil }
        return id
      }
    }
  }
}

extension PlannedLinks.Link {
  /// A to-one relationship of the inserted entries, packed; `ids` are those of all targets.
  func packed(_ ids: [NSManagedObjectID]) -> BatchLink {
    var (own, positions) = ([NSManagedObjectID](), [Int32](repeating: BatchLink.none, count: ids.count))
    let indices = ofInserts.map { target -> Int32 in
      if target == BatchLink.none { return target }
      if positions[Int(target)] == BatchLink.none {
        positions[Int(target)] = Int32(own.count)
        own.append(ids[Int(target)])
      }
      return positions[Int(target)]
    }
    return BatchLink(link.relationship, targets: own, indices: indices)
  }
}
