import TestSupport
import Testing

/// One seed draws a pipeline, files, runs, undos, edits, faults and kills; after each step the store holds what a plain
/// model says. `ROUNDS` scales it, `SEED=n ROUNDS=1` repeats one world.
@Suite("Whatever happens to it, the store holds what the model says")
struct SimulatorTests {
  private static let stepsPerWorld = 60

  @Test(arguments: Randomness.seeds(8, long: 2000))
  func `Runs, undos, edits and cancellations`(seed: UInt64) async throws {
    try await play(seed)
  }

  @Test(arguments: Randomness.seeds(1, long: 100))
  func `The same with processes that are killed`(seed: UInt64) async throws {
    try await play(seed &+ 1_000_000_007, killsOneIn: 2, disturbsAll: true)
  }

  @Test(arguments: Randomness.seeds(1, long: 200))
  func `The same with processes that are refused calls, and with several at once`(seed: UInt64) async throws {
    try await play(seed &+ 2_000_000_011, hasProcesses: true, disturbsAll: true)
  }

  /// Each has found a fault, of the program or of the model.
  @Test(arguments: [
    801_411_150, 2_313_800_168, 2_313_800_623, 2_313_799_923, 3_244_821_572, 5_001_456, 5_004_080, 5_004_359,
    5_005_751, 6_002_297 as UInt64,
  ])
  func `Seeds that once found a fault`(seed: UInt64) async throws { try await play(seed) }

  @Test(arguments: [
    2_313_798_880, 1_845_422_221, 1_845_422_273, 80, 82, 521, 704, 842, 1558, 1598, 1971, 5_000_014 as UInt64,
  ])
  func `Seeds with killed processes that once found a fault`(seed: UInt64) async throws {
    try await play(seed &+ 1_000_000_007, killsOneIn: 2)
  }

  @Test(arguments: [1, 42, 67 as UInt64])
  func `Seeds with refused calls that once found a fault`(seed: UInt64) async throws {
    try await play(seed &+ 2_000_000_011, hasProcesses: true)
  }

  @Test func `Seeds with disturbed commands that once found a fault`() async throws {
    for seed in [2_785_485_410, 6_000_021, 6_000_025 as UInt64] {
      try await play(seed &+ 1_000_000_007, killsOneIn: 2, disturbsAll: true)
    }
    for seed in [2_785_485_411, 6_000_003, 6_000_011 as UInt64] {
      try await play(seed &+ 2_000_000_011, hasProcesses: true, disturbsAll: true)
    }
  }

  @Test("A model with one wrong rule is found to be wrong", arguments: StoreModel.Mistake.allCases)
  func canary(mistake: StoreModel.Mistake) async throws {
    // Few worlds meet these.
    let known: [StoreModel.Mistake: UInt64] = [
      .countsEqualRecordsOnce: 10, .readsGrownInputsWhole: 5, .knowsRejectedInputs: 35,
    ]
    let first = known[mistake] ?? 1
    for seed in first...first + 40 {
      do {
        try await Simulation(seed: seed, mistake: mistake).play(steps: Self.stepsPerWorld)
      } catch is Mismatch {
        return
      }
    }
    Issue.record("\(mistake) was not found in 40 worlds")
  }

  @Test(arguments: Simulation.Disturbed.allCases)
  func `An entry that is lost after a disturbed command is found`(_ command: Simulation.Disturbed) async throws {
    let loss = "DELETE FROM ZJOURNALENTRY WHERE Z_PK = (SELECT min(Z_PK) FROM ZJOURNALENTRY)"
    let harm = Simulation.Harm(command: command, sql: loss)
    for seed in 1...20 as ClosedRange<UInt64> {
      for killsOneIn in [2, 0] {
        let world = try Simulation(
          seed: seed, killsOneIn: killsOneIn, hasProcesses: killsOneIn == 0, disturbsAll: true, harm: harm)
        do {
          try await world.play(steps: Self.stepsPerWorld)
        } catch is Mismatch {
          return
        }
      }
    }
    Issue.record("a loss after \(command) was not found in 20 worlds")
  }

  /// Names of the kinds that runs give and remove: what is written, what a replay has rejected again, a name that is taken
  /// for what is moved, rejects that no ledger names, and what belongs to a store.
  private static let leftOvers = [
    ".export.csv.1a2b3c.partial", ".f1.csv.rejects.csv.1a2b3c.partial", "f1.csv.rejects.csv.next", "f1.2.csv",
    "f0.csv.rejects.csv", "f0.csv.rejects.csv.jsonl.part", "f0.csv.rejects.csv.replayed", "simulated.json.lock",
  ]

  @Test(arguments: leftOvers)
  func `A left-over file is found in every kind of world`(_ name: String) async throws {
    for (killsOneIn, hasProcesses) in [(0, false), (2, false), (0, true)] {
      let world = try Simulation(seed: 7, killsOneIn: killsOneIn, hasProcesses: hasProcesses, leftOver: name)
      do {
        try await world.play(steps: 4)
        Issue.record("\(name) was not found")
      } catch let mismatch as Mismatch {
        #expect(mismatch.description.contains("left over: [\"\(name)\"]"), "\(mismatch)")
      }
    }
  }

  private func play(
    _ seed: UInt64, killsOneIn: Int = 0, hasProcesses: Bool = false, disturbsAll: Bool = false
  ) async throws {
    let simulation = try Simulation(
      seed: seed, killsOneIn: killsOneIn, hasProcesses: hasProcesses, disturbsAll: disturbsAll)
    defer {
      Figures.add("steps", simulation.stepCount, suite: Self.self)
      Figures.add("runs", simulation.runNumber, suite: Self.self)
      Figures.add("kills", simulation.killCount, suite: Self.self)
      Figures.add("runs that were refused a call", simulation.refusalCount, suite: Self.self)
      Figures.add("runs that others met", simulation.besideCount, suite: Self.self)
      for (figure, count) in simulation.disturbances { Figures.add(figure, count, suite: Self.self) }
    }
    do {
      try await simulation.play(steps: Self.stepsPerWorld)
    } catch {
      Issue.record("\(error)")
    }
  }
}
