/// The protocol by which attempts import one shard, as a state machine: every interleaving of their statements, with
/// kills at any of them and answers to COMMIT that get lost.
///
/// An attempt reads the checkpoint, parses a chunk, and sends a transaction: the checkpoint is moved if it is where it
/// was read, the rows are copied, and the transaction is committed. A scheduler starts a killed attempt again, as long
/// as no attempt has reported success.
struct ShardProtocol {
  /// A rule that is left out, or kept in another way.
  enum Variant: CaseIterable {
    /// As the program does it.
    case complete
    /// The checkpoint is moved after the rows are copied, in the same transaction: safe, but rows are copied in vain.
    case comparisonAfterCopy
    /// The checkpoint is moved wherever it is.
    case withoutComparison
    /// An attempt that meets another's transaction reports success: the other one does the work.
    case successForOthers
    /// The checkpoint is moved in a transaction of its own, after that of the rows.
    case checkpointInOwnTransaction
    /// After a lost answer the chunk counts as saved, without a look at the ledger.
    case lostAnswerIsSuccess
    /// After a lost answer the chunk is copied again, without a look at the ledger.
    case lostAnswerIsFailure
    /// An attempt reports success after its own last chunk, without a look at the ledger.
    case successWithoutLedger
  }

  struct Findings: Equatable {
    var states = 0
    var doubled = 0
    var lost = 0
    var stuck = 0
    var isSafe: Bool { doubled + lost + stuck == 0 }
  }

  private enum Step: Hashable {
    case readCheckpoint, moveCheckpoint, copyRows, commit, moveCheckpointAlone, reportSuccess, succeeded, killed
  }

  private struct Attempt: Hashable {
    var step = Step.readCheckpoint
    /// The chunk that it believes to be next.
    var chunk = 0
    /// Whether it goes on without the comparison, because it believes that nothing was saved.
    var repeats = false
  }

  private struct State: Hashable {
    var checkpoint = 0
    /// How many times each chunk is in the table.
    var copies: [Int]
    /// The attempt whose transaction holds the row of the shard.
    var holder: Int?
    var attempts: [Attempt]
    var killsLeft: Int
    /// Whether an attempt has reported success.
    var isReported = false

    var isDoubled: Bool { copies.contains { $0 > 1 } }
    var isLost: Bool { isReported && copies.contains(0) }
  }

  let variant: Variant
  var attemptCount = 3
  var chunkCount = 3
  var killsMax = 2

  /// Visits all states that can be reached.
  func explore() -> Findings {
    let start = State(
      copies: Array(repeating: 0, count: chunkCount), attempts: Array(repeating: Attempt(), count: attemptCount),
      killsLeft: killsMax)
    var findings = Findings()
    findings.states = visitStates(from: start) { state in
      if state.isDoubled || state.isLost {
        findings.doubled += state.isDoubled ? 1 : 0
        findings.lost += state.isLost ? 1 : 0
        return []
      }
      let next = state.attempts.indices.flatMap { successors(of: state, attempt: $0) }
      if next.isEmpty, !state.isReported { findings.stuck += 1 }
      return next
    }
    return findings
  }

  private func successors(of state: State, attempt index: Int) -> [State] {
    let attempt = state.attempts[index]
    var result: [State] = []
    func add(_ change: (inout State, inout Attempt) -> Void) {
      var (next, own) = (state, attempt)
      change(&next, &own)
      next.attempts[index] = own
      result.append(next)
    }
    switch attempt.step {
    case .readCheckpoint:
      add { _, own in
        own = Attempt(step: state.checkpoint >= chunkCount ? .reportSuccess : .moveCheckpoint, chunk: state.checkpoint)
      }
    case .moveCheckpoint: move(state, of: attempt, index: index, add)
    case .copyRows: copy(state, of: attempt, index: index, add)
    case .commit: commit(state, of: attempt, index: index, add)
    case .moveCheckpointAlone:
      add { next, own in
        next.checkpoint = max(state.checkpoint, attempt.chunk + 1)
        own.step = .readCheckpoint
      }
    case .reportSuccess:
      add { next, own in
        next.isReported = true
        own.step = .succeeded
      }
    case .succeeded: break
    case .killed:
      if !state.isReported { add { _, own in own = Attempt() } }
    }
    if state.killsLeft > 0, ![.succeeded, .killed].contains(attempt.step) {
      add { next, own in
        // The server rolls its transaction back.
        if next.holder == index { next.holder = nil }
        next.killsLeft -= 1
        own = Attempt(step: .killed)
      }
    }
    return result
  }

  private typealias Change = ((inout State, inout Attempt) -> Void) -> Void

  private func move(_ state: State, of attempt: Attempt, index: Int, _ add: Change) {
    switch variant {
    case .withoutComparison, .comparisonAfterCopy, .checkpointInOwnTransaction: add { _, own in own.step = .copyRows }
    default:
      if state.holder != nil {
        // Otherwise it waits for the row.
        if variant == .successForOthers { add { _, own in own.step = .reportSuccess } }
        return
      }
      add { next, own in
        guard state.checkpoint == attempt.chunk || attempt.repeats else {
          own.step = .readCheckpoint
          return
        }
        next.holder = index
        own.step = .copyRows
      }
    }
  }

  private func copy(_ state: State, of attempt: Attempt, index: Int, _ add: Change) {
    guard variant == .comparisonAfterCopy else { return add { _, own in own.step = .commit } }
    if state.holder != nil { return }
    add { next, own in
      if state.checkpoint == attempt.chunk { next.holder = index }
      own.step = state.checkpoint == attempt.chunk ? .commit : .readCheckpoint
    }
  }

  private func commit(_ state: State, of attempt: Attempt, index: Int, _ add: Change) {
    func commit(_ next: inout State) {
      next.copies[attempt.chunk] += 1
      if variant != .checkpointInOwnTransaction { next.checkpoint = max(state.checkpoint, attempt.chunk + 1) }
      if next.holder == index { next.holder = nil }
    }
    func goOn(_ own: inout Attempt) {
      own.repeats = false
      switch variant {
      case .checkpointInOwnTransaction: own.step = .moveCheckpointAlone
      case .withoutComparison, .successWithoutLedger:
        own = Attempt(
          step: attempt.chunk + 1 == chunkCount ? .reportSuccess : .moveCheckpoint, chunk: attempt.chunk + 1)
      default: own.step = .readCheckpoint
      }
    }
    add { next, own in
      commit(&next)
      goOn(&own)
    }
    // The answer is lost: the transaction may be committed or not.
    for isCommitted in [true, false] {
      add { next, own in
        if isCommitted { commit(&next) } else if next.holder == index { next.holder = nil }
        switch variant {
        case .lostAnswerIsSuccess:
          let isLast = attempt.chunk + 1 == chunkCount
          own = Attempt(step: isLast ? .reportSuccess : .moveCheckpoint, chunk: attempt.chunk + 1, repeats: true)
        case .lostAnswerIsFailure, .withoutComparison:
          own = Attempt(step: .moveCheckpoint, chunk: attempt.chunk, repeats: true)
        default: own.step = .readCheckpoint
        }
      }
    }
  }
}
