import ManagedObjectModel
import Foundation

/// Matches the schema of a model to the tables of an existing store: migrations leave columns and join tables with
/// their previous names, or number clashing names in another order.
struct SchemaMatcher {
  let naming: SQLNaming
  let layout: StoreLayout
  /// The store's location, for messages.
  let location: String

  /// `entity` with the names that exist in the store.
  func match(_ entity: NSEntityDescription) throws -> SQLEntity {
    var result = naming.sqlEntity(for: entity)
    let table = try table(of: entity)
    result.tableName = table.name
    result.attributeColumns = try zip(entity.attributeSlots, result.attributeColumns).map { attribute, column in
      try column.map { SQLColumn(name: try self.column($0.name, $0.type, of: attribute, in: table), type: $0.type) }
    }
    for (name, kept) in result.relationships {
      guard let relationship = entity.relationshipsByName[name] else { continue }
      result.relationships[name] = try match(kept, relationship)
    }
    return result
  }

  private func match(_ kept: SQLRelationship, _ relationship: NSRelationshipDescription) throws -> SQLRelationship {
    switch kept {
    case .toOne(let column, _, _):
      let table = try table(of: relationship.entity)
      let found = try self.column(column, .integer, of: relationship, in: table)
      return .toOne(
        column: found, entityColumn: entityColumn(beside: found, in: table),
        orderColumn: table.column(Self.orderColumn(of: found)))
    case .toMany(_, let column, _):
      guard let destination = relationship.destinationEntity else { return kept }
      let table = try table(of: destination)
      let found =
        if let inverse = relationship.inverseRelationship {
          try self.column(column, .integer, of: inverse, in: table)
        } else {
          try hiddenKey(column, of: relationship, in: table)
        }
      return .toMany(
        table: table.name, column: found,
        orderColumn: relationship.isOrdered ? table.column(Self.orderColumn(of: found)) : nil)
    case .manyToMany(let name, let source, let destination, _):
      let join = try JoinTableSearch(relationship, layout: layout, location: location)
        .find(table: name, sourceColumn: source, destinationColumn: destination)
      return .manyToMany(
        table: join.table.name, sourceColumn: join.source, destinationColumn: join.destination,
        orderColumn: relationship.isOrdered ? join.table.column(Self.orderColumn(ofJoin: join.destination)) : nil)
    }
  }

  /// Two properties cannot share a column: setting one would change the other.
  func checkSingle(_ entities: [NSEntityDescription], _ fitted: [SQLEntity]) throws {
    var owners: [String: NSPropertyDescription] = [:]
    for (entity, found) in zip(entities, fitted) {
      var columns: [(name: String, property: NSPropertyDescription)] = []
      for (attribute, column) in zip(entity.attributeSlots, found.attributeColumns) {
        if let column { columns.append((column.name, attribute)) }
      }
      for relationship in entity.storedRelationships {
        if case .toOne(let column, _, _)? = found.relationships[relationship.name] {
          columns.append((column, relationship))
        }
      }
      for (name, property) in columns {
        let other = owners.updateValue(property, forKey: "\(found.tableName).\(name)")
        guard let other, other !== property else { continue }
        throw Self.mismatch(
          location,
          "its table \(found.tableName) has one column, \(name), for \(other.entity.name ?? "").\(other.name) and "
            + "\(property.entity.name ?? "").\(property.name)")
      }
    }
  }

  // MARK: Names

  private func table(of entity: NSEntityDescription) throws -> StoreLayout.Table {
    let name = naming.tableName(of: entity)
    guard let found = layout.table(name) else {
      throw Self.mismatch(location, "it has no table \(name) for the entity \(entity.name ?? "")")
    }
    return found
  }

  /// The column of a property: the one with a new store's name, or the only other candidate.
  private func column(
    _ expected: String, _ type: SQLColumnType, of property: NSPropertyDescription, in table: StoreLayout.Table
  ) throws -> String {
    if let found = table.column(expected) {
      return table.has(found, type) ? found : columnByType(type, of: property, in: table) ?? found
    }
    let free = free(in: table, like: "Z" + property.name.uppercased(), sharedBy: property.entity.rootEntity)
    guard free.count == 1, let found = free.first else {
      throw Self.mismatch(
        location, "its table \(table.name) has no column \(expected) for \(property.entity.name ?? "").\(property.name)"
      )
    }
    return found
  }

  /// Subentities may have properties with the same name, whose columns are numbered. If the numbers were assigned in
  /// another order, the declared types determine the columns, provided that they are all different.
  private func columnByType(
    _ type: SQLColumnType, of property: NSPropertyDescription, in table: StoreLayout.Table
  ) -> String? {
    let sameNamed = naming.members(of: property.entity.rootEntity).flatMap(\.storedProperties)
      .filter { $0.name.uppercased() == property.name.uppercased() }
    let found = sameNamed.compactMap { naming.columns(of: $0).flatMap { table.column($0.column) } }
      .filter { table.has($0, type) }
    let ofType = sameNamed.count { property in
      (property as? NSAttributeDescription).map { $0.columnType == type } ?? (type == .integer)
    }
    return sameNamed.count > 1 && ofType == 1 && found.count == 1 ? found[0] : nil
  }

