import Foundation
import ManagedObjectModel

/// What the to-one relationships of a batch add to its rows: column names, and the values of each by row.
package struct LinkColumns {
  /// The value of a row that leads to nothing.
  package static let nullKey = Int64.min

  package fileprivate(set) var names: [String] = []
  package fileprivate(set) var values: [[Int64]] = []

  package init() {}

  fileprivate mutating func add(_ name: String, _ column: [Int64]) {
    names.append(name)
    values.append(column)
  }

  /// A key, and where the model needs them the destination's entity and a position in its list.
  static func countMax(of entity: SQLEntity) -> Int { 3 * entity.relationships.count }
}

/// Writes the packed to-one relationships of the batches of a save: the batches' own columns, and what changes in the
/// rows at the other end.
///
/// It leaves the store as ``RelationshipWriter`` does for objects that are linked one by one: the version of a row at the
/// other end grows by 1 if it was stored before, and lists get their new rows at their ends.
package struct PackedLinkWriter {
  private let store: any TableStore
  private let connection: any TableStatements
  private let keys: RelationshipWriter
  private let history: HistoryWriter?
  /// The keys of the rows that this save inserts, by the table of their root entity.
  private let inserted: [String: [ClosedRange<Int64>]]
  /// The objects whose changes this save writes too: their versions grow by that.
  private let updated: Set<ObjectKey>
  /// Rows of earlier saves that batches lead to, by table: those whose versions grow, and others.
  private var others: [String: (changed: [Int64], read: [Int64])] = [:]
  /// The last position in each list, by column and owner.
  private var lastPositions: [String: [Int64: Int64]] = [:]

  /// - Parameter history: Nil for a store that tracks none.
  package init(
    _ store: any TableStore, _ connection: any TableStatements, of changes: ChangeSet, inserted: [InsertionResolution],
    history: HistoryWriter?
  ) {
    self.history = history
    self.store = store
    self.connection = connection
    let isUsed = changes.insertions.contains { !$0.batch.links.isEmpty }
    updated = isUsed ? Set(changes.updates.map(\.id.resolved.key)) : []
    keys = RelationshipWriter(store, connection, inserted: inserted, history: nil)
    var ranges: [String: [ClosedRange<Int64>]] = [:]
    for one in inserted where one.range.count > 0 {
      guard let table = try? store.sqlEntity(one.range.entity).tableName else { continue }
      let first = one.resolution.firstKey
      ranges[table, default: []].append(first...(first + Int64(one.range.count) - 1))
      for key in one.range.keysObtained.values { ranges[table, default: []].append(key...key) }
    }
    self.inserted = ranges
  }

  // MARK: The rows themselves

  package mutating func columns(of rows: InsertedRows, _ entity: SQLEntity) throws -> LinkColumns {
    var columns = LinkColumns()
    for link in rows.batch.links {
      guard case .toOne(let column, let entityColumn, let orderColumn)? = entity.relationships[link.relationship.name]
      else { continue }
      let isUsed = link.usedTargets(without: rows.removedRows)
      let targets = try link.targets.indices.map { isUsed[$0] ? try keys.key(of: link.targets[$0]) : 0 }
      let count = rows.batch.count
      columns.add(column, link.values(of: count, targets, none: LinkColumns.nullKey))
      if let entityColumn {
        let numbers = try link.targets.map { Int64(try store.sqlEntity($0.entity).number) }
        columns.add(entityColumn, link.values(of: count, numbers, none: LinkColumns.nullKey))
      }
      if let orderColumn {
        columns.add(orderColumn, try positions(in: (entity.tableName, column, orderColumn), of: link, rows, targets))
      }
      try noteOthers(of: link, targets, isUsed)
    }
    return columns
  }

  /// By row its position at the end of the list that it is added to.
  private mutating func positions(
    in column: (table: String, owner: String, position: String), of link: BatchLink, _ rows: InsertedRows,
    _ targets: [Int64]
  ) throws -> [Int64] {
    let name = "\(column.table).\(column.position)"
    var last = lastPositions[name] ?? [:]
    let unknown = Set(targets).subtracting(last.keys)
    for part in unknown.sorted().statementParts {
      let found = try connection.rows(
        "SELECT \(column.owner), max(\(column.position)) FROM \(column.table) "
          + "WHERE \(column.owner) IN (\(SQLFragment.keyMarks(part.count))) GROUP BY 1", part.map(StoredValue.integer))
      for row in found {
        if case .integer(let owner) = row[0], case .integer(let position) = row[1] { last[owner] = max(position, 0) }
      }
    }
    var positions = [Int64](repeating: LinkColumns.nullKey, count: rows.batch.count)
    for row in rows.liveRows(from: 0) {
      guard let target = link.target(row: row) else { continue }
      let position = last[targets[target], default: 0] + OrderPositions.gap
      last[targets[target]] = position
      positions[row] = position
    }
    lastPositions[name] = last
    return positions
  }

  // MARK: The other ends

  private mutating func noteOthers(of link: BatchLink, _ targets: [Int64], _ isUsed: [Bool]) throws {
    guard let destination = link.relationship.destinationEntity else { return }
    let table = try store.sqlEntity(destination).tableName
    let inverse = link.relationship.inverseRelationship
    let isChanged = inverse != nil
    let new = inserted[table] ?? []
    var known = others.removeValue(forKey: table) ?? ([], [])
    for (target, key) in targets.enumerated() where isUsed[target] && !new.contains(where: { $0.contains(key) }) {
      if let inverse { history?.touch(inverse.name, of: key, in: table) }
      // The save has found the rows that it updates.
      if !updated.isEmpty, updated.contains(link.targets[target].resolved.key) { continue }
      if isChanged { known.changed.append(key) } else { known.read.append(key) }
    }
    others[table] = known
  }

  /// Counts the change of each row at the other end, once for the save.
  ///
  /// - Throws: `NSError` 133000 if such a row is gone: the batch's rows would lead to nothing.
  package func changeOtherEnds() throws {
    // All writers lock rows in one order, so that two do not wait for each other.
    for (table, rows) in others.sorted(by: { $0.key < $1.key }) {
      let changed = rows.changed.sortedUniquely()
      let read = rows.read.isEmpty ? [] : Set(rows.read).subtracting(changed).sorted()
      for part in read.statementParts { try check(part, of: table, isChanged: false) }
      for part in changed.statementParts { try check(part, of: table, isChanged: true) }
    }
  }

  private func check(_ keys: ArraySlice<Int64>, of table: String, isChanged: Bool) throws {
    lazy var condition = "WHERE Z_PK IN (\(SQLFragment.keyMarks(keys.count)))"
    lazy var values = keys.map(StoredValue.integer)
    let found =
      isChanged
      ? try connection.countVersions(of: keys, in: table)
      : Int(try connection.integer("SELECT count(*) FROM \(table) \(condition)", values) ?? 0)
    guard found < keys.count else { return }
    let known = try connection.rows("SELECT Z_PK FROM \(table) \(condition)", values).map { $0[0] }
    let missing = keys.first { !known.contains(.integer($0)) } ?? 0
    throw NSError.coreData(
      .objectNotFound,
      "Inserted objects lead to the row \(missing) of \(table), which is not in \(store.location); it was deleted. "
        + "Link them to another object.")
  }
}
