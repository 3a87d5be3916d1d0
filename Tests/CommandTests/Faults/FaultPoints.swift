import TestSupport
import Testing

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
      (1...max(1, mode.callsCount(in: stage.undisturbed))).map { FaultPoint(mode: mode, number: $0) }
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

extension FaultStage {
  /// Lets a fault happen to each of its calls in turn, and fails the test for each problem.
  ///
  /// - Returns: How often it happened.
  func expectNone(atEach fault: Fault, sourceLocation: SourceLocation = #_sourceLocation) throws -> Int {
    var fault = fault
    fault.number = 1
    while true {
      let (problems, happened) = try problems(with: fault)
      if !happened { return fault.number - 1 }
      CommandTests.expectNone(problems, sourceLocation: sourceLocation)
      fault.number += 1
    }
  }
}
