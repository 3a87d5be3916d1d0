import ManagedObjectModel
import Foundation

extension BoundPredicate {
  /// The condition as SQL for a WHERE clause, true for exactly the rows for which `matches` is true.
  ///
  /// Values are bound, never interpolated. Plain comparisons keep a form that an index on the column can serve; the
  /// functions of `PredicateSQLFunction` must be registered on the connection. A list of more than 500 values is bound
  /// as one blob; every list is if the statement would exceed SQLite's 32,766 variables.
  ///
  /// - Parameter columns: the SQL of an attribute's column, such as `t0.ZRATING`, with BINARY collation.
  /// - Throws: the errors of `columns`; NSError 134180 if the number of values or the nesting depth exceeds SQLite's
  ///   limits.
  package func sql(columns: (PredicateKey) throws -> String) throws -> SQLFragment {
    let columns = try keys.map(columns)
    guard root.depth <= BoundSQL.depthMax else { throw PredicateFailure.tooDeep(max: BoundSQL.depthMax) }
    let sql = try BoundSQL(columns: columns, inlineValuesMax: 500).condition(root)
    if sql.bindings.count <= BoundSQL.variablesMax { return sql }
    let packed = try BoundSQL(columns: columns, inlineValuesMax: 1).condition(root)
    guard packed.bindings.count <= BoundSQL.variablesMax else {
      throw PredicateFailure.tooManyValues(packed.bindings.count, max: BoundSQL.variablesMax)
    }
    return packed
  }
}

/// Writes bound nodes as SQL.
///
/// A leaf may be NULL where evaluation in memory gives false. AND and OR of such leaves are true for the same rows, and
/// a negation is `(…) IS NOT TRUE`, which is true for false and for NULL.
struct BoundSQL {
  /// SQLITE_MAX_VARIABLE_NUMBER, minus some for the rest of the statement.
  static let variablesMax = 32_000
  /// The depth of a chain of ANDs or ORs is its length, and SQLite's expressions are at most 1,000 deep.
  private static let chainMax = 100
  /// SQLite's parser has room for 100 open symbols (YYSTACKDEPTH); the surrounding statement uses some of them.
  static let depthMax = PredicateParser.nestingMax + 5
  /// `a AND (b OR (…))` keeps three symbols open per level, `((…) OR b) AND a` only one: from this depth on, the
  /// deepest part of a chain is written first.
  private static let depthWithoutReordering = 8

  /// By `PredicateKey.index`.
  let columns: [String]
  let inlineValuesMax: Int

  func condition(_ node: BoundNode) throws -> SQLFragment {
    switch node {
    case .constant(let value): SQLFragment(value ? "1" : "0")
    case .isNull(let key): SQLFragment("\(column(key)) IS NULL")
    case .relation(let key, let relation, let operand): condition(key, relation, operand: operand)
    case .text(let text): condition(text)
    case .member(let key, let set, let options): try membership(of: key, in: set, options: options)
    case .not(let node): try negation(node)
    case .and(let nodes): try chain(reordered(nodes)[...], " AND ")
    case .or(let nodes): try chain(reordered(nodes)[...], " OR ")
    }
  }

  func column(_ key: PredicateKey) -> String {
    columns[key.index]
  }

  private func reordered(_ nodes: [BoundNode]) -> [BoundNode] {
    let depths = nodes.map(\.depth)
    guard let deepest = depths.max(), deepest >= Self.depthWithoutReordering else { return nodes }
    return nodes.indices.sorted { (depths[$1], $0) < (depths[$0], $1) }.map { nodes[$0] }
  }

  private func chain(_ nodes: ArraySlice<BoundNode>, _ separator: String) throws -> SQLFragment {
    guard nodes.count > Self.chainMax else {
      return SQLFragment.joined(try nodes.map(nested), separator: separator)
    }
    let middle = nodes.startIndex + nodes.count / 2
    let halves = [
      try chain(nodes[..<middle], separator), try chain(nodes[middle...], separator),
    ]
    return SQLFragment.joined(halves.map(\.parenthesized), separator: separator)
  }

  private func nested(_ node: BoundNode) throws -> SQLFragment {
    switch node {
    case .and, .or: try condition(node).parenthesized
    default: try condition(node)
    }
  }

  private func negation(_ node: BoundNode) throws -> SQLFragment {
    switch node {
    case .isNull(let key):
      return SQLFragment("\(column(key)) IS NOT NULL")
    case .relation(let key, .equal, let operand):
      return condition(key, .notEqual, operand: operand)
    default:
      let inner = try condition(node)
      return SQLFragment("(\(inner.text)) IS NOT TRUE", inner.bindings)
    }
  }

  // MARK: Relations

  private func condition(
    _ key: PredicateKey, _ relation: BoundRelation, operand: BoundOperand
  ) -> SQLFragment {
    let left = column(key)
    switch (relation, operand) {
    case (.equal, .key(let right)):
      return SQLFragment("\(left) IS \(column(right))")
    case (.notEqual, .key(let right)):
      return SQLFragment("\(left) IS NOT \(column(right))")
    case (.notEqual, .value(let value)):
      return SQLFragment("(\(left) <> ? OR \(left) IS NULL)", [value])
    case (_, .key(let right)):
      return SQLFragment("\(left) \(relation.sqlOperator) \(column(right))")
    case (_, .value(let value)):
      return SQLFragment("\(left) \(relation.sqlOperator) ?", [value])
    }
  }

  // MARK: Lists

  private func membership(
    of key: PredicateKey, in set: StoredValueSet, options: TextOptions
  ) throws -> SQLFragment {
    let function = PredicateSQLFunction.stringFold.name
    let left = options.isEmpty ? column(key) : "\(function)(\(options.rawValue), \(column(key)))"
    if set.values.count <= inlineValuesMax {
      let marks = Array(repeating: "?", count: set.values.count).joined(separator: ", ")
      return SQLFragment("\(left) IN (\(marks))", set.values)
    }
    let packed = try PackedValueList.pack(set.values)
    return SQLFragment(
      """
      \(left) IN (WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) \
      SELECT \(PredicateSQLFunction.listValue.name)(?, i) FROM n)
      """, [.integer(Int64(set.values.count)), .blob(packed)])
  }
}

extension BoundRelation {
  fileprivate var sqlOperator: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}
