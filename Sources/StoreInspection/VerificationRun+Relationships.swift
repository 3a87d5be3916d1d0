import ManagedObjectModel
import PersistentStores
import Foundation

/// Checks of keys, join rows and positions.
extension VerificationRun {
  private static let lostAdvice =
    "Set the key to NULL, or bring the object back; Core Data shows a fault that can't be fulfilled."

  mutating func checkRelationships(_ entities: [VerifiedEntity]) throws {
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var tables: Set<String> = []
    for entity in entities {
      var checks: [RowCheck] = []
      for relationship in entity.entity.relationshipsByName.values.sorted(by: { String.byteOrder($0.name, $1.name) }) {
        guard let kept = entity.sql.relationships[relationship.name],
          let destination = relationship.destinationEntity?.name.flatMap({ byName[$0] })
        else { continue }
        switch kept {
        case .toOne(let column, let entityColumn, _):
          checks += try toOneChecks(
            entity, relationship, column: column, entityColumn: entityColumn, destination: destination)
        case .toMany(let table, let column, _):
          if has(table, [column]) {
            let links = "SELECT \(column.quotedName) AS k FROM \(table.quotedName)"
            checks += countChecks(entity, relationship, links: links)
          }
          // For a pair, the to-one side is checked.
          guard relationship.inverseRelationship == nil, relationship.owner === entity.entity else { continue }
          try checkHiddenKey(entity, relationship, column: column, destination: destination)
        case .manyToMany(let table, let source, let other, _):
          if has(table, [source, other]) {
            let links = Self.links(relationship, table: table.quotedName, (source.quotedName, other.quotedName))
            checks += countChecks(entity, relationship, links: links)
          }
          guard tables.insert(table).inserted else { continue }
          let owner = relationship.owner?.name.flatMap { byName[$0] } ?? entity
          try checkJoinTable(table, relationship, source: (source, owner), other: (other, destination))
        }
      }
      if !entity.entity.isAbstract { try find(checks, entity) }
    }
  }

  // MARK: To one

  private func toOneChecks(
    _ entity: VerifiedEntity, _ relationship: NSRelationshipDescription, column: String, entityColumn: String?,
    destination: VerifiedEntity
  ) throws -> [RowCheck] {
    guard has(entity.sql.tableName, [column]), has(destination.sql.tableName, ["Z_PK", "Z_ENT"]) else { return [] }
    let name = relationship.name
    let key = "t.\(column.quotedName)"
    let isThere = "SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = \(key)"
    var checks: [RowCheck] = []
    if !relationship.isOptional {
      checks.append(
        RowCheck(
          "relationshipMissing", property: name, where: "\(entity.isOwn) AND \(key) IS NULL",
          "objects have no destination, but the model requires one",
          advice: "Set the relationship; objects can't be changed and saved while it is missing."))
    }
    checks.append(
      RowCheck(
        "danglingKey", property: name, where: "\(entity.isOwn) AND \(key) IS NOT NULL AND NOT EXISTS (\(isThere))",
        "keys lead to rows of \(destination.sql.tableName) that are not there", advice: Self.lostAdvice))
    checks.append(
      RowCheck(
        "wrongDestination", property: name,
        where: "\(entity.isOwn) AND EXISTS (\(isThere) AND d.Z_ENT NOT IN (\(destination.numbers)))",
        "keys lead to rows that are not objects of \(destination.name)",
        advice: "Set the key to NULL, or to an object of \(destination.name)."))
    if let entityColumn, has(entity.sql.tableName, [entityColumn]) {
      let stored = "t.\(entityColumn.quotedName)"
      checks.append(
        RowCheck(
          "destinationEntity", property: name,
          where: "\(entity.isOwn) AND EXISTS (\(isThere) AND d.Z_ENT \(differsFrom) \(stored))",
          "keys have an entity number in \(entityColumn) that is not the destination's",
          advice: "Set \(entityColumn) to the Z_ENT of the row that the key leads to."))
    }
    return try checks + inverseChecks(entity, relationship, key: key, destination: destination)
  }

