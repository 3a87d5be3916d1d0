import Foundation

/// One run among the last ones, for a chart.
package struct RunPoint: Sendable, Hashable {
  package let startedAt: Date
  /// Records read, or entries exported.
  package let size: Int
  package let rejected: Int
  /// How it went.
  package let headline: String
  /// Whether it failed or was stopped.
  package let hasFailed: Bool

  package init(startedAt: Date, size: Int, rejected: Int, headline: String, hasFailed: Bool) {
    (self.startedAt, self.size, self.rejected) = (startedAt, size, rejected)
    (self.headline, self.hasFailed) = (headline, hasFailed)
  }

  /// How many a chart shows.
  package static let shownMax = 30
}

extension RunSummary {
  /// This run among the last ones.
  var point: RunPoint {
    RunPoint(
      startedAt: startedAt, size: kind == .export ? exported : counts.read, rejected: counts.rejected,
      headline: verdict.headline, hasFailed: exitCode != .ok && outcome != .completed)
  }
}
