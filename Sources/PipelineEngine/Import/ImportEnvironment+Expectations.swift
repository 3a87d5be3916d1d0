import Foundation

extension ImportEnvironment {
  /// What the run is compared with when it has read its inputs; nil where nothing is expected.
  ///
  /// Called before the first save, for the earlier runs are those in the ledger at that time.
  func expectations() throws(RunFailure) -> ExpectationCheck? {
    guard let expect = definition.expect else { return nil }
    var lastRuns: [Int] = []
    if let records = expect.records, records.comparesRuns, store.isOpen {
      lastRuns = try store.perform {
        try tables.recordsRead(ofLast: records.lastRuns, pipeline: definition.name, $0)
      }
    }
    return ExpectationCheck(expect: expect, lastRuns: lastRuns, startedAt: startedAt)
  }

  /// Compares a run that has read all its inputs: adds what is not as expected to the report.
  ///
  /// - Returns: The failure of the run, if an expectation of the severity error is not met.
  func compare(_ totals: inout ImportTotals, with check: ExpectationCheck?) -> RunFailure? {
    guard let check, totals.outcome == .completed else { return nil }
    // A known input with records is one that a killed run had read and not reported.
    let hasRead = totals.files.contains { $0.state != .known || $0.records > 0 }
    guard !options.isReplay, hasRead else {
      totals.notes.append(
        options.isReplay
          ? "corrected records are not compared with what the pipeline expects of a run"
          : "nothing new was read, so it was not compared with what the pipeline expects")
      return nil
    }
    totals.notes += check.notes(totals.statistics)
    let found = check.violations(records: totals.counts.read, totals.statistics)
    let input = totals.files.count == 1 ? totals.files[0].path : "all \(totals.files.count) inputs"
    for violation in found {
      let issue = RecordIssue(
        .expectationError, severity: violation.severity,
        at: RecordPosition(input: input, record: 0, line: 0, byte: 0), column: violation.column,
        message: violation.message)
      totals.note(issue)
      monitor.log.log(.issue(issue))
    }
    let errors = found.filter { $0.severity == .error }
    guard let first = errors.first else { return nil }
    if definition.atomic { totals.failFiles() }
    let more = errors.count == 1 ? "" : "; \(errors.count - 1) more below"
    let subject = first.column.map { "\($0): " } ?? ""
    return RunFailure(
      code: .expectationError, exitCode: .dataError,
      message: "the input is not what the pipeline expects: \(subject)\(first.message)\(more)\(extent(totals.counts))")
  }

  /// What of the run is in the store.
  private func extent(_ counts: RunCounts) -> String {
    if isDryRun { return "" }
    if definition.atomic { return ". Nothing of this run is in the store" }
    return counts.inserted + counts.updated == 0
      ? "" : ". Its entries are in the store; with \"atomic\": true they would not be"
  }
}
