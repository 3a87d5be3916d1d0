import Foundation
import ManagedObjectModel

/// What the ledger knows about one run: a row of its table of runs.
struct LedgerRun: Sendable {
  enum Kind: String, Sendable {
    case `import`, replay
  }

  var id: String
  var pipeline: String
  var kind = Kind.import
  var startedAt: Date
  /// Nil while it runs, and permanently if it was killed.
  var endedAt: Date?
  /// `running`, `interrupted`, or as in the summary.
  var outcome = "running"
  var exitCode: Int32?
  var counts: RunCounts?
  /// Why it failed, or was stopped or cancelled.
  var message: String?

  /// The outcome of a plan that is not closed.
  static let plannedOutcome = "planned"

  static let columns = [
    "runID", "pipeline", "kind", "startedAt", "endedAt", "outcome", "exitCode", "recordsRead", "inserted", "updated",
    "unchanged", "duplicate", "rejected", "repeated", "message", "began",
  ]

  var values: [StoredValue] {
    let times: [StoredValue] = [
      .text(LedgerDate.text(startedAt)), endedAt.map { .text(LedgerDate.text($0)) } ?? .null,
    ]
    let result: [StoredValue] = [.text(outcome), exitCode.map { .integer(Int64($0)) } ?? .null]
    var numbers: [StoredValue] = Array(repeating: .null, count: 7)
    if let counts {
      numbers = [
        counts.read, counts.inserted, counts.updated, counts.unchanged, counts.duplicate, counts.rejected,
        counts.repeated,
      ].map { .integer(Int64($0)) }
    }
    // Times are to the second; the last value orders the runs of a second.
    let rest: [StoredValue] = [
      message.map { .text($0) } ?? .null, .real(startedAt.timeIntervalSinceReferenceDate),
    ]
    return [.text(id), .text(pipeline), .text(kind.rawValue)] + times + result + numbers + rest
  }
}
