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

  static let columns = [
    "runID", "pipeline", "kind", "startedAt", "endedAt", "outcome", "exitCode", "recordsRead", "inserted", "updated",
    "unchanged", "duplicate", "rejected", "repeated", "message",
  ]

  var values: [StoredValue] {
    let numbers = counts.map {
      [$0.read, $0.inserted, $0.updated, $0.unchanged, $0.duplicate, $0.rejected, $0.repeated]
    }
    return [
      .text(id), .text(pipeline), .text(kind.rawValue), .text(LedgerDate.text(startedAt)),
      endedAt.map { .text(LedgerDate.text($0)) } ?? .null, .text(outcome),
      exitCode.map { .integer(Int64($0)) } ?? .null,
    ] + (numbers.map { $0.map { .integer(Int64($0)) } } ?? Array(repeating: .null, count: 7))
      + [message.map { .text($0) } ?? .null]
  }
}
