import ManagedObjectModel
import Foundation

extension BoundPredicate {
  /// The condition as SQL for a WHERE clause, true for exactly the rows for which `matches` is true.
  ///
  /// Values are bound, never interpolated. Plain comparisons keep a form that an index on the column can serve; the
  /// functions of `PredicateSQLFunction` must be registered on the connection. A list of more than 500 values is bound
  /// as one blob; every list is if the statement would exceed SQLite's 32,766 variables.
  ///
  /// - Parameter columns: Where the attributes are.
  /// - Throws: the errors of `columns`; NSError 134180 if the number of values or the nesting depth exceeds SQLite's
  ///   limits.
  package func sql(columns: some PredicateColumns) throws -> SQLFragment {
    guard root.depth <= BoundSQL.depthMax else { throw PredicateFailure.tooDeep(max: BoundSQL.depthMax) }
    let sql = try BoundSQL(scopes: [columns], inlineValuesMax: 500).condition(root)
    if sql.bindings.count <= BoundSQL.variablesMax { return sql }
    let packed = try BoundSQL(scopes: [columns], inlineValuesMax: 1).condition(root)
    guard packed.bindings.count <= BoundSQL.variablesMax else {
      throw PredicateFailure.tooManyValues(packed.bindings.count, max: BoundSQL.variablesMax)
    }
    return packed
  }
}

extension BoundExpression {
  /// The expression as SQL, whose value is that of `value(of:_:)`.
  ///
  /// - Parameter columns: Where the attributes are.
  /// - Throws: The errors of `columns`; `NSError` 134180 if the nesting depth exceeds SQLite's limit.
  package func sql(columns: any PredicateColumns) throws -> SQLFragment {
    guard operand.depth <= BoundSQL.depthMax else { throw PredicateFailure.tooDeep(max: BoundSQL.depthMax) }
    return try BoundSQL(scopes: [columns], inlineValuesMax: 500).value(operand)
  }
}

/// Writes bound nodes as SQL of SQLite.
struct BoundSQL: PredicateSQL {
  /// SQLITE_MAX_VARIABLE_NUMBER, minus some for the rest of the statement.
  static let variablesMax = 32_000
  /// The depth of a chain of ANDs or ORs is its length, and SQLite's expressions are at most 1,000 deep.
  private static let chainMax = 100
  /// SQLite's parser has room for 100 open symbols (YYSTACKDEPTH); the surrounding statement uses some of them.
  static let depthMax = PredicateParser.nestingMax + 5
  /// `a AND (b OR (…))` keeps three symbols open per level, `((…) OR b) AND a` only one: from this depth on, the
  /// deepest part of a chain is written first.
  private static let depthWithoutReordering = 8

  /// The columns of the rows and of the elements of the enclosing sub-selects, by level.
  let scopes: [any PredicateColumns]
  let inlineValuesMax: Int

  func within(_ columns: any PredicateColumns) -> BoundSQL {
    BoundSQL(scopes: scopes + [columns], inlineValuesMax: inlineValuesMax)
  }

  func constant(_ value: Bool) -> SQLFragment { SQLFragment(value ? "1" : "0") }
  func comparisonWithoutKeys() -> BoundNode { .constant(false) }

  func joined(_ nodes: [BoundNode], separator: String) throws -> SQLFragment {
    try chain(reordered(nodes)[...], separator)
  }

  /// The SQL of an operand.
  func value(_ operand: BoundOperand) throws -> SQLFragment {
    switch operand {
    case .key(let key): try scopes[key.level].sql(key)
    case .value(let value): SQLFragment("?", [value])
    case .computed(let computation): try value(computation)
    }
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

  func negation(_ node: BoundNode) throws -> SQLFragment {
    switch node {
    case .isNull(let operand):
      return try value(operand) + SQLFragment(" IS NOT NULL")
    case .relation(let left, .equal, let right):
      return try condition(.relation(left, .notEqual, right))
    case .exists:
      return SQLFragment("NOT ") + (try condition(node))
    default:
      let inner = try condition(node)
      return SQLFragment("(\(inner.text)) IS NOT TRUE", inner.bindings)
    }
  }

  // MARK: Relations

  func comparison(
    _ left: BoundOperand, _ relation: BoundRelation, with right: BoundOperand
  ) throws -> SQLFragment {
    let (first, second) = (try value(left), try value(right))
    switch (relation, left, right) {
    case (.notEqual, .key, .value):
      return SQLFragment("(\(first.text) <> ? OR \(first.text) IS NULL)", second.bindings)
    case (.equal, _, .key), (.equal, _, .computed):
      return first + SQLFragment(" IS ") + second
    case (.notEqual, _, _):
      return first + SQLFragment(" IS NOT ") + second
    default:
      return first + SQLFragment(" \(relation.sqlOperator) ") + second
    }
  }

  // MARK: Lists

  func membership(
    of operand: BoundOperand, in values: [StoredValue], options: TextOptions
  ) throws -> SQLFragment {
    let function = PredicateSQLFunction.stringFold.name
    let plain = try value(operand)
    let left =
      options.isEmpty
      ? plain : SQLFragment("\(function)(\(options.rawValue), ") + plain + SQLFragment(")")
    if values.count <= inlineValuesMax {
      let marks = Array(repeating: "?", count: values.count).joined(separator: ", ")
      return left + SQLFragment(" IN (\(marks))", values)
    }
    let packed = try PackedValueList.pack(values)
    return left
      + SQLFragment(
        """
         IN (WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) \
        SELECT \(PredicateSQLFunction.listValue.name)(?, i) FROM n)
        """, [.integer(Int64(values.count)), .blob(packed)])
  }
}
