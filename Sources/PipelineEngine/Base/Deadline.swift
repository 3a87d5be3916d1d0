import Foundation

/// The time at which a run has to end by itself; checked at chunk boundaries.
struct Deadline: Sendable {
  /// Nil for a run without a time limit.
  let timeoutSeconds: Double?
  private let end: ContinuousClock.Instant?

  /// - Parameter timeoutSeconds: Nil or 0 for no limit.
  init(timeoutSeconds: Double?, from start: ContinuousClock.Instant = .now) {
    self.timeoutSeconds = timeoutSeconds == 0 ? nil : timeoutSeconds
    end = self.timeoutSeconds.map { start + .seconds($0) }
  }

  /// The timeout of the options, or else that of the definition.
  init(_ definition: PipelineDefinition, _ options: RunOptions) {
    self.init(timeoutSeconds: options.timeoutSeconds ?? definition.timeoutSeconds)
  }

  func hasPassed(at now: ContinuousClock.Instant = .now) -> Bool { end.map { now >= $0 } ?? false }

  /// The stop reason in the summary of a run that it ended.
  var message: String? {
    timeoutSeconds.map {
      "the timeout of \($0.formatted()) s ended it; run it again to continue, or allow it more time"
    }
  }
}
