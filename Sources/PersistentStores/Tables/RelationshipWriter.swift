import Foundation
import ManagedObjectModel

/// Writes changed relationships in the transaction of a save, after all rows: a key may lead to a row that the same
/// save inserts.
///
/// Keys come first, then rows of join tables (removed ones before added ones), then positions, because a position is
/// compared with those of all members.
package struct RelationshipWriter {
  let store: any TableStore
  private let identity: StoreIdentity
  let connection: any TableStatements
  let history: HistoryWriter?
  /// The keys of the rows that this save inserts.
  private let resolutions: [ObjectIdentifier: (resolution: TemporaryIDRange.Resolution, obtained: [Int: Int64])]

  /// - Parameter history: Nil for a store that tracks none.
  package init(
    _ store: any TableStore, _ connection: any TableStatements, inserted: [InsertionResolution],
    history: HistoryWriter?
  ) {
    self.history = history
    self.store = store
    identity = store.identity
    self.connection = connection
    resolutions = Dictionary(
      inserted.map { (ObjectIdentifier($0.range), ($0.resolution, $0.range.keysObtained)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// A changed to-many relationship of a row.
  struct Members {
    let relationship: NSRelationshipDescription
    let kept: SQLRelationship
    let owner: Int64
    let change: MemberChange
  }

  /// One end of a one-to-one relationship.
  private struct Pair {
    let kept: SQLRelationship
    let entity: SQLEntity
    let owner: Int64
    /// Nil for an end that leads to nothing.
    let target: Int64?
    let relationship: NSRelationshipDescription
  }

  package func write(_ changes: ChangeSet) throws {
    var lists: [Members] = []
    var pairs: [Pair] = []
    let recreated = RecreatedRows(changes, self)
    for row in changes.relationships {
      let entity = try store.sqlEntity(row.id.entity)
      let key = try key(of: row.id)
      for change in row.changes {
        // A store has no transient relationships.
        guard let kept = entity.relationships[change.relationship.name] else { continue }
        switch change.content {
        case .one(let requested):
          let target = try recreated.target(requested, of: row.id, change.relationship)
          try setKey(of: kept, to: target, row: key, entity)
          if let target { lists += try recreated.writeOtherEnd(target, of: row.id, change.relationship) }
          guard change.relationship.inverseRelationship?.isToMany == false else { continue }
          let other = try target.map(self.key)
          pairs.append(Pair(kept: kept, entity: entity, owner: key, target: other, relationship: change.relationship))
        case .many(let members):
          lists.append(Members(relationship: change.relationship, kept: kept, owner: key, change: members))
        }
      }
    }
    for pair in pairs { try release(pair) }
    for list in lists { try remove(list) }
    for list in lists { try add(list) }
    for list in lists { try order(list) }
  }

  // MARK: Keys

  private func setKey(
    of kept: SQLRelationship, to target: NSManagedObjectID?, row: Int64, _ entity: SQLEntity
  ) throws {
    guard case .toOne(let column, let entityColumn, let orderColumn) = kept else { return }
    var sets = [(column, try target.map { StoredValue.integer(try key(of: $0)) } ?? .null)]
    if let entityColumn {
      let number = try target.map { StoredValue.integer(Int64(try store.sqlEntity($0.entity).number)) }
      sets.append((entityColumn, number ?? .null))
    }
    // The owner of the list gives a position next.
    if let orderColumn { sets.append((orderColumn, .null)) }
    try connection.run(
      "UPDATE \(entity.tableName) SET \(sets.map { "\($0.0) = ?" }.joined(separator: ", ")) WHERE Z_PK = ?",
      sets.map(\.1) + [.integer(row)])
  }

  /// Another context may have given the target to another row since, or the owner, and lost a conflict.
  private func release(_ pair: Pair) throws {
    if let target = pair.target {
      return try clear(pair.relationship, pair.kept, of: pair.entity, leadingTo: target, except: pair.owner)
    }
    guard let inverse = pair.relationship.inverseRelationship, let destination = pair.relationship.destinationEntity
    else { return }
    let entity = try store.sqlEntity(destination)
    guard let kept = entity.relationships[inverse.name] else { return }
    try clear(inverse, kept, of: entity, leadingTo: pair.owner)
  }

  /// Clears a to-one relationship of all rows that lead to a key, except one. Their versions stay: no object of the save
  /// stands for them, so that a new version would be a conflict that no merge could prevent.
  private func clear(
    _ relationship: NSRelationshipDescription, _ kept: SQLRelationship, of entity: SQLEntity, leadingTo key: Int64,
    except row: Int64? = nil
  ) throws {
    guard case .toOne(let column, let entityColumn, _) = kept else { return }
    let sets = [column, entityColumn].compactMap(\.self).map { "\($0) = NULL" }.joined(separator: ", ")
    let condition = "\(column) = ?" + (row == nil ? "" : " AND Z_PK <> ?")
    let values = [.integer(key)] + [row].compactMap(\.self).map(StoredValue.integer)
    if let history {
      for row in try connection.rows("SELECT Z_PK FROM \(entity.tableName) WHERE \(condition)", values) {
        if case .integer(let cleared) = row[0] { history.touch(relationship.name, of: cleared, in: entity.tableName) }
      }
    }
    try connection.run("UPDATE \(entity.tableName) SET \(sets) WHERE \(condition)", values)
  }

  /// The key of an object that is stored, or that this save inserts.
  func key(of id: NSManagedObjectID) throws -> Int64 {
    // Nearly all are stored.
    if let key = id.storeKey, id.storeIdentity === identity { return key }
    switch id.resolved.reference {
    case .permanent(let other, let key):
      guard other === identity else {
        throw NSError.coreData(
          .save,
          "The object \(id) is of another store than \(identity.uuid). Relationships can't lead from one "
            + "store to another; keep its objects in one store, or set an attribute that names the object.")
      }
      return key
    case .temporary(let range, let row):
      guard let known = resolutions[ObjectIdentifier(range)],
        let key = known.resolution.key(row: row, obtained: known.obtained)
      else {
        throw NSError.coreData(
          .save,
          "A relationship leads to \(id), which is not saved in \(store.location). Save both objects together, "
            + "in one store.")
      }
      return key
    }
  }

  // MARK: To many

  private func remove(_ list: Members) throws {
    switch list.kept {
    case .toMany(let table, let column, _) where list.relationship.inverseRelationship == nil:
      for id in list.change.removed {
        try connection.run(
          "UPDATE \(table) SET \(column) = NULL WHERE Z_PK = ? AND \(column) = ?",
          [.integer(try key(of: id)), .integer(list.owner)])
      }
    case .manyToMany(let table, let source, let destination, _):
      for id in list.change.removed {
        let pair: [StoredValue] = [.integer(list.owner), .integer(try key(of: id))]
        let delete = "DELETE FROM \(table) WHERE \(source) = ? AND \(destination) = ?"
        try connection.run(delete, pair)
        if list.isMutual { try connection.run(delete, pair.reversed()) }
      }
    default: break
    }
  }

  private func add(_ list: Members) throws {
    switch list.kept {
    case .toMany(let table, let column, _) where list.relationship.inverseRelationship == nil:
      for id in list.change.added {
        try connection.run(
          "UPDATE \(table) SET \(column) = ? WHERE Z_PK = ?", [.integer(list.owner), .integer(try key(of: id))])
      }
    case .manyToMany(let table, let source, let destination, _):
      for id in list.change.added {
        let pair: [StoredValue] = [.integer(list.owner), .integer(try key(of: id))]
        let insert = "INSERT OR IGNORE INTO \(table)(\(source), \(destination)) VALUES(?, ?)"
        try connection.run(insert, pair)
        // Each of two objects that lead to each other has a row, so that either end is found by one column.
        if list.isMutual { try connection.run(insert, pair.reversed()) }
      }
    default: break
    }
  }

  // MARK: Positions

  /// The table and columns that have the positions of a list.
  fileprivate struct PositionColumns {
    let table: String
    let owner: String
    let member: String
    let position: String
  }

  private func order(_ list: Members) throws {
    guard let columns = list.positionColumns else { return }
    if let order = list.change.order { return try arrange(list, columns, order: try order.map(key)) }
    guard !list.change.added.isEmpty else { return }
    let last = try connection.integer(
      "SELECT max(\(columns.position)) FROM \(columns.table) WHERE \(columns.owner) = ?", [.integer(list.owner)])
    var position = max(last ?? 0, 0)
    for id in list.change.added {
      position += OrderPositions.gap
      try setPosition(of: try key(of: id), to: position, in: list, columns)
    }
  }

  private func arrange(_ list: Members, _ columns: PositionColumns, order: [Int64]) throws {
    let rows = try connection.rows(
      "SELECT \(columns.member), \(columns.position) FROM \(columns.table) WHERE \(columns.owner) = ? "
        + "ORDER BY \(columns.position)\(store.nullsFirst), \(columns.member)", [.integer(list.owner)])
    var present: [Int64: Int64?] = [:]
    var others: [Int64] = []
    let named = Set(order)
    for row in rows {
      guard case .integer(let member) = row[0] else { continue }
      present[member] = if case .integer(let position) = row[1] { position } else { Int64?.none }
      if !named.contains(member) { others.append(member) }
    }
    // Members that another program has added since stay, behind the others.
    let members = order.filter { present[$0] != nil } + others
    let changes = OrderPositions.changes(from: members.map { present[$0] ?? nil })
    for (index, position) in changes.sorted(by: { $0.key < $1.key }) {
      try setPosition(of: members[index], to: position, in: list, columns)
    }
  }

  private func setPosition(of member: Int64, to position: Int64, in list: Members, _ columns: PositionColumns) throws {
    try connection.run(
      "UPDATE \(columns.table) SET \(columns.position) = ? WHERE \(columns.owner) = ? AND \(columns.member) = ?",
      [.integer(position), .integer(list.owner), .integer(member)])
  }

  // MARK: Deleted rows

  /// Removes a join table's rows of deleted objects, and the keys that lead to them by relationships without an inverse,
  /// which no object records.
  package func forget(_ deleted: [DeletedKeys]) throws {
    for keys in deleted {
      for statement in try leftovers(of: keys.entity) {
        try keys.forEachPart { part in
          try connection.run(statement(SQLFragment.keyMarks(part.count)), part.map(StoredValue.integer))
        }
      }
    }
  }

  private func leftovers(of entity: NSEntityDescription) throws -> [(_ marks: String) -> String] {
    try store.sqlEntity(entity).relationships.flatMap { name, kept -> [(String) -> String] in
      let relationship = entity.relationshipsByName[name]
      switch kept {
      case .toMany(let table, let column, _) where relationship?.inverseRelationship == nil:
        return [{ "UPDATE \(table) SET \(column) = NULL WHERE \(column) IN (\($0))" }]
      case .manyToMany(let table, let source, let destination, _):
        let columns = relationship?.inverseRelationship === relationship ? [source, destination] : [source]
        return columns.map { column in { "DELETE FROM \(table) WHERE \(column) IN (\($0))" } }
      default: return []
      }
    }
  }
}

extension RelationshipWriter.Members {
  /// Whether the relationship is its own inverse.
  fileprivate var isMutual: Bool { relationship.inverseRelationship === relationship }

  fileprivate var positionColumns: RelationshipWriter.PositionColumns? {
    switch kept {
    case .toOne: nil
    case .toMany(let table, let column, let order):
      order.map { .init(table: table, owner: column, member: "Z_PK", position: $0) }
    case .manyToMany(let table, let source, let destination, let order):
      order.map { .init(table: table, owner: source, member: destination, position: $0) }
    }
  }
}
