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
/// a value of the row become keys, which stand for `aggregates`; so does what the rows are grouped by.
package struct AggregateBinder {
  private let schema: any PredicateSchema
  /// What variables stand for.
  private let variables: [String: PredicateOperand]
  private var groups: [PredicateOperand: (index: Int, type: PredicateValueType)] = [:]
  private var groupCount = 0
  package private(set) var aggregates: [RowAggregate] = []
  private var indexes: [PredicateOperand: Int] = [:]

  /// - Parameters:
  ///   - schema: The attributes of a row.
  ///   - variables: What `$name` stands for.
  package init(schema: any PredicateSchema, variables: [String: PredicateOperand]) {
    (self.schema, self.variables) = (schema, variables)
  }

  /// Binds what rows are grouped by: a value of each row. From then on, an equal expression is the group's value.
  package mutating func group(by operand: PredicateOperand) throws -> BoundExpression {
    let value = try withVariables(operand)
    try checkRow(value, in: operand)
    let bound = try value.bound(to: schema)
    if groups[value] == nil { groups[value] = (groupCount, bound.type) }
    groupCount += 1
    return bound
  }

  package mutating func bind(_ operand: PredicateOperand) throws -> BoundExpression {
    let rewritten = try withVariables(operand).map { try replacement($0) }
    return try rewritten.bound(to: ResultSchema(rows: schema, binder: self))
  }

  package mutating func bind(_ node: PredicateNode) throws -> BoundPredicate {
    let rewritten = try node.mapOperands { operand in
      if case .subquery = operand { return operand }
      return try withVariables(operand).map { try replacement($0) }
    }
    return try rewritten.bound(to: ResultSchema(rows: schema, binder: self))
  }

  fileprivate func type(of key: ResultKey) -> PredicateValueType? {
    switch key {
    case .aggregate(let index): aggregates.indices.contains(index) ? aggregates[index].type : nil
    case .group(let index): groups.values.first { $0.index == index }?.type
    }
  }

  /// The operand with what its variables stand for, which may have other variables, but not the same.
  private func withVariables(_ operand: PredicateOperand, without used: Set<String> = []) throws -> PredicateOperand {
    try operand.map { part in
      if case .subquery = part { return part }
      guard case .variable(let name) = part, !used.contains(name), let meant = variables[name] else { return nil }
      return try withVariables(meant, without: used.union([name]))
    }
  }

  private mutating func replacement(_ operand: PredicateOperand) throws -> PredicateOperand? {
    if let group = groups[operand] { return .keyPath(ResultKey.group(group.index).path) }
    switch operand {
    case .keyPath(let path):
      guard !ResultKey.isReserved(path) else { throw PredicateFailure.expression(operand, "it is not a key path.") }
      guard let first = path.first, let word = CollectionOperator(rawValue: first) else { return nil }
      guard !word.isUnion else {
        throw PredicateFailure.expression(
          operand, "\(word.rawValue) gives values of a to-many relationship of one object.")
      }
      let rest = Array(path.dropFirst())
      return try key(of: operand, word.summary, rest.isEmpty ? .selfObject : .keyPath(rest))
    case .function(let function, let arguments):
      guard try isAggregate(function, arguments) else { return nil }
      return try key(of: operand, function.summary, arguments[0])
    case .subquery:
      // Its condition is about the elements of one row.
      return operand
    default:
      return nil
    }
  }

  /// Whether a function of many values is one of many rows: its argument is a single value of each.
  private func isAggregate(_ function: PredicateFunction, _ arguments: [PredicateOperand]) throws -> Bool {
    try (function == .count || function.summary != nil) && arguments.count == 1 && arguments[0].isSingle(in: schema)
  }

  /// - Parameter value: What is put together of each row.
  private mutating func key(
    of aggregate: PredicateOperand, _ summary: ValueSummary?, _ value: PredicateOperand
  ) throws -> PredicateOperand {
    if let known = indexes[aggregate] { return .keyPath(ResultKey.aggregate(known).path) }
    try checkRow(value, in: aggregate)
    let isOfRows = summary == nil && value == .selfObject
    let bound = isOfRows ? nil : try value.bound(to: schema)
    if let bound { try check(aggregate, summary, of: bound) }
    indexes[aggregate] = aggregates.count
    aggregates.append(RowAggregate(summary: summary, operand: bound, source: isOfRows ? nil : value))
    return .keyPath(ResultKey.aggregate(aggregates.count - 1).path)
  }

  /// - Throws: `NSError` 134060 if a value of one row has one of all rows in it.
  private func checkRow(_ value: PredicateOperand, in whole: PredicateOperand) throws {
    _ = try value.map { part in
      switch part {
      case .keyPath(let path) where path.first.flatMap(CollectionOperator.init(rawValue:)) != nil: break
      case .function(let function, let arguments) where try isAggregate(function, arguments): break
      case .subquery: return part
      default: return nil
      }
      throw PredicateFailure.expression(
        whole, "'\(part.formatDescription)' is of all rows, and a value of each row is needed here.")
    }
  }

  private func check(_ aggregate: PredicateOperand, _ summary: ValueSummary?, of value: BoundExpression) throws {
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

/// Attributes of rows, aggregates and groups.
private struct ResultSchema: PredicateSchema {
  let rows: any PredicateSchema
  let binder: AggregateBinder

  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    if let key = ResultKey(keyPath), let type = binder.type(of: key) { return type }
    return try rows.attributeType(ofKeyPath: keyPath)
  }

  func elements(onKeyPath keyPath: [String]) throws -> PredicateElements? {
    ResultKey(keyPath) == nil ? try rows.elements(onKeyPath: keyPath) : nil
  }
}
