import Foundation

/// What a run has to say of one input: its records, and what is wrong with them.
struct InputTally {
  var counts = RunCounts()
  var log: IssueLog

  init(listedMax: Int) { log = IssueLog(listedMax: listedMax) }

  /// As a checkpoint has it: so that a run that goes on says the same in the end as one that was not interrupted.
  init(_ entry: LedgerEntry, issues: [RecordIssue], listedMax: Int) {
    counts = entry.counts
    log = IssueLog(
      listedMax: listedMax, counts: entry.tally.issues, errors: entry.tally.errors, warnings: entry.tally.warnings,
      listed: issues)
  }

  mutating func add(_ plan: ChunkPlan) {
    counts = counts + plan.counts
    for issue in plan.issues { log.add(issue) }
  }

  /// What a checkpoint keeps in one column: all but the counts and the listed issues.
  struct Rest: Sendable, Codable {
    var errors = 0
    var warnings = 0
    var issues: [IssueCode: Int] = [:]
  }

  var rest: Rest { Rest(errors: log.errorsTotal, warnings: log.warningsTotal, issues: log.counts) }
}

extension InputTally.Rest {
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  init(json: String) {
    self = (try? JSONDecoder().decode(Self.self, from: Data(json.utf8))) ?? Self()
  }
}
