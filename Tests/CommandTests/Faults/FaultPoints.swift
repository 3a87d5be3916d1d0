import Glibc
import TestSupport
import Testing

/// Ways in which a call can go wrong, and the calls that it concerns.
enum FaultMode: CaseIterable {
  case killed, terminated, ioError, lastingIOError, diskFull, lastingDiskFull, interrupted, interruptedSync, short

  /// The fault, at the call with a number.
  func fault(at number: Int) -> Fault {
    switch self {
    case .killed: Fault(.kill, at: number)
    case .terminated: Fault(.terminate, at: number)
    case .ioError: Fault(.fail(EIO), calls: Self.all, at: number)
    case .lastingIOError: lasting(Fault(.fail(EIO), calls: Self.all, at: number))
    case .diskFull: Fault(.fail(ENOSPC), calls: Self.growing, at: number)
    case .lastingDiskFull: lasting(Fault(.fail(ENOSPC), calls: Self.growing, at: number))
    case .interrupted: Fault(.fail(EINTR), calls: [.open, .read, .write, .resize], at: number)
    case .interruptedSync: Fault(.fail(EINTR), calls: [.sync], at: number)
    case .short: Fault(.short, calls: [.read, .write], at: number)
    }
  }

  private func lasting(_ fault: Fault) -> Fault {
    var fault = fault
    fault.isLasting = true
    return fault
  }

  /// A failing change of modes is passed over on purpose, and close only says what a sync has said before.
  private static let all: [Fault.Call] = [
    .open, .read, .write, .sync, .resize, .rename, .unlink, .folders, .lock, .map,
  ]
  private static let growing: [Fault.Call] = [.open, .write, .resize, .rename, .folders]
}

/// A call and what happens to it.
struct FaultPoint {
  let mode: FaultMode
  let number: Int

  /// Whether a series is long, and its length is not given.
  static var areAll: Bool { TestLength.isLong && TestLength.roundsSet == nil }

  /// A few numbers of calls or allocations by chance; in the long series all of them.
  static func numbers(of count: Int, short: Int, using random: inout SeededGenerator) -> [Int] {
    if areAll { return Array(1...count) }
    // Threads make some more or some fewer calls from run to run: the last ones may not come.
    return (0..<TestLength.rounds(short, long: 0)).map { _ in Int.random(in: 1...count * 9 / 10, using: &random) }
  }

  /// A few points by chance; in the long series every call of the run in every mode.
  static func points(of stage: FaultStage, using random: inout SeededGenerator) -> [FaultPoint] {
    let all = FaultMode.allCases.flatMap { mode in
      let calls = mode.fault(at: 1).calls
      let count = calls.reduce(0) { $0 + stage.undisturbed.counts[$1, default: 0] }
      return (1...max(1, count)).map { FaultPoint(mode: mode, number: $0) }
    }
    if areAll { return all }
    // Every mode has the same chance, whatever calls it concerns.
    return (0..<TestLength.rounds(2, long: 0)).map { _ in
      let mode = FaultMode.allCases.randomElement(using: &random) ?? .killed
      return all.filter { $0.mode == mode }.randomElement(using: &random) ?? all[0]
    }
  }
}

extension RunKind {
  /// A generator with the seed of this run, other for each kind.
  var generator: SeededGenerator {
    SeededGenerator(seed: name.utf8.reduce(Randomness.seed) { $0 &* 31 &+ UInt64($1) })
  }
}

/// Fails the test for each problem.
func expectNone(_ problems: [String], sourceLocation: SourceLocation = #_sourceLocation) {
  for problem in problems { Issue.record("\(problem)", sourceLocation: sourceLocation) }
}
