import Foundation

/// When a run has to end by itself, asked at chunk borders.
struct Deadline: Sendable {
  /// Nil for a run that may take its time.
  let timeoutSeconds: Double?
  private let end: ContinuousClock.Instant?

  /// - Parameter timeoutSeconds: Nil or 0 for no end.
  init(timeoutSeconds: Double?, from start: ContinuousClock.Instant = .now) {
    self.timeoutSeconds = timeoutSeconds == 0 ? nil : timeoutSeconds
    end = self.timeoutSeconds.map { start + .seconds($0) }
  }

  /// The option's wish, else the definition's.
  init(_ definition: PipelineDefinition, _ options: RunOptions) {
    self.init(timeoutSeconds: options.timeoutSeconds ?? definition.timeoutSeconds)
  }

  func hasPassed(at now: ContinuousClock.Instant = .now) -> Bool { end.map { now >= $0 } ?? false }

  /// What a summary says of a run that it ended.
  var message: String? {
    timeoutSeconds.map { "the timeout of \($0.formatted()) s ended it; run it again to go on, or allow it more time" }
  }
}
