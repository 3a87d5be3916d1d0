import SystemSupport

/// Adds up how long the stages of an import work, and how long they wait for each other. The stage that waits least
/// limits the speed of the run.
final class StageClock: Sendable {
  enum Stage: String, Sendable, CaseIterable {
    /// Reads, inflates, hashes, and splits into records and fields.
    case read
    /// Makes entries of fields; may have several threads, whose times are added.
    case parse
    /// Plans, passes entries through the contexts, and writes them.
    case save
  }

  struct Times: Sendable, Equatable {
    var threads = 0
    var worked = Duration.zero
    var waited = Duration.zero
  }

  private let times = Locked<[Stage: Times]>([:])

  var stages: [(stage: Stage, times: Times)] {
    let times = times.withLock { $0 }
    return Stage.allCases.compactMap { stage in times[stage].map { (stage, $0) } }
  }

  /// Runs a thread's share of a stage.
  func time<Failure: Error>(_ stage: Stage, _ body: (inout Share) throws(Failure) -> Void) throws(Failure) {
    note(stage) { $0.threads += 1 }
    var share = Share(clock: self, stage: stage)
    defer { share.waiting {} }
    try body(&share)
  }

  private func note(_ stage: Stage, _ change: (inout Times) -> Void) {
    times.withLock { change(&$0[stage, default: Times()]) }
  }

  /// One thread's share of a stage. Its time is added whenever it waits, because others may read the times before it
  /// ends.
  struct Share {
    fileprivate let clock: StageClock
    fileprivate let stage: Stage
    private var last = ContinuousClock.now

    fileprivate init(clock: StageClock, stage: Stage) {
      self.clock = clock
      self.stage = stage
    }

    mutating func waiting<Value>(_ body: () -> Value) -> Value {
      let begin = ContinuousClock.now
      clock.note(stage) { $0.worked += last.duration(to: begin) }
      let value = body()
      last = ContinuousClock.now
      clock.note(stage) { $0.waited += begin.duration(to: last) }
      return value
    }
  }
}
