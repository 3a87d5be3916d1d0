import ManagedObjectModel

/// Where the SQL of a predicate finds the attributes of a row, and the elements that the row leads to.
package protocol PredicateColumns {
  /// The SQL of an attribute's column, such as `t0.ZRATING`, with BINARY collation.
  func sql(_ key: PredicateKey) throws -> SQLFragment
  /// The identity prefix of the objects that a key can belong to; see `ObjectKey`.
  func identityScope(_ key: PredicateKey) throws -> UInt64
  /// The rows at the end of a path of to-one relationships and a to-many one.
  func elements(_ path: [String]) throws -> ElementRows
}

/// The rows of a sub-select.
package struct ElementRows {
  package let columns: any PredicateColumns
  /// The FROM clause; complete once all columns of the sub-select were asked for.
  package let source: () -> String
  /// What makes a row an element.
  package let link: String
}

extension BoundPredicate {
  /// The condition for rows without relationships.
  ///
  /// - Parameter columns: the SQL of an attribute's column.
  package func sql(columns: @escaping (PredicateKey) throws -> String) throws -> SQLFragment {
    try sql(columns: PlainColumns(column: columns))
  }
}

private struct PlainColumns: PredicateColumns {
  let column: (PredicateKey) throws -> String

  func sql(_ key: PredicateKey) throws -> SQLFragment { SQLFragment(try column(key)) }
  func identityScope(_ key: PredicateKey) throws -> UInt64 { 0 }
  func elements(_ path: [String]) throws -> ElementRows { ElementRows(columns: self, source: { "" }, link: "0") }
}
