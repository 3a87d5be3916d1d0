import ManagedObjectModel

/// Rows that a cascade deletes, and for which no context has needed objects: they were read together and stay packed.
/// Their delete rules were carried out.
package struct DeletedRows: Sendable {
  package let rows: SharedRows
  /// The key of each row of the batch.
  package let keys: NumberList
  /// The version of each row of the batch.
  package let versions: NumberList
  /// Ascending numbers of the rows that are not deleted here.
  package private(set) var removedRows: [Int]

  package init(_ rows: SharedRows, keys: NumberList, versions: NumberList, removedRows: [Int] = []) {
    (self.rows, self.keys, self.versions, self.removedRows) = (rows, keys, versions, removedRows)
  }

  package var entity: NSEntityDescription { rows.space.entity }
  package var store: StoreIdentity { rows.space.store }
  package var liveCount: Int { keys.count - removedRows.count }
  package var liveRows: LazyFilterSequence<Range<Int>> { removedRows.complement(in: 0..<keys.count) }
  package var liveKeys: [Int64] {
    let all = keys.array
    return removedRows.isEmpty ? all : liveRows.map { all[$0] }
  }
  var liveIDs: [NSManagedObjectID] { liveKeys.map { NSManagedObjectID(space: rows.space, key: $0) } }

  package func isLive(_ row: Int) -> Bool { removedRows.insertionIndex(ifAbsent: row) != nil }
  package func id(row: Int) -> NSManagedObjectID { NSManagedObjectID(space: rows.space, key: keys[row]) }

  /// The deletion of one row, with its values.
  package func deletion(row: Int) -> RowVersion {
    RowVersion(id: id(row: row), base: BaseRow(version: versions[row], rows, row: row))
  }

  package mutating func remove(row: Int) {
    guard let index = removedRows.insertionIndex(ifAbsent: row) else { return }
    removedRows.insert(row, at: index)
  }
}

extension [DeletedRows] {
  package var liveCount: Int { reduce(0) { $0 + $1.liveCount } }
  package var ids: [NSManagedObjectID] { flatMap(\.liveIDs) }

  /// The rows of each entity, in the order in which the entities come first.
  package var byEntity: [[DeletedRows]] {
    var places: [ObjectIdentifier: Int] = [:]
    var groups: [[DeletedRows]] = []
    for rows in self where rows.liveCount > 0 {
      let place = places[ObjectIdentifier(rows.entity)] ?? groups.count
      if place == groups.count {
        places[ObjectIdentifier(rows.entity)] = place
        groups.append([])
      }
      groups[place].append(rows)
    }
    return groups
  }
}
