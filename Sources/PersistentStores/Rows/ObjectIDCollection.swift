import ManagedObjectModel

/// The identities of changed objects, materialised one by one on access.
///
/// It has the same elements as the set in Apple's notifications; `Set(collection)` creates that set.
public struct ObjectIDCollection: RandomAccessCollection, Sendable {
  private enum Part: Sendable {
    case rows(TemporaryIDRange, [Int]?, Range<Int>)
    case ids([NSManagedObjectID])
    case keys(PermanentIDSpace, [Int64])

    var count: Int {
      switch self {
      case .rows(_, let numbers, let rows): numbers?.count ?? rows.count
      case .ids(let ids): ids.count
      case .keys(_, let keys): keys.count
      }
    }

    func id(_ index: Int) -> NSManagedObjectID {
      switch self {
      case .rows(let range, let numbers, let rows):
        NSManagedObjectID(range: range, row: numbers?[index] ?? rows.lowerBound + index).resolved
      case .ids(let ids): ids[index]
      case .keys(let space, let keys): NSManagedObjectID(space: space, key: keys[index])
      }
    }
  }

  private var parts: [Part] = []
  /// The number of IDs.
  public private(set) var count = 0
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  package init() {}
  package init(_ ids: [NSManagedObjectID]) { append(.ids(ids)) }
  package init(entity: NSEntityDescription, store: StoreIdentity, keys: [Int64]) {
    append(.keys(PermanentIDSpace(store, entity), keys))
  }
  package init(_ insertions: [InsertedRows]) {
    for rows in insertions {
      append(rows, rows: 0..<rows.batch.count)
    }
  }

  package mutating func append(_ inserted: InsertedRows, rows: Range<Int>) {
    let numbers =
      inserted.removedRows.isEmpty ? nil : rows.filter { inserted.removedRows.insertionIndex(ifAbsent: $0) != nil }
    append(.rows(inserted.range, numbers, rows))
  }

  package mutating func append(_ deleted: DeletedRows) { append(.keys(deleted.rows.space, deleted.liveKeys)) }

  package mutating func append(_ other: ObjectIDCollection) { for part in other.parts { append(part) } }

  private mutating func append(_ part: Part) {
    guard part.count > 0 else { return }
    parts.append(part)
    count += part.count
  }

  /// The key that a store allocated for the object at `position`, without materialising its ID; nil before that.
  package func key(at position: Int) -> Int64? {
    if parts.count == 1, case .keys(_, let keys) = parts[0] { return keys[position] }
    return self[position].storeKey
  }

  /// The ID at the position, which is made on request. Stops the program if there is none.
  public subscript(position: Int) -> NSManagedObjectID {
    // The caller's mistake, as for an array.
    precondition(indices.contains(position), "The position \(position) is not among \(count) IDs.")
    var rest = position
    for part in parts {
      if rest < part.count { return part.id(rest) }
      rest -= part.count
    }
    // `count` is the sum of the parts.
    preconditionFailure("The parts hold fewer IDs than counted.")
  }
}
