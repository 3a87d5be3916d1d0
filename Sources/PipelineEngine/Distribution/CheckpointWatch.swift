/// Tells whether the workers that were getting on with a shard still do.
struct CheckpointWatch {
  static let pollSeconds = 0.1
  /// The shortest time without progress after which they don't. It is not the same for all who wait.
  private static let patienceSeconds = 1.0...2.0

  private var record = 0
  private var since = ContinuousClock.now
  /// The longest time between two steps so far.
  private var longest = Duration.zero
  private let patience = Duration.seconds(Double.random(in: Self.patienceSeconds))

  mutating func isStalled(at record: Int) -> Bool {
    let now = ContinuousClock.now
    if record != self.record {
      if self.record > 0 { longest = max(longest, since.duration(to: now)) }
      (self.record, since) = (record, now)
      return false
    }
    guard since.duration(to: now) > max(patience, longest * 4) else { return false }
    self.since = now
    return true
  }
}

extension RunFailure {
  static var cancelled: RunFailure {
    RunFailure(
      code: nil, exitCode: .temporaryFailure, message: "cancelled; what is saved stays, and any worker goes on")
  }
}
