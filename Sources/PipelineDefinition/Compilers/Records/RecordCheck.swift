/// A compiled ``RecordRule``. A class, so that passing it copies a reference instead of all its parts.
package final class RecordCheck: Sendable {
  package let rule: RecordRule
  /// Indices of the columns that the rule reads, in the order in which it names them.
  package let columns: [Int]
  package let test: RecordTest
  private let columnNames: [String]

  init(_ rule: RecordRule, test: RecordTest, columns: [Int], names: [String]) {
    self.rule = rule
    self.test = test
    self.columns = columns
    columnNames = names
  }

  /// The message for a violation.
  ///
  /// - Parameter values: the values of the columns that the rule reads, as written in the record; `nil` for no value.
  package func message(_ values: [String?]) -> String {
    let shown = zip(columnNames, values).map { name, value in
      value.map { "\(name) \"\($0)\"" } ?? "no \(name)"
    }
    let text = rule.message ?? rule.defaultMessage
    return "\(rule.name.map { "\($0): " } ?? "")\(text) (\(shown.joined(separator: ", ")))"
  }
}