  /// The columns named `stem`, possibly with the number of a clash appended, that do not certainly belong to another
  /// property.
  private func free(in table: StoreLayout.Table, like stem: String, sharedBy root: NSEntityDescription) -> [String] {
    let taken = naming.columnNames(of: root)
    return table.columns.filter { column in
      let folded = column.sqlFolded
      return !taken.contains(folded) && folded.hasPrefix(stem.sqlFolded)
        && folded.dropFirst(stem.count).allSatisfy(\.isNumber)
    }
  }

  /// The key of a to-many relationship without an inverse: `Z`, a number, the relationship's name.
  private func hiddenKey(
    _ expected: String, of relationship: NSRelationshipDescription, in table: StoreLayout.Table
  ) throws -> String {
    if let found = table.column(expected) { return found }
    let name = relationship.name.uppercased().sqlFolded
    let found = table.columns.filter { column in
      let rest = column.sqlFolded.dropFirst().drop(while: \.isNumber)
      return column.hasPrefix("Z") && rest.count < column.count - 1 && rest == name
    }
    guard found.count == 1 else {
      throw Self.mismatch(
        location,
        "its table \(table.name) has no column \(expected) for the relationship "
          + "\(relationship.entity.name ?? "").\(relationship.name)")
    }
    return found[0]
  }

  /// `Z3_OWNER` for `ZOWNER`, with any number.
  private func entityColumn(beside column: String, in table: StoreLayout.Table) -> String? {
    let end = "_" + column.dropFirst().sqlFoldedText
    return table.columns.first { candidate in
      let folded = candidate.sqlFolded
      guard folded.hasPrefix("Z"), folded.hasSuffix(end), folded.count > end.count + 1 else { return false }
      return folded.dropFirst().dropLast(end.count).allSatisfy(\.isNumber)
    }
  }

  /// `Z_FOK_OWNER` for `ZOWNER`.
  private static func orderColumn(of column: String) -> String { "Z_FOK_" + column.dropFirst() }

  /// `Z_FOK_2BOOKS` for `Z_2BOOKS`.
  private static func orderColumn(ofJoin column: String) -> String {
    "Z_FOK_" + (column.hasPrefix("Z_") ? column.dropFirst(2) : column[...])
  }

  static func damage(_ location: String, _ problem: String) -> NSError {
    .coreData(
      .open, "Z_PRIMARYKEY of the store \(location) \(problem). The store is damaged: restore it from a copy.")
  }

  static func mismatch(_ location: String, _ problem: String) -> NSError {
    .coreData(
      .open,
      "The store \(location) does not have the layout of its model: \(problem). It was changed by something other than Core "
        + "Data, or does not belong to this model; restore it from a copy.")
  }
}

extension Substring {
  fileprivate var sqlFoldedText: String { String(self).sqlFolded }
}

extension SQLNaming {
  /// The case-folded names of all columns in a new store's table of `root`.
  fileprivate func columnNames(of root: NSEntityDescription) -> Set<String> {
    Set(
      members(of: root).flatMap { entity in
        entity.storedAttributes.compactMap { columns(of: $0)?.column.sqlFolded }
          + keys(of: entity).map(\.column.sqlFolded)
      })
  }
}

extension SQLSchema {
  /// The schema of a model in an existing store.
  ///
  /// - Parameter location: The store's location, for messages.
  /// - Throws: `NSError` 134080 that names what the store lacks; the errors of `init(model:configuration:)`.
  package init(
    model: NSManagedObjectModel, configuration: String?, existing layout: StoreLayout, location: String
  ) throws {
    let chosen = try Self.entities(of: model, configuration)
    let order = SQLNaming(chosen).numbered
    let numbers = EntityNumbers(order, in: layout)
    guard numbers.missing.isEmpty else {
      throw SchemaMatcher.damage(
        location, "has no row for the entity \(numbers.missing.joined(separator: ", "))")
    }
    try numbers.check(location)
    let naming = SQLNaming(chosen, numbers: numbers.numbers)
    let matcher = SchemaMatcher(naming: naming, layout: layout, location: location)
    let entities = try order.map(matcher.match)
    try matcher.checkSingle(order, entities)
    self.init(naming, entities: entities)
    try checkSuperentities(layout, location)
  }

  /// Entity numbers distinguish rows, and Z_PRIMARYKEY defines the numbers.
  private func checkSuperentities(_ layout: StoreLayout, _ location: String) throws {
    let rows = Dictionary(layout.entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in entities {
      guard let row = rows[entity.number],
        row.superNumber != entity.superNumber
      else { continue }
      throw SchemaMatcher.damage(
        location,
        "has \(row.superNumber) as the superentity (Z_SUPER) of \(entity.name), which has \(entity.superNumber) in the "
          + "model")
    }
  }
}
