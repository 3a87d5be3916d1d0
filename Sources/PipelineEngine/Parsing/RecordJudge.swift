import OpenCoreData

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
    for index in checks.indices where !checks[index].test.holds(row) {
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
