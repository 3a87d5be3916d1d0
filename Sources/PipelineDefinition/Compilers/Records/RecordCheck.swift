/// A ``RecordRule`` made ready. A class, so that handing it around copies a reference and not all that it holds.
public final class RecordCheck: Sendable {
  public let rule: RecordRule
  /// Indices of the columns that it looks at, in the order in which they are named.
  package let columns: [Int]
  package let test: RecordTest
  private let columnNames: [String]

  init(_ rule: RecordRule, test: RecordTest, columns: [Int], names: [String]) {
    self.rule = rule
    self.test = test
    self.columns = columns
    columnNames = names
  }

  /// What is wrong, with the values of the columns looked at: as they stand in the record, `nil` where it has none.
  package func message(_ values: [String?]) -> String {
    let shown = zip(columnNames, values).map { name, value in
      value.map { "\(name) \"\($0)\"" } ?? "no \(name)"
    }
    let text = rule.message ?? rule.defaultMessage
    return "\(rule.name.map { "\($0): " } ?? "")\(text) (\(shown.joined(separator: ", ")))"
  }
}
