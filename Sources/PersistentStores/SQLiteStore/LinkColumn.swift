import Foundation
import ManagedObjectModel

/// The column in which rows keep a to-one relationship that objects at the other end only count. It is written by keys:
/// no object is made, and the versions of the rows stay.
package struct LinkColumn: Sendable, Hashable {
  let table: String
  let column: String
  /// Where the destination has subentities, the column of the number of its object's entity.
  fileprivate let entityColumn: String?
  /// The table that keys lead to.
  fileprivate let target: String

  /// Nil for a relationship whose change concerns more than this column.
  ///
  /// - Parameter relationship: To-one, or the inverse of such a relationship.
  package init?(_ relationship: NSRelationshipDescription, in store: SQLiteStore) throws {
    guard let toOne = relationship.isToMany ? relationship.inverseRelationship : relationship, !toOne.isToMany,
      toOne.inverseRelationship?.isToMany != false, !toOne.isTransient, let entity = toOne.owner,
      let destination = toOne.destinationEntity, !store.tracksHistory, !store.isReadOnly, !store.computesColumns,
      !entity.rootEntity.withDescendants.contains(where: { $0.hasConstraint(with: toOne.name) }),
      case .toOne(let column, let entityColumn, nil)? = try store.sqlEntity(entity).relationships[toOne.name]
    else { return nil }
    table = try store.sqlEntity(entity).tableName
    self.column = column
    self.entityColumn = entityColumn
    target = try store.sqlEntity(destination).tableName
  }

  /// Finds a row that leads somewhere.
  var anyValue: String { "SELECT 1 FROM \(table) WHERE \(column) IS NOT NULL LIMIT 1" }

  /// Binds a row's key, the key it leads to, and the number of the entity of that.
  fileprivate var update: String {
    "UPDATE \(table) SET \(column) = ?2\(entityColumn.map { ", \($0) = ?3" } ?? "") WHERE Z_PK = ?1"
  }

  /// Binds the first and the last key of rows that get their values from `LinkValues`.
  var updateOfRange: String {
    let function = LinkValues.function
    return "UPDATE \(table) SET \(column) = \(function)(Z_PK, 0)"
      + "\(entityColumn.map { ", \($0) = \(function)(Z_PK, 1)" } ?? "") WHERE Z_PK BETWEEN ?1 AND ?2"
  }
}

extension NSEntityDescription {
  fileprivate func hasConstraint(with name: String) -> Bool {
    uniquenessConstraintNames.contains { $0.contains(name) }
  }
}

/// New values of a column; the last one of a row counts.
package struct LinkChanges: Sendable {
  /// Where a row leads to.
  package struct Target: Sendable, Equatable {
    package let key: Int64
    /// Its Z_ENT.
    let number: Int64

    package init(key: Int64, number: Int) { (self.key, self.number) = (key, Int64(number)) }
  }

  package let column: LinkColumn
  package private(set) var rows: [Int64] = []
  package private(set) var targets: [Target?] = []
  /// How many of them are written.
  private var writtenEnd = 0

  package init(_ column: LinkColumn) { self.column = column }

  package var areWritten: Bool { writtenEnd == rows.count }
  package mutating func noteWritten() { writtenEnd = rows.count }

  package mutating func set(_ row: Int64, to target: Target?) {
    rows.append(row)
    targets.append(target)
  }

  package mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    targets.removeAll(keepingCapacity: true)
    writtenEnd = 0
  }

  /// Those that are not written, ascending by row, each once.
  fileprivate var inOrder: [Int] {
    let unwritten = writtenEnd..<rows.count
    let isAscending = zip(unwritten, unwritten.dropFirst()).allSatisfy { rows[$0] < rows[$1] }
    if isAscending { return Array(unwritten) }
    let sorted = unwritten.sorted { (rows[$0], $0) < (rows[$1], $1) }
    return sorted.indices.compactMap { index in
      index + 1 < sorted.count && rows[sorted[index]] == rows[sorted[index + 1]] ? nil : sorted[index]
    }
  }
}

extension SQLiteStore {
  /// Writes changes of columns that are not written, in one transaction. A row that is gone is left out, and one that is
  /// to lead to such a row leads to nothing.
  package func write(_ links: [LinkChanges]) throws {
    let changes = links.filter { !$0.areWritten }
    guard !changes.isEmpty else { return }
    try access("Writing to", code: .save) { connection in
      try checkTransaction(connection)
      try connection.transaction { for change in changes { try write(change, connection) } }
    }
    noteWrite()
    // The rows are committed. A failed checkpoint is repeated after the next commit and at closing.
    try? didCommit()
  }

  private func write(_ changes: LinkChanges, _ connection: SQLiteConnection) throws {
    let order = changes.inOrder
    let missing = try missingTargets(of: changes, order, connection)
    let rows = order.map { changes.rows[$0] }
    let targets = order.map { index in changes.targets[index].flatMap { missing.contains($0.key) ? nil : $0 } }
    var start = 0
    while start < rows.count {
      var end = start + 1
      while end < rows.count, rows[end] == rows[end - 1] + 1 { end += 1 }
      if end - start >= Self.rowsOfStatementMin {
        let values = try linkValues ?? LinkValues(connection)
        linkValues = values
        try values.write(targets[start..<end], from: rows[start], to: changes.column, connection)
      } else {
        for index in start..<end { try write(targets[index], at: rows[index], to: changes.column, connection) }
      }
      start = end
    }
  }
  /// So many rows whose keys follow each other are written by one statement, in half of the time.
  private static var rowsOfStatementMin: Int { 16 }

  private func write(
    _ target: LinkChanges.Target?, at row: Int64, to column: LinkColumn, _ connection: SQLiteConnection
  ) throws {
    let statement = try connection.statement(column.update)
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    try statement.bind(target.map { .integer($0.key) } ?? .null, at: 2)
    if column.entityColumn != nil { try statement.bind(target.map { .integer($0.number) } ?? .null, at: 3) }
    while try statement.step() {}
  }

  private func missingTargets(
    of changes: LinkChanges, _ indices: [Int], _ connection: SQLiteConnection
  ) throws -> Set<Int64> {
    var (wanted, last): ([Int64], Int64?) = ([], nil)
    for index in indices {
      guard let target = changes.targets[index], target.key != last else { continue }
      wanted.append(target.key)
      last = target.key
    }
    var missing = Set(wanted)
    for part in missing.sorted().statementParts {
      let statement = try connection.statement(
        "SELECT Z_PK FROM \(changes.column.target) WHERE Z_PK IN (\(SQLFragment.keyMarks(part.count)))")
      defer { statement.reset() }
      for (index, key) in part.enumerated() { try statement.bind(.integer(key), at: Int32(index + 1)) }
      while try statement.step() { missing.remove(statement.integer(0)) }
    }
    return missing
  }
}
