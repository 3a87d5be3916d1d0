import Foundation
import OpenCoreData

extension LedgerTables {
  /// The last imports of a pipeline that have ended, the oldest first, for the chart of a report.
  func recentRuns(of pipeline: String, but run: String, _ coordinator: NSPersistentStoreCoordinator) throws
    -> [RunPoint]
  {
    guard let layout = try layout(in: coordinator) else { return [] }
    let rows = try coordinator.participantRows(
      "SELECT startedAt, outcome, exitCode, recordsRead, rejected FROM \(self.run) \(joinedLastInput) "
        + "WHERE pipeline = ? AND runID <> ? AND kind = ? AND recordsRead IS NOT NULL "
        + "\(newestFirst(layout)) LIMIT \(RunPoint.shownMax - 1)",
      [pipeline, run, LedgerRun.Kind.import.rawValue])
    return rows.reversed().compactMap { row in
      guard let text = row[0] as? String, let start = try? Date(text, strategy: .iso8601),
        let outcome = row[1] as? String
      else { return nil }
      return RunPoint(
        startedAt: start, size: Int(row[3] as? Int64 ?? 0), rejected: Int(row[4] as? Int64 ?? 0), headline: outcome,
        hasFailed: outcome != RunSummary.Outcome.completed.rawValue && row[2] as? Int64 ?? 0 != 0)
    }
  }
}
