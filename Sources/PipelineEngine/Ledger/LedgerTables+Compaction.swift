import Foundation
import ManagedObjectModel

/// How long a ledger keeps what it knows of imports.
struct LedgerRetention: Sendable {
  /// For this many days imports can be undone and replaced, and `history` lists them.
  var historyDays: Int?
  /// For this many days inputs are recognised by their content.
  var inputsDays: Int?

  init(historyDays: Int?, inputsDays: Int?) { (self.historyDays, self.inputsDays) = (historyDays, inputsDays) }

  /// That of a pipeline; nil where it keeps everything.
  init?(_ limits: LimitsDefinition) {
    if limits.historyDays == nil, limits.inputsDays == nil { return nil }
    self.init(historyDays: limits.historyDays, inputsDays: limits.inputsDays)
  }
}

extension LedgerTables {
  /// The newest runs are kept however old they are: later runs are compared with them.
  static let runsKept = 100

  /// Removes what is older than `retention` allows, from a ledger of the current layout.
  ///
  /// Inputs that were begun and not finished, or whose run has not reported yet, are left as they are.
  func compact(_ retention: LedgerRetention, at now: Date) -> [Statement] {
    func limit(_ days: Int?) -> StoredValue? {
      days.map { .text(LedgerDate.text(now.addingTimeInterval(-86_400 * Double($0)))) }
    }
    var statements: [Statement] = []
    if let limit = limit(retention.inputsDays) { statements += forgetInputs(before: limit) }
    if let limit = limit(retention.historyDays) ?? limit(retention.inputsDays) {
      statements += forgetHistory(before: limit)
    }
    return statements
  }

  /// What an undo, a replacement and the history need. The digests stay, and with them all that recognises an input.
  private func forgetHistory(before limit: StoredValue) -> [Statement] {
    let old = "SELECT inputID FROM \(input) WHERE state IN ('complete', 'outdated') AND savedAt < ?1"
    let listed =
      "SELECT runID FROM \(input) WHERE savedAt >= ?1 "
      + "OR state IN ('partial', 'unreported', 'unreportedOutdated')"
    return [
      ("DELETE FROM \(inserted) WHERE inputID IN (\(old))", [limit]),
      ("DELETE FROM \(overwritten) WHERE inputID IN (\(old))", [limit]),
      ("DELETE FROM \(linked) WHERE inputID IN (\(old))", [limit]),
      // An undo of an input that has only updated entries finds by this row that their values are gone.
      (
        "INSERT INTO \(overwritten) SELECT inputID, \(UndoRecords.droppedOrdinal), 0, NULL FROM \(input) "
          + "WHERE updated > 0 AND inputID IN (\(old)) ON CONFLICT (inputID, ordinal) DO NOTHING", [limit]
      ),
      (
        "UPDATE \(input) SET tally = '\(LedgerEntry.compactedTally)' WHERE inputID IN (\(old)) "
          + "AND tally <> '\(LedgerEntry.compactedTally)'", [limit]
      ),
      (
        "DELETE FROM \(input) WHERE state = 'undone' AND savedAt < ?1 AND inputID < (SELECT MAX(inputID) FROM \(input))",
        [limit]
      ),
      (
        "DELETE FROM \(run) WHERE startedAt < ?1 AND outcome <> 'running' AND runID NOT IN (\(listed)) AND runID NOT IN "
          + "(SELECT runID FROM \(run) ORDER BY startedAt DESC LIMIT \(Self.runsKept))", [limit]
      ),
    ]
  }

  /// Inputs altogether, except the last of each file and of each pipeline: a file that only grows, or that is corrected,
  /// is still compared with its last content.
  private func forgetInputs(before limit: StoredValue) -> [Statement] {
    func hasNewer(_ condition: String) -> String {
      "inputID NOT IN (SELECT MAX(inputID) FROM \(input) WHERE state <> 'undone' GROUP BY \(condition))"
    }
    let old =
      "SELECT inputID FROM \(input) WHERE state IN ('complete', 'outdated', 'undone') AND savedAt < ?1 AND "
      + "(location IS NULL OR \(hasNewer("location"))) AND \(hasNewer("pipeline, entity"))"
    return [
      ("DELETE FROM \(inserted) WHERE inputID IN (\(old))", [limit]),
      ("DELETE FROM \(overwritten) WHERE inputID IN (\(old))", [limit]),
      ("DELETE FROM \(linked) WHERE inputID IN (\(old))", [limit]),
      ("DELETE FROM \(input) WHERE inputID IN (\(old))", [limit]),
    ]
  }
}

extension LedgerEntry {
  /// The tally of an input that was compacted: it is only of use until the input is reported.
  static let compactedTally = "compacted"
}
