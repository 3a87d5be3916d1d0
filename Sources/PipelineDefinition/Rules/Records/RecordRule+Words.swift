extension RecordRule {
  /// The rule as whoever reads the definition is told it.
  package var explanation: String {
    (name.map { "\($0): " } ?? "") + (message ?? words) + (severity == .warning ? " (only a warning)" : "")
  }

  /// What the rule demands and what to do, for people.
  var words: String {
    switch kind {
    case .compare(let comparison):
      "\(comparison.left) must be \(comparison.comparison.rawValue) \(comparison.right)"
        + "\(comparison.emptyFails ? ", and neither empty" : ""); correct one of the two"
    case .when(let condition, let conclusions):
      "where \(condition.words), this must hold: \(conclusions.map(\.partWords).joined(separator: " and ")); "
        + "correct the record"
    case .anyOf(let columns):
      columns.count == 1
        ? "\(columns[0]) must not be empty; fill it in"
        : "one of \(columns.joined(separator: ", ")) must not be empty; fill one in"
    }
  }
}

extension RecordCondition {
  fileprivate var words: String {
    switch self {
    case .all(let parts): parts.map(\.partWords).joined(separator: " and ")
    case .any(let parts): parts.map(\.partWords).joined(separator: " or ")
    case .not(let inner): "not (\(inner.words))"
    case .column(let condition): condition.tests.map { condition.words($0) }.joined(separator: " and ")
    }
  }

  /// As a part of a longer one.
  fileprivate var partWords: String {
    switch self {
    case .all(let parts), .any(let parts): parts.count > 1 ? "(\(words))" : words
    case .not, .column: words
    }
  }
}

extension ColumnCondition {
  fileprivate func words(_ test: Test) -> String {
    switch test {
    case .isEmpty(let flag): "\(column) is \(flag ? "empty" : "not empty")"
    case .oneOf(let values): "\(column) is one of \(values.map(\.words).joined(separator: ", "))"
    case .compare(let comparison, .constant(let value)): "\(column) \(comparison.rawValue) \(value.words)"
    case .compare(let comparison, .column(let other)): "\(column) \(comparison.rawValue) \(other)"
    }
  }
}

extension ColumnCondition.Constant {
  fileprivate var words: String {
    switch self {
    case .text(let text): "'\(text)'"
    case .number(let number): QuantityPattern.plain(number)
    case .flag(let flag): "\(flag)"
    }
  }
}
