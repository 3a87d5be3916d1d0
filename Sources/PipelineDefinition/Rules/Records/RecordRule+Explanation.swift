extension RecordRule {
  /// The rule as an explanation of the pipeline shows it.
  package var explanation: String {
    (name.map { "\($0): " } ?? "") + (message ?? defaultMessage) + (severity == .warning ? " (only a warning)" : "")
  }

  /// What the rule demands, and a remedy.
  var defaultMessage: String {
    switch kind {
    case .compare(let comparison):
      "\(comparison.left) must be \(comparison.comparison.rawValue) \(comparison.right)"
        + "\(comparison.emptyFails ? ", and neither empty" : ""); correct one of the two"
    case .when(let condition, let conclusions):
      "where \(condition.text), this must hold: \(conclusions.map(\.nestedText).joined(separator: " and ")); "
        + "correct the record"
    case .anyOf(let columns):
      columns.count == 1
        ? "\(columns[0]) must not be empty; fill it in"
        : "one of \(columns.joined(separator: ", ")) must not be empty; fill one in"
    }
  }
}

extension RecordCondition {
  fileprivate var text: String {
    switch self {
    case .all(let parts): parts.map(\.nestedText).joined(separator: " and ")
    case .any(let parts): parts.map(\.nestedText).joined(separator: " or ")
    case .not(let inner): "not (\(inner.text))"
    case .column(let condition): condition.tests.map { condition.text($0) }.joined(separator: " and ")
    }
  }

  /// The text as a part of a longer condition.
  fileprivate var nestedText: String {
    switch self {
    case .all(let parts), .any(let parts): parts.count > 1 ? "(\(text))" : text
    case .not, .column: text
    }
  }
}

extension ColumnCondition {
  fileprivate func text(_ test: Test) -> String {
    switch test {
    case .isEmpty(let flag): "\(column) is \(flag ? "empty" : "not empty")"
    case .oneOf(let values): "\(column) is one of \(values.map(\.text).joined(separator: ", "))"
    case .compare(let comparison, .constant(let value)): "\(column) \(comparison.rawValue) \(value.text)"
    case .compare(let comparison, .column(let other)): "\(column) \(comparison.rawValue) \(other)"
    }
  }
}

extension ColumnCondition.Constant {
  fileprivate var text: String {
    switch self {
    case .text(let text): "'\(text)'"
    case .number(let number): QuantityPattern.plain(number)
    case .flag(let flag): "\(flag)"
    }
  }
}