  /// Each of two to-one ends has a key, and the keys must agree. Some programs of Apple never set one of the ends.
  private func inverseChecks(
    _ entity: VerifiedEntity, _ relationship: NSRelationshipDescription, key: String, destination: VerifiedEntity
  ) throws -> [RowCheck] {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      case .toOne(let back, _, _)? = destination.sql.relationships[inverse.name],
      has(destination.sql.tableName, [back])
    else { return [] }
    let isSet = try store.connection.integer(
      "SELECT 1 FROM \(destination.table) WHERE \(back.quotedName) IS NOT NULL LIMIT 1")
    return [
      RowCheck(
        "inverse", severity: isSet == nil ? .warning : .error, property: relationship.name,
        where: "\(entity.isOwn) AND EXISTS (SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = \(key) "
          + "AND d.\(back.quotedName) \(differsFrom) t.Z_PK)",
        "objects lead to an object whose \(inverse.name) does not lead back", advice: "Set one of the two ends again.")
    ]
  }

  /// The key of a to-many relationship without an inverse is in the destination's table.
  private mutating func checkHiddenKey(
    _ entity: VerifiedEntity, _ relationship: NSRelationshipDescription, column: String, destination: VerifiedEntity
  ) throws {
    guard has(destination.sql.tableName, [column]) else { return }
    let found = try rows(
      in: "\(destination.table) t",
      where: "t.\(column.quotedName) IS NOT NULL AND NOT EXISTS "
        + "(SELECT 1 FROM \(entity.table) e WHERE e.Z_PK = t.\(column.quotedName) AND e.Z_ENT IN (\(entity.numbers)))")
    guard let found else { return }
    add(
      "danglingKey", entity: entity.name, property: relationship.name, table: destination.sql.tableName,
      count: found.count, keys: found.keys,
      "\(entity.name).\(relationship.name): \(found.count) keys in \(column) lead to objects that are not there.",
      advice: Self.lostAdvice)
  }

  // MARK: Numbers of objects

  /// What Core Data checks when an object is saved: an optional relationship may be empty.
  ///
  /// - Parameter links: A query with a row for each object at the other end, and this end's key in the column `k`.
  private func countChecks(
    _ entity: VerifiedEntity, _ relationship: NSRelationshipDescription, links: String
  ) -> [RowCheck] {
    let (least, most) = (relationship.minCount, relationship.maxCount)
    func keys(_ condition: String) -> String { "SELECT k FROM (\(links)) l GROUP BY k HAVING count(*) \(condition)" }
    var checks: [RowCheck] = []
    if least > 0 {
      let none = relationship.isOptional ? "" : " OR t.Z_PK NOT IN (SELECT k FROM (\(links)) l WHERE k IS NOT NULL)"
      checks.append(
        RowCheck(
          "tooFewObjects", property: relationship.name,
          where: "\(entity.isOwn) AND (t.Z_PK IN (\(keys("< \(least)")))\(none))",
          "objects lead to fewer than \(least) objects, which the model requires",
          advice: "Add some; the relationship can't be changed and saved while they are missing."))
    }
    if most > 0 {
      checks.append(
        RowCheck(
          "tooManyObjects", property: relationship.name,
          where: "\(entity.isOwn) AND t.Z_PK IN (\(keys("> \(most)")))",
          "objects lead to more than \(most) objects, which the model does not allow",
          advice: "Remove some; the relationship can't be changed and saved while there are too many."))
    }
    return checks
  }

  /// The links of a many-to-many relationship. If it is its own inverse, a row without its mirror stands for both
  /// directions.
  private static func links(
    _ relationship: NSRelationshipDescription, table: String, _ columns: (source: String, other: String)
  ) -> String {
    let own = "SELECT \(columns.source) AS k FROM \(table)"
    guard relationship.inverseRelationship === relationship else { return own }
    return "\(own) UNION ALL SELECT t.\(columns.other) FROM \(table) t WHERE \(oneSided(table, columns))"
  }

  /// The condition for rows `t` of a relationship that is its own inverse without a row for the other direction.
  private static func oneSided(_ table: String, _ columns: (source: String, other: String)) -> String {
    "NOT EXISTS (SELECT 1 FROM \(table) m WHERE m.\(columns.source) = t.\(columns.other) "
      + "AND m.\(columns.other) = t.\(columns.source))"
  }

