import ManagedObjectModel
import Foundation

/// The columns that key paths of an entity lead to, and the joins that they need.
final class ColumnNames {
  private let entity: NSEntityDescription
  private let store: SQLiteStore
  private var aliases: [[String]: String] = [:]
  /// Follows the entity's own table, `t0`, in the FROM clause. A key matches at most one row, so joins do not add rows.
  private(set) var joins = ""

  init(_ entity: NSEntityDescription, in store: SQLiteStore) {
    self.entity = entity
    self.store = store
  }

  /// - Throws: `NSError` 134060 for an invalid path and for one to a property that is not stored.
  func sql(_ keyPath: [String]) throws -> String {
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
      guard attribute.mayLieOutside else { return "\(table).\(column.name)" }
      let name = "\(owner.name ?? "").\(attribute.name)"
      return "\(ExternalDataFunction.value)(\(table).\(column.name), \(table).Z_PK, '\(name)')"
    case .object:
      guard let last = path.relationships.last else { return "t0.Z_PK" }
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
    guard let last = relationships.last, let destination = last.destinationEntity else { return ("t0", entity) }
    let names = relationships.map(\.name)
    if let known = aliases[names] { return (known, destination) }
    let (table, owner) = try alias(of: relationships.dropLast())
    let alias = "t\(aliases.count + 1)"
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
  func condition(_ predicate: BoundPredicate) throws -> SQLFragment {
    let inKeys = try predicate.comparingKeys { key in
      guard case .object(let destination) = try AttributePath(key.path, of: entity).end else { return 0 }
      return store.identity.scope(ofEntity: destination.name ?? "")
    }
    return try inKeys.sql { try sql($0.path) }
  }
}
