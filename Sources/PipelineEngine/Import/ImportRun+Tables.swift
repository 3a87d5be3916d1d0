import Foundation

/// The columns and rules in the report of an import of one entity.
extension ImportRun {
  func setTables(of summary: inout RunSummary, _ totals: ImportTotals) {
    guard parts.count == 1, environment.profiler != nil, totals.counts.read > 0 else { return }
    let faults = totals.log.faultCounts
    func count(_ isMeant: (IssueLog.Fault) -> Bool) -> Int {
      faults.reduce(0) { $0 + (isMeant($1.key) ? $1.value : 0) }
    }
    let columns = (totals.tallies ?? []).map { tally in
      tally.column(refused: count { $0.column == tally.name && $0.severity == .error })
    }
    if !columns.isEmpty { summary.columns = columns }
    let types = store.entity.columnTypes
    var rules: [RunSummary.Rule] = []
    for column in definition.columns {
      if let type = types[column.attribute], type != .text {
        let failed = count { $0.column == column.name && $0.code == .typeError }
        rules.append(.init(column: column.name, rule: "is \(type.noun)", failed: failed))
      }
      for (index, rule) in column.rules.enumerated() {
        let failed = count { fault in
          fault.column == column.name
            && (rule.kind == .unique
              ? fault.code == .uniqueError : fault.code == .constraintError && fault.rule == index)
        }
        rules.append(.init(column: column.name, rule: rule.words, failed: failed, severity: rule.severity))
      }
    }
    for (index, rule) in definition.recordRules.enumerated() {
      let failed = count { $0.code == .rowConstraint && $0.rule == index }
      rules.append(.init(rule: rule.explanation, failed: failed, severity: rule.severity))
    }
    if !rules.isEmpty { summary.rules = rules }
  }
}
