import OpenCoreData

/// A ``RecordRule`` made ready. A class, so that handing it around copies a reference and not all that it holds.
public final class RecordCheck: Sendable {
  public let rule: RecordRule
  /// Indices of the columns that it looks at, in the order in which they are named.
  let columns: [Int]
  private let test: RecordTest
  private let columnNames: [String]

  init(_ rule: RecordRule, test: RecordTest, columns: [Int], names: [String]) {
    self.rule = rule
    self.test = test
    self.columns = columns
    columnNames = names
  }

  func passes(_ row: RecordRow) -> Bool { test.holds(row) }

  /// What is wrong, with the values of the columns looked at: as they stand in the record, `nil` where it has none.
  func message(_ values: [String?]) -> String {
    let shown = zip(columnNames, values).map { name, value in
      value.map { "\(name) \"\($0)\"" } ?? "no \(name)"
    }
    let text = rule.message ?? rule.words
    return "\(rule.name.map { "\($0): " } ?? "")\(text) (\(shown.joined(separator: ", ")))"
  }
}

/// Judges records by the rules for whole records, one by one.
struct RecordJudge {
  let checks: [RecordCheck]
  private let slots: [Int]
  /// Indices of the rules that the last record broke.
  private(set) var broken: [Int] = []

  init(_ columns: ColumnSet, entity: NSEntityDescription) {
    checks = columns.recordChecks
    slots = columns.parsers.map { entity.slot(named: $0.definition.attribute) ?? 0 }
  }

  var isIdle: Bool { checks.isEmpty }

  mutating func forget() { broken.removeAll(keepingCapacity: true) }

  /// Whether the last row of `batch` may stay: whether it breaks no rule that is an error.
  mutating func accepts(_ batch: ObjectBatch) -> Bool {
    let row = RecordRow(batch: batch, slots: slots)
    var isGood = true
    for index in checks.indices where !checks[index].passes(row) {
      broken.append(index)
      if checks[index].rule.severity == .error { isGood = false }
    }
    return isGood
  }

  /// Issues for what the last record broke; `value` gives the text of a column as it stands in the record.
  func issues(at position: RecordPosition, shown: String, value: (Int) -> String?) -> [RecordIssue] {
    broken.map { index in
      let check = checks[index]
      return RecordIssue(
        .rowConstraint, severity: check.rule.severity, at: position, value: shown,
        message: check.message(check.columns.map(value)))
    }
  }
}
