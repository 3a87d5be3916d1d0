import Foundation
import ManagedObjectModel

/// Where rows lead by one relationship, as keys: ascending by the owner, and for each owner in the relationship's order.
package struct KeysByOwner: Sendable {
  package private(set) var owners: [Int64] = []
  package private(set) var keys: [Int64] = []

  package init() {}

  mutating func append(owner: Int64, key: Int64) {
    owners.append(owner)
    keys.append(key)
  }

  /// The positions of an owner's keys.
  ///
  /// - Parameter hint: Where they are if owners are asked for in their order. Moved behind them.
  package func range(of owner: Int64, from hint: inout Int) -> Range<Int> {
    if hint >= owners.count || owners[hint] != owner || hint > 0 && owners[hint - 1] == owner {
      hint = firstPosition(of: owner)
    }
    let start = hint
    while hint < owners.count, owners[hint] == owner { hint += 1 }
    return start..<hint
  }

  private func firstPosition(of owner: Int64) -> Int {
    var (low, high) = (0, owners.count)
    while low < high {
      let middle = (low + high) / 2
      if owners[middle] < owner { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// How a relationship is read as keys. It knows nothing of objects, entities and versions.
package struct LinkSelect: Sendable {
  /// The statement before and after the condition on the owners' keys.
  private let (start, end): (String, String)
  /// Whether the owners' keys are those of the table itself, so that a range of them is a range of rows.
  private let isByRow: Bool

  /// Nil for a relationship that is not one of keys in a table.
  package init?(_ relationship: NSRelationshipDescription, in store: SQLiteStore) throws {
    guard !relationship.isTransient, let entity = relationship.owner else { return nil }
    switch try store.sqlEntity(entity).relationships[relationship.name] {
    case .toOne(let column, _, _)?:
      let table = try store.sqlEntity(entity).tableName
      start = "SELECT Z_PK, \(column) FROM \(table) WHERE \(column) IS NOT NULL AND Z_PK "
      end = " ORDER BY Z_PK"
      isByRow = true
    case .toMany(let table, let column, let order)?:
      start = "SELECT \(column), Z_PK FROM \(table) WHERE \(column) "
      end = " ORDER BY " + [column, order, "Z_PK"].compactMap(\.self).joined(separator: ", ")
      isByRow = false
    default: return nil
    }
  }

  fileprivate func read(_ keys: ArraySlice<Int64>, into found: inout KeysByOwner, _ connection: SQLiteConnection) throws
  {
    guard let first = keys.first, let last = keys.last else { return }
    let isRange = isByRow && last - first == Int64(keys.count) - 1
    let condition = isRange ? "BETWEEN ? AND ?" : "IN (\(SQLFragment.keyMarks(keys.count)))"
    let statement = try connection.statement(start + condition + end)
    defer { statement.reset() }
    for (index, key) in (isRange ? [first, last] : Array(keys)).enumerated() {
      try statement.bind(.integer(key), at: Int32(index + 1))
    }
    while try statement.step() { found.append(owner: statement.integer(0), key: statement.integer(1)) }
  }
}

extension SQLiteStore {
  /// - Parameter keys: Ascending keys of owners, each once.
  package func keysByOwner(_ select: LinkSelect, of keys: [Int64]) throws -> KeysByOwner {
    try read(nil) { reader in
      // The readers of this store.
      guard let reader = reader as? SQLiteReader else { return KeysByOwner() }
      return try reader.access("Reading") {
        var found = KeysByOwner()
        for part in keys.statementParts { try select.read(part, into: &found, reader.connection) }
        return found
      }
    }
  }
}
