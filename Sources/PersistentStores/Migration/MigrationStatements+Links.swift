import ManagedObjectModel
import Foundation

/// Relationships: keys in rows, and rows of join tables.
extension MigrationStatements {
  /// A key that belongs to an old row `s`.
  private struct OldKey {
    /// The expression that has it.
    let value: String
    let orderColumn: String?
    /// The row that the key refers to.
    let destination: NSEntityDescription
  }

  /// The keys in an entity's rows: those of its to-one relationships, and those of to-many relationships to it without
  /// an inverse.
  func keys(of new: NSEntityDescription, _ entity: SQLEntity, _ oldEntity: SQLEntity) -> [Filling] {
    let own = new.relationshipsByName.values.sorted { String.byteOrder($0.name, $1.name) }
    let shown = own.flatMap { relationship -> [Filling] in
      guard case .toOne(let column, let entityColumn, let orderColumn)? = entity.relationships[relationship.name],
        let key = oldKey(of: relationship, in: new, oldEntity)
      else { return [] }
      return fillings(key, column: column, entityColumn: entityColumn, orderColumn: orderColumn)
    }
    let hidden = plan.destination.entities.compactMap { plan.destinationEntities[$0.name] }
      .flatMap(\.storedRelationships)
      .filter { $0.hasHiddenKey && $0.destinationEntity.map(new.isKindOf) == true }
      .flatMap { relationship -> [Filling] in
        let name = relationship.owner?.name ?? ""
        guard
          case .toMany(_, let column, let order)? =
            plan.destination.entity(named: name)?.relationships[relationship.name],
          let key = keyOfToMany(relationship, oldEntity)
        else { return [] }
        return fillings(key, column: column, entityColumn: nil, orderColumn: order)
      }
    return shown + hidden
  }

  private func fillings(
    _ key: OldKey, column: String, entityColumn: String?, orderColumn: String?
  ) -> [Filling] {
    let value = key.value
    let keptCondition = keptCondition(of: value, in: key.destination, keptEntities(below: key.destination))
    var result = [
      Filling(column: column, value: SQLFragment(keptCondition.map { "CASE WHEN \($0) THEN \(value) END" } ?? value))
    ]
    if let entityColumn, let table = oldTable(of: key.destination) {
      let cases = key.destination.withDescendants.compactMap { old -> String? in
        guard let number = oldNumber(of: old), let name = match.destination(of: old)?.name,
          let new = plan.destination.entity(named: name)
        else { return nil }
        return "WHEN \(number) THEN \(new.number)"
      }
      result.append(
        Filling(
          column: entityColumn,
          value: SQLFragment(
            "(SELECT CASE d.Z_ENT \(cases.joined(separator: " ")) END FROM \(table) d WHERE d.Z_PK = \(value))")))
    }
    if let orderColumn {
      // If the relationship was not ordered, the objects get the order of their creation.
      let position = key.orderColumn.map { "s.\($0)" } ?? "CASE WHEN \(value) IS NULL THEN NULL ELSE s.Z_PK END"
      result.append(Filling(column: orderColumn, value: SQLFragment(position)))
    }
    return result
  }

  private func oldKey(
    of relationship: NSRelationshipDescription, in new: NSEntityDescription, _ oldEntity: SQLEntity
  ) -> OldKey? {
    if let former = match.source(of: relationship, in: new) {
      guard case .toOne(let column, _, let order)? = oldEntity.relationships[former.name],
        let destination = former.destinationEntity
      else { return nil }
      return OldKey(value: "s.\(column)", orderColumn: order, destination: destination)
    }
    // A new name for the key of an existing to-many relationship, or the way back of an existing to-one relationship.
    return relationship.inverseRelationship.flatMap { keyOfToMany($0, oldEntity) ?? keyOfToOne($0) }
  }

  /// The row that leads to `s` by a to-one relationship of the new model.
  private func keyOfToOne(_ relationship: NSRelationshipDescription) -> OldKey? {
    let keys = oldColumns(ofToOne: relationship)
    guard let owner = keys.first?.owner else { return nil }
    let found = keys.map { key in
      "(SELECT i.Z_PK FROM \(key.table) i WHERE i.\(key.column) = s.Z_PK AND i.Z_ENT IN (\(Self.list(key.numbers))) LIMIT 1)"
    }
    return OldKey(
      value: found.count == 1 ? found[0] : "coalesce(\(found.joined(separator: ", ")))", orderColumn: nil,
      destination: owner)
  }

  /// The columns that a to-one relationship of the new model had, with the old entities that had them.
  private func oldColumns(
    ofToOne relationship: NSRelationshipDescription
  ) -> [(table: String, column: String, numbers: Set<Int>, owner: NSEntityDescription)] {
    formers(of: relationship).compactMap { former, numbers in
      guard case .toOne(let column, _, _)? = sqlRelationship(former, in: plan.source), let owner = former.owner,
        let table = oldTable(of: owner)
      else { return nil }
      return (table, column, numbers, owner)
    }
  }

  /// To-one relationships that are new, and whose inverse was there and to-one.
  var waysBack: [NSRelationshipDescription] {
    plan.destination.entities.compactMap { plan.destinationEntities[$0.name] }.flatMap(\.storedRelationships).filter {
      guard !$0.isToMany, let inverse = $0.inverseRelationship, !inverse.isToMany else { return false }
      return formers(of: $0).isEmpty && !oldColumns(ofToOne: inverse).isEmpty
    }
  }

