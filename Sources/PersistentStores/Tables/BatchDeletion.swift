import Foundation
import ManagedObjectModel

/// The deletion of a batch request where rows are linked with others: the delete rules of the model are carried out on
/// rows, with statements for many of them at a time.
///
/// The rows are as a save of the same deletion would leave them. A key that a rule can't take away, because its
/// relationship is mandatory or has no inverse, is found by `RowReferences`.
package struct BatchDeletion {
  /// Rows of one entity.
  private typealias Rows = (entity: NSEntityDescription, keys: [Int64])

  private let store: any TableStore
  private let connection: any TableStatements
  private let history: HistoryWriter?
  /// The rows to delete, by table.
  private var keysToDelete: [String: Set<Int64>] = [:]
  /// The same in the order in which they were reached.
  private var groups: [Rows] = []
  /// Rows that stay, by the relationship in which they lose rows.
  private var losses: [ObjectIdentifier: (relationship: NSRelationshipDescription, keys: Set<Int64>)] = [:]

  /// - Parameter history: Nil for a store that tracks none.
  package init(_ store: any TableStore, _ connection: any TableStatements, history: HistoryWriter?) {
    (self.store, self.connection, self.history) = (store, connection, history)
  }

  /// Whether rows of an entity can be linked with others.
  package static func isNeeded(for entity: NSEntityDescription, in store: any TableStore) throws -> Bool {
    let kept = entity.withDescendants.compactMap { store.schema.entity(named: $0.name ?? "") }
    return try kept.contains { !$0.relationships.isEmpty } || !RowReferences(to: entity, in: store).isEmpty
  }

  /// Deletes the rows with `keys`, and what the rules take along.
  ///
  /// - Returns: The objects with `keys` that were there, without those that were taken along.
  /// - Throws: `NSError` 1600 if a rule does not allow it. The transaction is to be rolled back then.
  package mutating func delete(_ keys: [Int64], of entity: NSEntityDescription) throws -> [NSManagedObjectID] {
    let requested = try read(keys, of: entity)
    for rows in requested { try add(rows) }
    var next = 0
    while next < groups.count {
      try takeAlong(groups[next])
      next += 1
    }
    for rows in groups { try findLosses(rows) }
    try noteInHistory()
    try deleteRows()
    return requested.flatMap { entity, keys in
      keys.map { NSManagedObjectID(entity: entity, store: store.identity, key: $0) }
    }
  }

  // MARK: What the rules reach

  private func read(_ keys: [Int64], of entity: NSEntityDescription) throws -> [Rows] {
    let table = try store.sqlEntity(entity).tableName
    var found: [Int64: [Int64]] = [:]
    for part in Set(keys).sorted().statementParts {
      let rows = try connection.rows(
        "SELECT Z_PK, Z_ENT FROM \(table) WHERE Z_PK IN (\(SQLFragment.keyMarks(part.count))) ORDER BY Z_PK\(store.rowLock)",
        part.map(StoredValue.integer))
      for (key, number) in rows.compactMap(\.twoIntegers) { found[number, default: []].append(key) }
    }
    return try found.sorted { $0.key < $1.key }.map { number, keys in
      (try store.idSpace(numbered: Int(number), key: keys[0]).entity, keys)
    }
  }

  private mutating func add(_ rows: Rows) throws {
    let table = try store.sqlEntity(rows.entity).tableName
    let new = rows.keys.filter { keysToDelete[table, default: []].insert($0).inserted }
    if !new.isEmpty { groups.append((rows.entity, new)) }
  }

  private mutating func takeAlong(_ rows: Rows) throws {
    for relationship in relationships(of: rows.entity) where relationship.deleteRule == .cascadeDeleteRule {
      guard let destination = relationship.destinationEntity else { continue }
      var linked = try ends(relationship, of: rows.keys).map(\.other)
      let found = try read(linked, of: destination)
      // Others may have given them away before they were locked.
      if !store.rowLock.isEmpty { linked = try ends(relationship, of: rows.keys).map(\.other) }
      let present = Set(linked)
      for group in found { try add((group.entity, group.keys.filter(present.contains))) }
    }
  }

  private mutating func findLosses(_ rows: Rows) throws {
    for relationship in relationships(of: rows.entity) {
      let inverse = relationship.inverseRelationship
      let mayStay = relationship.deleteRule == .nullifyDeleteRule && inverse != nil
      guard mayStay || relationship.deleteRule == .denyDeleteRule, let destination = relationship.destinationEntity
      else { continue }
      let gone = keysToDelete[try store.sqlEntity(destination).tableName] ?? []
      let staying = try ends(relationship, of: rows.keys).filter { !gone.contains($0.other) }
      if !mayStay, let first = staying.first { throw refusal(of: relationship, key: first.own) }
      guard let inverse, inverse.isToMany || inverse.isOptional, !staying.isEmpty else { continue }
      losses[ObjectIdentifier(inverse), default: (inverse, [])].keys.formUnion(staying.lazy.map(\.other))
    }
  }

  private func relationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
    let kept = store.schema.entity(named: entity.name ?? "")?.relationships ?? [:]
    return kept.keys.sorted(by: String.byteOrder).compactMap { entity.relationshipsByName[$0] }
  }

  private func ends(
    _ relationship: NSRelationshipDescription, of keys: [Int64]
  ) throws -> [(own: Int64, other: Int64)] {
    let plan = try RelationshipPlan(relationship, in: store)
    return try keys.statementParts.flatMap { part in
      let select = plan.select(part)
      return try connection.rows(select.text, select.bindings).compactMap(\.twoIntegers)
    }
  }

  private func refusal(of relationship: NSRelationshipDescription, key: Int64) -> NSError {
    .coreData(
      .relationshipDeniedDelete,
      "\(relationship.entity.name ?? ""): the object with the key \(key) can't be deleted, because its "
        + "\(relationship.name) leads to objects, and its delete rule is deny. Delete these objects too, or unlink them.",
      userInfo: [NSValidationKeyErrorKey: relationship.name])
  }

  // MARK: Writing

  /// Updates come before deletions.
  private func noteInHistory() throws {
    guard let history else { return }
    func note(_ keys: [Int64], of entity: NSEntityDescription, changing names: Set<String>?) throws {
      for part in keys.statementParts {
        try history.noteRows(
          of: entity, changing: names,
          where: SQLFragment(" WHERE t0.Z_PK IN (\(SQLFragment.keyMarks(part.count)))", part.map(StoredValue.integer)))
      }
    }
    for losses in try lossesByTable() {
      for (names, keys) in Self.byNames(losses) {
        try note(keys.sorted(), of: losses[0].relationship.entity.rootEntity, changing: names)
      }
    }
    for rows in groups { try note(rows.keys, of: rows.entity, changing: nil) }
  }

  private typealias Loss = (relationship: NSRelationshipDescription, keys: Set<Int64>)

  private func lossesByTable() throws -> [[Loss]] {
    try Dictionary(grouping: losses.values) { try store.sqlEntity($0.relationship.entity).tableName }
      .sorted { $0.key < $1.key }.map(\.value)
  }

  /// The rows that lose something in the same relationships.
  private static func byNames(_ losses: [Loss]) -> [(names: Set<String>, keys: Set<Int64>)] {
    var parts: [(names: Set<String>, keys: Set<Int64>)] = []
    for (relationship, keys) in losses {
      var rest = keys
      for index in parts.indices {
        let both = parts[index].keys.intersection(rest)
        if both.isEmpty { continue }
        parts[index].keys.subtract(both)
        parts.append((parts[index].names.union([relationship.name]), both))
        rest.subtract(both)
      }
      parts.append(([relationship.name], rest))
    }
    return parts.filter { !$0.keys.isEmpty }.sorted { $0.names.sorted().joined() < $1.names.sorted().joined() }
  }

  private func deleteRows() throws {
    for (table, keys) in keysToDelete.sorted(by: { $0.key < $1.key }) {
      try run("DELETE FROM \(table) WHERE", keys)
    }
    for losses in try lossesByTable() {
      let table = try store.sqlEntity(losses[0].relationship.entity).tableName
      for (relationship, keys) in losses {
        let kept = try store.sqlEntity(relationship.entity).relationships[relationship.name]
        guard case .toOne(let column, let entityColumn, let orderColumn)? = kept,
          let ends = try relationship.destinationEntity.map({ try store.sqlEntity($0).tableName })
        else { continue }
        let sets = [column, entityColumn, orderColumn].compactMap(\.self).map { "\($0) = NULL" }
        // Another program may have given a row another end since it was read.
        try run(
          "UPDATE \(table) SET \(sets.joined(separator: ", ")) "
            + "WHERE NOT EXISTS (SELECT 1 FROM \(ends) d WHERE d.Z_PK = \(table).\(column)) AND", keys)
      }
      let changed = losses.reduce(into: Set()) { $0.formUnion($1.keys) }.sorted()
      for part in changed.statementParts { _ = try connection.countVersions(of: part, in: table) }
    }
    let deleted = groups.map { DeletedKeys(entity: $0.entity, single: $0.keys) }
    try RelationshipWriter(store, connection, inserted: [], history: nil).forget(deleted)
    for keys in deleted { try RowReferences(to: keys.entity, in: store).check(keys, connection) }
  }

  /// - Parameter statement: What comes before the condition that names the rows.
  private func run(_ statement: String, _ keys: Set<Int64>) throws {
    for part in keys.sorted().statementParts {
      try connection.run(
        "\(statement) Z_PK IN (\(SQLFragment.keyMarks(part.count)))", part.map(StoredValue.integer))
    }
  }
}

extension [StoredValue] {
  /// The first two values of a row, if both are numbers.
  fileprivate var twoIntegers: (Int64, Int64)? {
    guard case .integer(let first) = self[0], case .integer(let second) = self[1] else { return nil }
    return (first, second)
  }
}