  /// Some programs keep a row for each direction, others one for both. Rows of both kinds in one table mean that one of
  /// a pair was lost, or that two programs wrote them.
  private mutating func checkMirrors(
    _ table: String, _ relationship: NSRelationshipDescription, columns: (source: String, other: String)
  ) throws {
    let name = table.quotedName
    let alone = Self.oneSided(name, columns)
    guard relationship.inverseRelationship === relationship,
      let found = try rows(in: "\(name) t", where: alone, key: store.server == nil ? "t.rowid" : "t.\(columns.source)"),
      try store.connection.integer(
        "SELECT 1 FROM \(name) t WHERE t.\(columns.source) <> t.\(columns.other) AND NOT \(alone) LIMIT 1") != nil
    else { return }
    add(
      "joinOneSided", severity: .warning, entity: relationship.owner?.name, property: relationship.name, table: table,
      count: found.count, keys: found.keys,
      "\(table): \(found.count) rows have no row for the other direction, as the others have.",
      advice: "Set the relationship again at one of the two objects; it is read as set at both.")
  }

  // MARK: Many to many

  private mutating func checkJoinTable(
    _ table: String, _ relationship: NSRelationshipDescription, source: (column: String, entity: VerifiedEntity),
    other: (column: String, entity: VerifiedEntity)
  ) throws {
    guard has(table, [source.column, other.column]) else { return }
    for (column, entity) in [source, other] {
      guard has(entity.sql.tableName, ["Z_PK", "Z_ENT"]) else { continue }
      let key = "t.\(column.quotedName)"
      let found = try rows(
        in: "\(table.quotedName) t",
        where: "\(key) IS NULL OR NOT EXISTS (SELECT 1 FROM \(entity.table) d WHERE d.Z_PK = \(key) "
          + "AND d.Z_ENT IN (\(entity.numbers)))", key: rowKey(ofJoin: source.column))
      guard let found else { continue }
      add(
        "danglingJoin", entity: relationship.owner?.name, property: relationship.name, table: table, count: found.count,
        keys: found.keys, "\(table): \(found.count) rows have a \(column) that leads to no \(entity.name).",
        advice: "Delete these rows.")
    }
    try checkMirrors(table, relationship, columns: (source.column.quotedName, other.column.quotedName))
  }

  // MARK: Order

  mutating func checkOrder(_ entities: [VerifiedEntity]) throws {
    for entity in entities {
      for (name, kept) in entity.sql.relationships.sorted(by: { $0.key < $1.key }) {
        guard entity.entity.relationshipsByName[name]?.owner === entity.entity else { continue }
        switch kept {
        case .toMany(let table, let key, let order?):
          try checkOrder(entity, name, table: table, key: key, order: order, rowKey: "t.Z_PK")
        case .manyToMany(let table, let key, _, let order?):
          try checkOrder(entity, name, table: table, key: key, order: order, rowKey: rowKey(ofJoin: key))
        default: continue
        }
      }
    }
  }

  private mutating func checkOrder(
    _ entity: VerifiedEntity, _ name: String, table: String, key: String, order: String, rowKey: String
  ) throws {
    // A missing table is a finding of the checks of rows.
    guard store.columns[table] != nil else { return }
    guard has(table, [key, order]) else {
      add(
        "columnMissing", entity: entity.name, property: name, table: table, "The table has no column \(order).",
        advice: "Give the version of the model that the store was made with.")
      return
    }
    let (key, order) = (key.quotedName, order.quotedName)
    let advice = "Set \(order) to a number for each, growing in the order of the objects."
    let missing = try rows(
      in: "\(table.quotedName) t", where: "t.\(key) IS NOT NULL AND t.\(order) IS NULL", key: rowKey)
    if let missing {
      add(
        "orderMissing", entity: entity.name, property: name, table: table, count: missing.count, keys: missing.keys,
        "\(entity.name).\(name): \(missing.count) objects have no position.", advice: advice)
    }
    let doubled =
      "SELECT \(key) AS k, \(order) AS o FROM \(table.quotedName) WHERE \(key) IS NOT NULL "
      + "AND \(order) IS NOT NULL GROUP BY k, o HAVING count(*) > 1"
    let same = try rows(
      in: "(\(doubled)) s JOIN \(table.quotedName) t ON t.\(key) = s.k AND t.\(order) = s.o", where: "1 = 1",
      key: rowKey)
    if let same {
      add(
        "orderDoubled", entity: entity.name, property: name, table: table, count: same.count, keys: same.keys,
        "\(entity.name).\(name): \(same.count) objects share their position with another.", advice: advice)
    }
  }
}
