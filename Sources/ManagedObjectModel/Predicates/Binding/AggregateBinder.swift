/// One value of all rows that a result stands for.
package struct RowAggregate: Sendable {
  /// Nil for a count.
  package let summary: ValueSummary?
  /// What is counted or put together of each row, where it is not null; nil: each row counts.
  package let operand: BoundExpression?
  /// The operand as it is written.
  package let source: PredicateOperand?

  package var type: PredicateValueType {
    guard let summary, let operand else { return .integer }
    return summary.resultType(of: operand.type)
  }

  /// The first component of paths that stand for aggregates.
  private static let marker = "@rows"

  /// What stands for the aggregate with this index in expressions.
  package static func path(_ index: Int) -> [String] { [marker, String(index)] }

  /// Nil for the path of an attribute.
  package static func index(of path: [String]) -> Int? {
    path.count == 2 && path[0] == marker ? Int(path[1]) : nil
  }

  /// The value for the rows of a result.
  ///
  /// - Parameter values: Those of the operand, by row; null where each row counts.
  package func value(_ values: some Sequence<StoredValue>) -> StoredValue {
    guard let summary else {
      return .integer(Int64(values.reduce(0) { $0 + (operand == nil || !StoredValueOrder.isNull($1) ? 1 : 0) }))
    }
    var state = SummaryState(summary)
    for value in values { state.add(value) }
    return type.normalized(state.result)
  }
}

/// Binds expressions about the rows that a result of a fetch of dictionaries stands for. `sum`, `count` and the like of
/// a value of the row become keys, which stand for `aggregates`.
package struct AggregateBinder {
  private let schema: any PredicateSchema
  /// What variables stand for.
  private let variables: [String: PredicateOperand]
  package private(set) var aggregates: [RowAggregate] = []
  private var indexes: [PredicateOperand: Int] = [:]

  package init(schema: any PredicateSchema, variables: [String: PredicateOperand]) {
    (self.schema, self.variables) = (schema, variables)
  }

  package mutating func bind(_ operand: PredicateOperand) throws -> BoundExpression {
    let rewritten = try rewrite(operand)
    return try rewritten.bound(to: ResultSchema(rows: schema, aggregates: aggregates))
  }

  package mutating func bind(_ node: PredicateNode) throws -> BoundPredicate {
    let rewritten = try node.mapOperands { try replacement($0) }
    return try rewritten.bound(to: ResultSchema(rows: schema, aggregates: aggregates))
  }

  private mutating func rewrite(_ operand: PredicateOperand) throws -> PredicateOperand {
    try operand.map { try replacement($0) }
  }

  private mutating func replacement(_ operand: PredicateOperand) throws -> PredicateOperand? {
    switch operand {
    case .variable(let name):
      guard let meant = variables[name] else { return nil }
      // What it stands for may use other variables, but not itself.
      var others = AggregateBinder(schema: schema, variables: variables.filter { $0.key != name })
      (others.aggregates, others.indexes) = (aggregates, indexes)
      let rewritten = try others.rewrite(meant)
      (aggregates, indexes) = (others.aggregates, others.indexes)
      return rewritten
    case .keyPath(let path):
      guard let first = path.first, let word = CollectionOperator(rawValue: first) else { return nil }
      let rest = Array(path.dropFirst())
      return try key(of: operand, word.summary, rest.isEmpty ? .selfObject : .keyPath(rest))
    case .function(let function, let arguments):
      guard function == .count || function.summary != nil, arguments.count == 1 else { return nil }
      let value = try rewrite(arguments[0])
      guard try value.isSingle(in: ResultSchema(rows: schema, aggregates: aggregates)) else { return nil }
      return try key(of: operand, function.summary, value)
    case .subquery:
      // Its condition is about the elements of one row.
      return operand
    default:
      return nil
    }
  }

  /// - Parameter value: What is put together of each row.
  private mutating func key(
    of aggregate: PredicateOperand, _ summary: ValueSummary?, _ value: PredicateOperand
  ) throws -> PredicateOperand {
    if let known = indexes[aggregate] { return .keyPath(RowAggregate.path(known)) }
    let isOfRows = summary == nil && value == .selfObject
    let bound = isOfRows ? nil : try value.bound(to: ResultSchema(rows: schema, aggregates: aggregates))
    if let bound { try check(aggregate, summary, of: bound) }
    indexes[aggregate] = aggregates.count
    aggregates.append(RowAggregate(summary: summary, operand: bound, source: isOfRows ? nil : value))
    return .keyPath(RowAggregate.path(aggregates.count - 1))
  }

  private func check(_ aggregate: PredicateOperand, _ summary: ValueSummary?, of value: BoundExpression) throws {
    guard !value.keys.contains(where: { RowAggregate.index(of: $0.path) != nil }) else {
      throw PredicateFailure.expression(aggregate, "it puts together what is put together already.")
    }
    switch summary {
    case nil: break
    case .minimum, .maximum:
      guard value.type == .object else { return }
      throw PredicateFailure.expression(aggregate, "objects have no order. Use an attribute of them.")
    case .sum, .average, .median, .deviation:
      guard value.type.family != .number else { return }
      throw PredicateFailure.expression(
        aggregate, "only numbers are put together, and \(value.operand.name) is \(value.type.describedName).")
    }
  }
}

/// Attributes of rows, and aggregates.
private struct ResultSchema: PredicateSchema {
  let rows: any PredicateSchema
  let aggregates: [RowAggregate]

  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    if let index = RowAggregate.index(of: keyPath) { return aggregates[index].type }
    return try rows.attributeType(ofKeyPath: keyPath)
  }

  func elements(onKeyPath keyPath: [String]) throws -> PredicateElements? {
    RowAggregate.index(of: keyPath) == nil ? try rows.elements(onKeyPath: keyPath) : nil
  }
}
