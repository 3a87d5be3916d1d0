import ManagedObjectModel

/// Assembles entities and tables from the named columns.
extension SQLNaming {
  func sqlEntity(for entity: NSEntityDescription) -> SQLEntity {
    let own = number(of: entity)
    let descendants = entity.withDescendants.map(number(of:)).filter { $0 > 0 }
    return SQLEntity(
      name: entity.name ?? "", number: own, superNumber: number(of: entity.superentity),
      rootNumber: number(of: entity.rootEntity), numbers: descendants.sorted(),
      tableName: tableName(of: entity),
      attributeColumns: entity.attributeSlots.map { $0.isTransient ? nil : sqlColumn(of: $0) },
      relationships: entity.relationshipsByName.filter { !$0.value.isTransient }
        .compactMapValues { sqlRelationship($0) })
  }

  private func sqlColumn(of attribute: NSAttributeDescription) -> SQLColumn? {
    guard let columns = columns(of: attribute), let type = attribute.columnType else { return nil }
    return SQLColumn(name: columns.column, type: type)
  }

  private func sqlRelationship(_ relationship: NSRelationshipDescription) -> SQLRelationship? {
    if !relationship.isToMany {
      return columns(of: relationship).map {
        .toOne(column: $0.column, entityColumn: $0.entityColumn, orderColumn: $0.orderColumn)
      }
    }
    if relationship.isManyToMany {
      return joinTable(of: relationship).map { table in
        let isOwner = relationship.namesJoinTable(number(of:))
        let destination = isOwner ? table.secondColumn : table.firstColumn
        return .manyToMany(
          table: table.name, sourceColumn: isOwner ? table.firstColumn : table.secondColumn,
          destinationColumn: destination,
          orderColumn: relationship.isOrdered ? Self.orderColumn(of: destination) : nil)
      }
    }
    guard let destination = relationship.destinationEntity else { return nil }
    let key = relationship.inverseRelationship ?? relationship
    return columns(of: key).map {
      .toMany(table: tableName(of: destination), column: $0.column, orderColumn: $0.orderColumn)
    }
  }

  // MARK: Tables

  var tables: [SQLTable] {
    numbered.filter { $0.superentity == nil }.map { root in
      SQLTable(name: tableName(of: root), columns: columns(ofTableOf: members(of: root)))
    }
  }

  /// The entities that share a root's table, by number.
  func members(of root: NSEntityDescription) -> [NSEntityDescription] {
    root.withDescendants.filter { number(of: $0) > 0 }
  }

  private func columns(ofTableOf members: [NSEntityDescription]) -> [SQLColumn] {
    (0...7).flatMap { group in
      let columns = members.flatMap { entity in
        entity.storedAttributes.filter { $0.columnGroup == group }.compactMap(sqlColumn)
          + (group == 0 ? keyColumns(of: entity) : [])
      }
      return group == 0 ? columns + members.flatMap(orderColumns) : columns
    }
  }

  private func keyColumns(of entity: NSEntityDescription) -> [SQLColumn] {
    keys(of: entity).flatMap { [$0.column, $0.entityColumn].compactMap(\.self) }
      .map { SQLColumn(name: $0, type: .integer) }
  }

  /// Positions follow the keys of all entities of the table.
  private func orderColumns(of entity: NSEntityDescription) -> [SQLColumn] {
    keys(of: entity).compactMap(\.orderColumn).map { SQLColumn(name: $0, type: .integer) }
  }

  /// The keys in an entity's rows: its to-one relationships, then those of relationships to it without an inverse.
  func keys(of entity: NSEntityDescription) -> [PropertyColumns] {
    entity.storedRelationships.filter { !$0.isToMany }.compactMap { columns(of: $0) } + hiddenKeys(in: entity)
  }

  // MARK: Join tables

  var joinTables: [SQLJoinTable] { numbered.flatMap(joinTables(of:)) }

  /// The join tables that are made with an entity's own table.
  func joinTables(of entity: NSEntityDescription) -> [SQLJoinTable] {
    entity.storedRelationships.filter { $0.precedesJoinTable(number(of:)) }.compactMap(joinTable)
  }

  private func joinTable(of relationship: NSRelationshipDescription) -> SQLJoinTable? {
    guard let inverse = relationship.inverseRelationship else { return nil }
    guard relationship.namesJoinTable(number(of:)) else { return joinTable(of: inverse) }
    let owner = number(of: relationship.owner)
    guard let base = columns(of: relationship)?.base, let inverseBase = columns(of: inverse)?.base else {
      return nil
    }
    let second = "Z_\(number(of: inverse.owner))\(base)"
    // A relationship that is its own inverse needs a second name for its second column.
    let (first, other) =
      inverse === relationship ? (second, "REFLEXIVE") : ("Z_\(owner)\(inverseBase)", second)
    var order: [String] = []
    if inverse.isOrdered, inverse !== relationship { order.append(Self.orderColumn(of: first)) }
    if relationship.isOrdered { order.append(Self.orderColumn(of: other)) }
    return SQLJoinTable(
      name: "Z_\(owner)\(relationship.name.uppercased())", ownerNumber: owner, firstColumn: first,
      secondColumn: other, orderColumns: order)
  }

  /// `Z_FOK_34ASSETS` for the column `Z_34ASSETS`.
  private static func orderColumn(of column: String) -> String {
    "Z_FOK_" + (column.hasPrefix("Z_") ? String(column.dropFirst(2)) : column)
  }
}
