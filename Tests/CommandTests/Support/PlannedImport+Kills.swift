import Foundation
import TestSupport
import Testing

extension PlannedImport {
  /// Imports each shard of a plan at least once, some at a time and in a random order. Some workers are killed, and their
  /// shards repeated.
  ///
  /// - Returns: The number of kills.
  func workInAnyOrder(on plan: String, atOnce: Int, using random: inout SeededGenerator) throws -> Int {
    let shards = try #require(Int(try psql("SELECT count(*) FROM sj_shard")))
    #expect(shards > 2)
    var waiting = (0..<shards).shuffled(using: &random)
    var running: [(process: ChildProcess, shard: Int)] = []
    var (kills, failures) = (0, 0)
    while !waiting.isEmpty || !running.isEmpty {
      let ended = running.filter { !$0.process.isRunning }
      running.removeAll { one in ended.contains { $0.process === one.process } }
      for worker in ended where worker.process.terminationStatus != 0 {
        waiting.insert(worker.shard, at: .random(in: 0...waiting.count, using: &random))
        failures += 1
      }
      try #require(failures <= kills, "\(failures) workers have failed, and \(kills) were killed")
      while running.count < atOnce, let shard = waiting.popLast() {
        let worker = worker(plan, "--shard", "\(shard)")
        try worker.start()
        running.append((worker, shard))
      }
      usleep(.random(in: 20_000...120_000, using: &random))
      if kills < 4, let victim = running.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 {
        kill(victim.process.processIdentifier, SIGKILL)
        kills += 1
      }
    }
    return kills
  }

  /// Lets some workers at a time import a plan to its end, and kills one of them again and again.
  ///
  /// - Parameters:
  ///   - pause: Microseconds between two kills.
  ///   - look: Called before each pause.
  /// - Returns: The number of kills.
  func workUnderKills(
    on plan: String, atOnce: Int, killsMax: Int, pause: ClosedRange<UInt32> = 100_000...300_000, seconds: Double = 180,
    look: () throws -> Void = {}
  ) throws -> Int {
    var random = Randomness.generator()
    var kills = 0
    var running: [ChildProcess] = []
    let deadline = Date(timeIntervalSinceNow: seconds)
    while try psql("SELECT count(*) FROM sj_shard WHERE state <> 'complete'") != "0", Date() < deadline {
      try look()
      running.removeAll { !$0.isRunning }
      while running.count < atOnce {
        let worker = worker(plan)
        try worker.start()
        running.append(worker)
      }
      usleep(.random(in: pause, using: &random))
      if kills < killsMax, let victim = running.randomElement(using: &random) {
        kill(victim.processIdentifier, SIGKILL)
        kills += 1
      }
    }
    for worker in running { worker.waitUntilExit() }
    #expect(kills > 2)
    return kills
  }
}