  /// Indexes of the keys that the rows of such relationships are looked up by. They go with the old tables.
  var lookupIndexes: [SQLFragment] {
    let keys = waysBack.compactMap(\.inverseRelationship).flatMap(oldColumns)
    return keys.map { key in
      SQLFragment("CREATE INDEX IF NOT EXISTS \(key.table)_\(key.column) ON \(key.table) (\(key.column))")
    }
  }

  /// The key of a to-many relationship of the new model in the old table of `oldEntity`.
  private func keyOfToMany(_ relationship: NSRelationshipDescription, _ oldEntity: SQLEntity) -> OldKey? {
    for former in formers(of: relationship).map(\.relationship) {
      guard let owner = former.owner,
        case .toMany(let table, let column, let order)? =
          plan.source.entity(named: owner.name ?? "")?.relationships[former.name],
        table == oldEntity.tableName
      else { continue }
      return OldKey(value: "s.\(column)", orderColumn: order, destination: owner)
    }
    return nil
  }

  /// The sources of a relationship of the new model, each with the numbers of the old entities that had it. A
  /// relationship that moved up its hierarchy has several.
  private func formers(
    of relationship: NSRelationshipDescription
  ) -> [(relationship: NSRelationshipDescription, numbers: Set<Int>)] {
    var found: [(relationship: NSRelationshipDescription, numbers: Set<Int>)] = []
    for entity in relationship.owner?.withDescendants ?? [] {
      guard let old = match.source(of: entity), let number = oldNumber(of: old),
        let former = match.source(of: relationship, in: entity)
      else { continue }
      if let position = found.firstIndex(where: { $0.relationship === former }) {
        found[position].numbers.insert(number)
      } else {
        found.append((former, [number]))
      }
    }
    return found
  }

  // MARK: Join tables

  var links: [SQLFragment] {
    var done: Set<String> = []
    var result: [SQLFragment] = []
    for entity in plan.destination.entities {
      for relationship in plan.destinationEntities[entity.name]?.storedRelationships ?? []
      where relationship.isManyToMany {
        let sides = [relationship, relationship.inverseRelationship].compactMap(\.self)
        // One side may be new while the other has the existing links.
        guard let side = sides.first(where: { !formers(of: $0).isEmpty }),
          case .manyToMany(let table, _, _, _)? = sqlRelationship(side, in: plan.destination),
          done.insert(table).inserted
        else { continue }
        result += formers(of: side).compactMap { links(of: side, formerly: $0.relationship, $0.numbers) }
      }
    }
    return result
  }

  private func sqlRelationship(_ relationship: NSRelationshipDescription, in schema: SQLSchema) -> SQLRelationship? {
    schema.entity(named: relationship.owner?.name ?? "")?.relationships[relationship.name]
  }

  /// The source of an old relationship's pairs; `s` is a row.
  private struct OldPairs {
    let table: String
    let from: String
    let to: String
    var order: String?
    var inverseOrder: String?
    var conditions: [String] = []
  }

  private func pairs(of former: NSRelationshipDescription) -> OldPairs? {
    guard let owner = former.owner, let destination = former.destinationEntity,
      let kept = sqlRelationship(former, in: plan.source)
    else { return nil }
    switch kept {
    case .manyToMany(let table, let from, let to, let order):
      var pairs = OldPairs(table: MigrationPlan.oldTableName(table), from: "s.\(from)", to: "s.\(to)", order: order)
      if let inverse = former.inverseRelationship, inverse !== former,
        case .manyToMany(_, _, _, let order)? = sqlRelationship(inverse, in: plan.source)
      {
        pairs.inverseOrder = order
      }
      return pairs
    case .toOne(let column, _, let order):
      guard let table = oldTable(of: owner) else { return nil }
      return OldPairs(
        table: table, from: "s.Z_PK", to: "s.\(column)", inverseOrder: order,
        conditions: ["s.\(column) IS NOT NULL", "s.Z_ENT IN (\(Self.list(oldNumbers(below: owner))))"])
    case .toMany(let table, let column, let order):
      return OldPairs(
        table: MigrationPlan.oldTableName(table), from: "s.\(column)", to: "s.Z_PK", order: order,
        conditions: ["s.\(column) IS NOT NULL", "s.Z_ENT IN (\(Self.list(oldNumbers(below: destination))))"])
    }
  }

  private func links(
    of relationship: NSRelationshipDescription, formerly former: NSRelationshipDescription, _ owners: Set<Int>
  ) -> SQLFragment? {
    guard
      case .manyToMany(let table, let from, let to, let order)? = sqlRelationship(relationship, in: plan.destination),
      let pairs = pairs(of: former), let owner = former.owner, let destination = former.destinationEntity
    else { return nil }
    var fillings = [(from, pairs.from), (to, pairs.to)]
    if let order { fillings.append((order, pairs.order.map { "s.\($0)" } ?? pairs.to)) }
    if let inverse = relationship.inverseRelationship, inverse !== relationship,
      case .manyToMany(_, _, _, let order?)? = sqlRelationship(inverse, in: plan.destination)
    {
      fillings.append((order, pairs.inverseOrder.map { "s.\($0)" } ?? pairs.from))
    }
    let keptConditions = [
      keptCondition(of: pairs.from, in: owner, owners),
      keptCondition(of: pairs.to, in: destination, keptEntities(below: destination)),
    ]
    let conditions = pairs.conditions + keptConditions.compactMap(\.self)
    return SQLFragment(
      "INSERT INTO \(table) (\(fillings.map(\.0).joined(separator: ", "))) "
        + "SELECT \(fillings.map(\.1).joined(separator: ", ")) FROM \(pairs.table) s"
        + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"))
  }
}
