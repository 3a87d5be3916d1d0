import TestSupport
import Testing

/// The system refuses memory once: to SQLite, which has to end the run with an error, or to any library. Swift's own
/// allocations can't fail: the process ends then.
@Suite(.seeded) struct StoreMemoryTests {
  @Test(
    .enabled(if: Shim.seesAllocations, "a sanitizer has an allocator of its own"),
    arguments: RunKind.all)
  func `Memory that SQLite does not get ends a run with an error, and a repetition ends it well`(_ kind: RunKind) throws
  {
    let stage = try FaultStage(kind)
    try stage.reset()
    let (_, counted) = try stage.run(environment: ["SHIM_MEMORY_AT": "1000000000"])
    if kind.name == RunKind.guess.name {
      #expect(counted.allocations == 0, "it has no store, and uses SQLite nevertheless")
      return
    }
    try #require(counted.allocations > 100)
    var random = kind.generator
    var (refused, errors) = (0, 0)
    for number in FaultPoint.numbers(of: counted.allocations, short: 1, using: &random) {
      try stage.reset()
      let (output, report) = try stage.run(environment: ["SHIM_MEMORY_AT": "\(number)"])
      guard report.fired > 0 else { continue }
      refused += 1
      let place = "\(kind.name), allocation \(number): status \(output.status), \(output.messages)"
      #expect([stage.status, 75].contains(output.status), "\(place)")
      if output.status != stage.status {
        errors += 1
        #expect(output.messages.contains("memory"), "\(place)")
      }
      expectNone(try (stage.storeProblems() + stage.repetitionProblems()).map { "\(place): \($0)" })
    }
    Figures.add("allocations of SQLite refused: \(kind.name)", refused, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of every allocation of SQLite: \(kind.name)", 1, suite: Self.self) }
    print("\(kind.name): \(errors) errors of \(counted.allocations) allocations, seed \(Randomness.seed)")
  }

  private static let kinds: [RunKind] = TestLength.isLong ? RunKind.all : [.keyed, .replay, .seed, .export]

  @Test(.enabled(if: Shim.seesAllocations, "a sanitizer has an allocator of its own"), arguments: kinds)
  func `Memory that any library does not get ends a run, and a repetition ends it well`(_ kind: RunKind) throws {
    var random = kind.generator
    try expectSound(kind, memory: "all", "allocations refused") { count in
      (0..<TestLength.rounds(1, long: 200)).map { _ in Int.random(in: 1...count * 9 / 10, using: &random) }
    }
  }

  @Test(.enabled(if: Shim.seesAllocations, "a sanitizer has an allocator of its own"), arguments: kinds)
  func `Memory that neither Swift nor SQLite asks for may be refused at any time`(_ kind: RunKind) throws {
    var random = kind.generator
    try expectSound(kind, memory: "others", "allocations of C libraries refused") { count in
      FaultPoint.numbers(of: count, short: 1, using: &random)
    }
    if FaultPoint.areAll {
      Figures.add("series of every allocation of C libraries: \(kind.name)", 1, suite: Self.self)
    }
  }

  private func expectSound(
    _ kind: RunKind, memory: String, _ figure: String, numbers: (_ count: Int) -> [Int]
  ) throws {
    let stage = try FaultStage(kind)
    try stage.reset()
    let counting = ["SHIM_MEMORY": memory, "SHIM_MEMORY_AT": "\(Int.max)"]
    let (_, counted) = try stage.run(environment: counting)
    try #require(counted.allocations > 100)
    var refused = 0
    for number in numbers(counted.allocations) {
      try stage.reset()
      let (output, report) = try stage.run(environment: ["SHIM_MEMORY": memory, "SHIM_MEMORY_AT": "\(number)"])
      guard report.fired > 0 else { continue }
      refused += 1
      let place = "\(kind.name), allocation \(number): status \(output.status), \(output.messages)"
      #expect(output.status == stage.status || output.status >= 128 || !output.messages.isEmpty, "\(place)")
      expectNone(try (stage.storeProblems() + stage.repetitionProblems()).map { "\(place): \($0)" })
    }
    #expect(refused > 0)
    Figures.add("\(figure): \(kind.name)", refused, suite: Self.self)
    print("\(kind.name): \(refused) \(figure) of \(counted.allocations), seed \(Randomness.seed)")
  }
}
