import OpenCoreData
import PersistentStores

/// Checks records one by one against the rules for whole records.
struct RecordValidator {
  let checks: [RecordCheck]
  private let slots: [Int]
  /// Indices of the rules that the last record violated.
  private(set) var broken: [Int] = []

  init(_ columns: ColumnSet, entity: NSEntityDescription) {
    checks = columns.recordChecks
    slots = columns.parsers.map { entity.slot(named: $0.definition.attribute) ?? 0 }
  }

  var hasChecks: Bool { !checks.isEmpty }

  mutating func forget() { broken.removeAll(keepingCapacity: true) }

  /// Whether the last row of `batch` violates no rule with the severity error.
  mutating func accepts(_ batch: ObjectBatch) -> Bool {
    let row = RecordRow(batch: batch, slots: slots)
    var isGood = true
    for index in checks.indices where !checks[index].test.holds(row) {
      broken.append(index)
      if checks[index].rule.severity == .error { isGood = false }
    }
    return isGood
  }

  /// Issues for what the last record violated; `value` returns the text of a column in the record.
  func issues(at position: RecordPosition, shown: String, value: (Int) -> String?) -> [RecordIssue] {
    broken.map { index in
      let check = checks[index]
      return RecordIssue(
        .rowConstraint, severity: check.rule.severity, at: position, value: shown,
        message: check.message(check.columns.map(value)))
    }
  }
}
