import Foundation
import ManagedObjectModel
import PersistentStores

/// The SELECT of a fetch of dictionaries whose columns are attributes and objects. What is computed is computed in
/// memory.
struct ResultPlan {
  let select: SQLFragment
  let count: SQLFragment
  private let shape: DictionaryShape

  /// Nil where the results have to be computed in memory.
  init?(_ query: FetchQuery, _ shape: DictionaryShape, in store: any TableStore) throws {
    guard shape.aggregates.isEmpty, shape.having == nil else { return nil }
    let entity = try store.sqlEntity(query.entity)
    let columns = RowColumns(query.entity, store)
    guard let list = try Self.list(shape.columns, columns), let groups = try Self.list(shape.groups, columns) else {
      return nil
    }
    var conditions = try RowPlan.conditions(query, of: entity, in: store)
    if let predicate = query.predicate {
      let divided = try PredicateTranslation.divided(predicate, columns)
      guard divided.isWhole else { return nil }
      conditions += divided.sql
    }
    // A result that stands for several rows can be sorted only by what they have in common.
    let listed = Set((shape.groups.isEmpty ? list : groups).flatMap(\.self))
    let sorted = try query.sortKeys.map { (term: try columns.orderTerm($0.keyPath), key: $0) }
    if shape.joinsRows, !sorted.allSatisfy({ listed.contains($0.term) }) { return nil }
    if !shape.groups.isEmpty, !Set(list.flatMap(\.self)).isSubset(of: listed) { return nil }
    let body =
      SQLFragment(
        (shape.isDistinct ? "SELECT DISTINCT " : "SELECT ") + list.flatMap(\.self).joined(separator: ", ")
          + " FROM \(entity.tableName) t0\(columns.names.joins)") + RowPlan.filter(conditions)
      + SQLFragment(groups.isEmpty ? "" : " GROUP BY " + groups.flatMap(\.self).joined(separator: ", "))
    // The last terms are unique for each result, so that the order is always the same.
    let terms = sorted.map { $0.term + ($0.key.ascending ? " ASC NULLS FIRST" : " DESC NULLS LAST") }
    let rest = (shape.joinsRows ? list.flatMap(\.self) : ["t0.Z_PK"]).filter { term in
      !sorted.contains { $0.term == term }
    }
    .map { $0 + " ASC NULLS FIRST" }
    let slice = RowPlan.slice(query)
    select = body + SQLFragment(" ORDER BY " + (terms + rest).joined(separator: ", ")) + slice
    count = SQLFragment("SELECT count(*) FROM (") + body + slice + SQLFragment(") part")
    self.shape = shape
  }

  /// The SQL of each column; nil if one is computed. Decimals are distinguished as the nearest reals.
  private static func list(_ columns: [DictionaryShape.Column], _ rows: RowColumns) throws -> [[String]]? {
    var list: [[String]] = []
    for column in columns {
      switch column {
      case .attribute(let attribute, let path):
        guard attribute.attributeType != .decimalAttributeType else { return nil }
        list.append([try rows.sql(path)])
      case .objectID: list.append(["t0.Z_PK", "t0.Z_ENT"])
      case .expression: return nil
      }
    }
    return list
  }

  func row(_ row: Int, of result: PostgreSQLResult, _ store: any TableStore) throws -> DictionaryRow {
    var id: NSManagedObjectID?
    var (values, index): ([StoredValue], Int) = ([], 0)
    for column in shape.columns {
      guard column.isObjectID else {
        values.append(result.value(row, index))
        index += 1
        continue
      }
      let (key, number) = (result.integer(row, index), Int(result.integer(row, index + 1)))
      id = NSManagedObjectID(space: try store.idSpace(numbered: number, key: key), key: key)
      values.append(.null)
      index += 2
    }
    return DictionaryRow(id: id, values: values)
  }
}
