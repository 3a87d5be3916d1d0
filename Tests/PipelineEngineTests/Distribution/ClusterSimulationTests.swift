import Foundation
import TestSupport
import Testing

/// A thousand machines import into one database: nothing is lost or doubled, and no more connections write than are
/// allowed. `make simulate-cluster` plays the worlds of the documentation and prints their table.
@Suite(.seeded) struct ClusterSimulationTests {
  private static let large: [ClusterSimulation.World] = [
    .init(name: "one server, 4 million rows a second", writerCount: 64, databaseRows: 4e6),
    .init(name: "20 servers, 20 million", writerCount: 320, databaseRows: 20e6),
    .init(
      name: "100 servers, 100 million", shardCount: 16_384, rowsPerShard: 1_000_000, writerCount: 1600,
      databaseRows: 100e6),
  ]

  /// Small, and worse: every machine fails several times an hour, and of a hundred answers one is lost.
  private static let small = ClusterSimulation.World(
    name: "small", taskCount: 60, shardCount: 256, rowsPerShard: 500_000, writerCount: 16, databaseRows: 2e6,
    failuresPerHour: 20, lostAnswerShare: 0.01)

  private func check(_ result: ClusterSimulation.Result, _ world: ClusterSimulation.World) {
    #expect(result.lostRows == 0 && result.doubledRows == 0 && result.goneBackCount == 0, "\(world.name): \(result)")
    #expect(result.writersMax <= world.writerCount, "\(world.name): \(result)")
  }

  @Test func `A small cluster whose machines often fail loses and doubles nothing`() {
    for seed in Randomness.seeds(5, long: 100) {
      var simulation = ClusterSimulation(Self.small, .ledger, seed: seed)
      let result = simulation.run()
      check(result, Self.small)
      #expect(result.ratio < 3, "\(result)")
    }
  }

  @Test func `Without the ledger the same cluster doubles rows`() {
    var simulation = ClusterSimulation(Self.small, .withoutLedger, seed: 1)
    #expect(simulation.run().doubledRows > 0)
  }

  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["SURFJOURNAL_SIMULATE_CLUSTER"] != nil,
      "it takes a minute: make simulate-cluster"))
  func `A thousand machines lose and double nothing`() {
    print(
      "| database | writers | second attempts | ideal s | s | ratio | moved | lost | doubled | doubled without ledger |"
    )
    print("| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: |")
    for var world in Self.large {
      for startsSecondAttempts in [true, false] {
        world.startsSecondAttempts = startsSecondAttempts
        var simulation = ClusterSimulation(world, .ledger, seed: 1)
        let result = simulation.run()
        check(result, world)
        #expect(result.ratio < 1.5, "\(world.name): \(result)")
        var other = ClusterSimulation(world, .withoutLedger, seed: 1)
        let doubled = other.run().doubledRows
        #expect(doubled > 0)
        let numbers = [
          String(format: "%.0f", result.idealSeconds), String(format: "%.0f", result.seconds),
          String(format: "%.2f", result.ratio), "\(result.movedCount)", "\(result.lostRows)", "\(result.doubledRows)",
          "\(doubled / 1_000_000) million",
        ]
        print(
          "| \(world.name) | \(world.writerCount) | \(startsSecondAttempts ? "yes" : "no") | "
            + numbers.joined(separator: " | ") + " |")
      }
    }
  }
}
