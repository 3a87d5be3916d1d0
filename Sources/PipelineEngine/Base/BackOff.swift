import Foundation

/// Waits between the attempts of what may succeed later: longer each time, and differently in different processes, so that
/// they do not all come back at once.
struct BackOff {
  private let end: ContinuousClock.Instant
  private var secondsMax = 0.05
  private static let secondsBetweenMax = 2.0

  /// - Parameter seconds: The time after which nothing is tried again.
  init(seconds: Double) { end = .now + .seconds(seconds) }

  /// For what becomes possible at some time.
  static var endless: BackOff { BackOff(seconds: 1e9) }

  /// Waits for the next attempt.
  ///
  /// - Returns: False if there is none: the time is over, or the run is cancelled.
  mutating func wait(unless isCancelled: () -> Bool = { false }) -> Bool {
    let rest = ContinuousClock.now.duration(to: end) / .seconds(1)
    guard rest > 0, !isCancelled() else { return false }
    Thread.sleep(forTimeInterval: min(rest, .random(in: secondsMax / 2...secondsMax)))
    secondsMax = min(2 * secondsMax, Self.secondsBetweenMax)
    return true
  }
}
