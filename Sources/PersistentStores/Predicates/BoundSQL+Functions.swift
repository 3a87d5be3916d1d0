import ManagedObjectModel

/// Functions, as operators of SQLite where those are exactly equivalent, otherwise as SQL functions of this library.
extension BoundSQL {
  func value(_ function: ScalarFunction, _ operands: [BoundOperand]) throws -> SQLFragment {
    if let sign = function.sqlOperator, operands.count == 2 {
      return try operand(operands[0], before: sign) + SQLFragment(" \(sign) ") + operand(operands[1], after: sign)
    }
    if function == .real { return SQLFragment("CAST(") + (try value(operands[0])) + SQLFragment(" AS REAL)") }
    let arguments = SQLFragment.joined(try operands.map(argument), separator: ", ")
    return SQLFragment(function.sqlName + "(") + arguments + SQLFragment(")")
  }

  /// `TERNARY(condition, value, otherwise)`.
  func value(_ condition: BoundNode, _ first: BoundOperand, otherwise second: BoundOperand) throws -> SQLFragment {
    SQLFragment("CASE WHEN ") + (try self.condition(condition)) + SQLFragment(" THEN ") + (try value(first))
      + SQLFragment(" ELSE ") + (try value(second)) + SQLFragment(" END")
  }

  /// The SQL of a value that is calculated with. Columns of dates and decimals keep whole numbers as integers, whose
  /// division would drop the remainder.
  private func argument(_ operand: BoundOperand) throws -> SQLFragment {
    let sql = try value(operand)
    guard operand.mayBeStoredWhole else { return sql }
    return SQLFragment("CAST(") + sql + SQLFragment(" AS REAL)")
  }

  private func operand(_ operand: BoundOperand, before sign: String) throws -> SQLFragment {
    let sql = try argument(operand)
    guard let inner = operand.sqlOperator else { return sql }
    return Self.binds(inner, asTightlyAs: sign) ? sql : sql.parenthesized
  }

  private func operand(_ operand: BoundOperand, after sign: String) throws -> SQLFragment {
    let sql = try argument(operand)
    return operand.sqlOperator == nil ? sql : sql.parenthesized
  }

  private static func binds(_ inner: String, asTightlyAs outer: String) -> Bool {
    inner == "*" || inner == "/" || outer == "+" || outer == "-"
  }
}

extension BoundOperand {
  /// The operator that its SQL has outermost.
  fileprivate var sqlOperator: String? {
    guard case .computed(let computation) = self, case .function(let function, let operands) = computation.form,
      operands.count == 2
    else { return nil }
    return function.sqlOperator
  }

  fileprivate var mayBeStoredWhole: Bool {
    guard type == .date || type == .decimal || type == .real else { return false }
    switch self {
    case .value: return false
    case .key(let key): return key.type != .real
    case .computed(let computation):
      switch computation.form {
      case .count, .distinctCount: return false
      case .summary(let kind, _, _): return kind == .minimum || kind == .maximum
      case .function(let function, _): return function == .minimum || function == .maximum
      case .conditional: return true
      }
    }
  }
}

extension ScalarFunction {
  /// The name of the SQL function. Aggregate functions over rows have the names without LIST.
  package var sqlName: String { (takesList ? "OCD_LIST_" : "OCD_") + rawValue.uppercased() }

  private var takesList: Bool {
    switch self {
    case .sum, .count, .minimum, .maximum, .average, .median, .deviation: true
    default: false
    }
  }
}
