import ManagedObjectModel
import Foundation

/// The SELECT of a relationship: the key of this end, the key of the other, and the other's Z_ENT.
package struct RelationshipPlan {
  /// The destination's table; nil if the destination is abstract.
  private let destination: PermanentIDSpace?
  private let body: (_ marks: String) -> String

  package init(_ relationship: NSRelationshipDescription, in store: any TableStore) throws {
    guard let destination = relationship.destinationEntity,
      let kept = try store.sqlEntity(relationship.entity).relationships[relationship.name]
    else {
      throw NSError.coreData(
        .coreData, "The relationship \(relationship.entity.name ?? "").\(relationship.name) is not stored.")
    }
    let (source, other) = (try store.sqlEntity(relationship.entity), try store.sqlEntity(destination))
    self.destination = destination.isAbstract ? nil : store.idSpaces[other.number]
    let nullsFirst = store.nullsFirst
    switch kept {
    case .toOne(let column, let entityColumn, _):
      // The row determines an object's entity. If the row is gone, the entity column next to the key does.
      let join = other.hasFamily ? " LEFT JOIN \(other.tableName) d ON d.Z_PK = s.\(column)" : ""
      let number =
        other.hasFamily ? "coalesce(d.Z_ENT, \(entityColumn.map { "s.\($0)" } ?? "NULL"))" : "\(other.number)"
      let tables = "\(source.tableName) s\(join)"
      body = { marks in
        "SELECT s.Z_PK, s.\(column), \(number) FROM \(tables) WHERE s.Z_PK IN (\(marks)) AND s.\(column) IS NOT NULL"
      }
    case .toMany(let table, let column, let orderColumn):
      let order = (orderColumn.map { ["d.\($0)\(nullsFirst)"] } ?? []) + ["d.Z_PK"]
      body = { marks in
        "SELECT d.\(column), d.Z_PK, d.Z_ENT FROM \(table) d WHERE d.\(column) IN (\(marks)) "
          + "ORDER BY \(order.joined(separator: ", "))"
      }
    case .manyToMany(let table, let sourceColumn, let destinationColumn, let orderColumn):
      let order = (orderColumn.map { ["j.\($0)\(nullsFirst)"] } ?? []) + ["d.Z_PK"]
      // A relationship that is its own inverse has one row for both ends.
      let isMutual = relationship.inverseRelationship === relationship
      let position = orderColumn.map { ", \($0)" } ?? ""
      let mutual =
        "(SELECT \(sourceColumn), \(destinationColumn)\(position) FROM \(table) UNION ALL "
        + "SELECT \(destinationColumn), \(sourceColumn)\(position) FROM \(table) r WHERE NOT EXISTS "
        + "(SELECT 1 FROM \(table) b WHERE b.\(sourceColumn) = r.\(destinationColumn) "
        + "AND b.\(destinationColumn) = r.\(sourceColumn)))"
      body = { marks in
        "SELECT j.\(sourceColumn), d.Z_PK, d.Z_ENT FROM \(isMutual ? mutual : table) j "
          + "JOIN \(other.tableName) d ON d.Z_PK = j.\(destinationColumn) WHERE j.\(sourceColumn) IN (\(marks)) "
          + "ORDER BY \(order.joined(separator: ", "))"
      }
    }
  }

  package func select(_ keys: ArraySlice<Int64>) -> SQLFragment {
    SQLFragment(body(SQLFragment.keyMarks(keys.count)), keys.map(StoredValue.integer))
  }

  /// The ID scope of an object at the other end. A key without a row gives an object of the destination entity, which
  /// turns out to be deleted on access; nil if the destination is abstract.
  package func idSpace(numbered number: Int?, key: Int64, in store: any TableStore) throws -> PermanentIDSpace? {
    if let number { return try store.idSpace(numbered: number, key: key) }
    return destination
  }
}
