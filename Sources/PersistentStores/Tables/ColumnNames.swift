import ManagedObjectModel
import Foundation

/// The columns that key paths of an entity lead to, and the joins that they need.
package final class ColumnNames {
  /// Numbers the tables of a statement, over all of its sub-selects.
  package final class Tables {
    private var count = 0

    package init() {}

    func next() -> String {
      defer { count += 1 }
      return "t\(count)"
    }
  }

  private let entity: NSEntityDescription
  private let store: any TableStore
  private let tables: Tables
  /// The entity's own table.
  private let table: String
  private var aliases: [[String]: String] = [:]
  /// Follows the entity's own table, `t0`, in the FROM clause. A key matches at most one row, so joins do not add rows.
  package private(set) var joins = ""

  package init(_ entity: NSEntityDescription, in store: any TableStore, tables: Tables = Tables()) {
    self.entity = entity
    self.store = store
    self.tables = tables
    table = tables.next()
  }

  /// - Throws: `NSError` 134060 for an invalid path and for one to a property that is not stored.
  package func sql(_ keyPath: [String]) throws -> String {
    let path = try AttributePath(keyPath, of: entity)
    switch path.end {
    case .attribute(let attribute, let slot):
      let (table, owner) = try alias(of: path.relationships[...])
      guard let column = try store.sqlEntity(owner).attributeColumns[slot] else {
        throw NSError.coreData(
          .coreData,
          "\(keyPath.joined(separator: ".")) can't be searched for: \(attribute.name) is transient, and the store has no "
            + "values of it.")
      }
      guard attribute.mayLieOutside, store.keepsValuesInFiles else { return "\(table).\(column.name)" }
      let name = "\(owner.name ?? "").\(attribute.name)"
      return "\(ExternalDataFunction.value)(\(table).\(column.name), \(table).Z_PK, '\(name)')"
    case .object:
      guard let last = path.relationships.last else { return "\(self.table).Z_PK" }
      let (table, owner) = try alias(of: path.relationships.dropLast())
      return "\(table).\(try column(of: last, in: owner))"
    case .entityName:
      let (table, owner) = try alias(of: path.relationships[...])
      let names = try owner.withDescendants.map { entity in
        let name = (entity.name ?? "").replacing("'", with: "''")
        return "WHEN \(try store.sqlEntity(entity).number) THEN '\(name)'"
      }
      return "(CASE \(table).Z_ENT \(names.joined(separator: " ")) END)"
    }
  }

  /// The table at the end of a path, joined if it is not joined already, and the entity of its rows.
  private func alias(
    of relationships: ArraySlice<NSRelationshipDescription>
  ) throws -> (table: String, entity: NSEntityDescription) {
    guard let last = relationships.last, let destination = last.destinationEntity else { return (table, entity) }
    let names = relationships.map(\.name)
    if let known = aliases[names] { return (known, destination) }
    let (table, owner) = try alias(of: relationships.dropLast())
    let alias = tables.next()
    aliases[names] = alias
    joins +=
      " LEFT JOIN \(try store.sqlEntity(destination).tableName) \(alias) "
      + "ON \(alias).Z_PK = \(table).\(try column(of: last, in: owner))"
    return (alias, destination)
  }

  private func column(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) throws -> String {
    guard case .toOne(let column, _, _)? = try store.sqlEntity(entity).relationships[relationship.name] else {
      throw EntityPredicateSchema.unknown([relationship.name], in: entity)
    }
    return column
  }

  /// The condition of a predicate on the entity's rows.
  func condition(_ predicate: BoundPredicate) throws -> SQLFragment { try predicate.sql(columns: self) }
}

extension ColumnNames: PredicateColumns {
  package func sql(_ key: PredicateKey) throws -> SQLFragment { SQLFragment(try sql(key.path)) }

  package func identityScope(_ key: PredicateKey) throws -> UInt64 {
    guard case .object(let destination) = try AttributePath(key.path, of: entity).end else { return 0 }
    return store.identity.scope(ofEntity: destination.name ?? "")
  }

  package func elements(_ path: [String]) throws -> ElementRows {
    guard let path = ElementPath(path, of: entity), let relationship = path.relationships.last else {
      throw EntityPredicateSchema.unknown(path, in: entity)
    }
    let (owner, ownerEntity) = try alias(of: path.relationships.dropLast())
    let columns = ColumnNames(path.destination, in: store, tables: tables)
    let rows = columns.table
    let rowTable = try store.sqlEntity(path.destination).tableName
    switch try store.sqlEntity(ownerEntity).relationships[relationship.name] {
    case .toMany(_, let column, _):
      return ElementRows(
        columns: columns, source: { "\(rowTable) \(rows)\(columns.joins)" },
        link: "\(rows).\(column) = \(owner).Z_PK")
    case .manyToMany(let table, let ownerColumn, let column, _):
      guard relationship.inverseRelationship !== relationship else {
        // A relationship that is its own inverse has one row for both ends.
        return ElementRows(
          columns: columns, source: { "\(rowTable) \(rows)\(columns.joins)" },
          link: "\(rows).Z_PK IN (SELECT \(column) FROM \(table) WHERE \(ownerColumn) = \(owner).Z_PK "
            + "UNION SELECT \(ownerColumn) FROM \(table) WHERE \(column) = \(owner).Z_PK)")
      }
      let join = tables.next()
      return ElementRows(
        columns: columns,
        source: { "\(table) \(join) JOIN \(rowTable) \(rows) ON \(rows).Z_PK = \(join).\(column)\(columns.joins)" },
        link: "\(join).\(ownerColumn) = \(owner).Z_PK")
    case .toOne, nil:
      throw EntityPredicateSchema.unknown([relationship.name], in: ownerEntity)
    }
  }
}
