import Foundation
import TestSupport
import Testing

/// The shards of a plan on a Spark cluster of real processes. Its tasks run twice, and its workers, Python processes and
/// executors are killed: each record is imported once.
@Suite(
  .serialized, .seeded,
  .enabled(
    if: SparkCluster.isThere && ConnectionPooler.isThere, "Spark is not installed; 'make test-spark' installs it"))
struct SparkTests {
  private static let script = Repository.path("Distributed/spark/surfjournal_spark.py")
  /// A run that takes longer is not disturbed any more, so that it can end.
  private static let disturbedSeconds = 60.0
  private static let executorKillsMax = 3
  private static let attemptsMax = 20

  @Test(arguments: Randomness.seeds(1, long: 200))
  func `Whatever is killed, the result is that of one machine`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let server = try PostgreSQLServer()
    defer { server.stop() }
    // Half of the runs go through a pooler.
    let pooler = seed.isMultiple(of: 2) ? try ConnectionPooler(before: server, database: "pooled") : nil
    let world = try PlannedImport(
      on: server, database: pooler == nil ? "postgres" : "pooled", at: pooler?.address ?? server.address())
    try world.writeLog("a.csv", records: 40_000)
    try world.writeLog("b.csv", records: 12_000, first: 100_000)
    let plan = try world.plan("a.csv", "b.csv", shardBytes: 24_700)
    let shards = try world.psql("SELECT count(*) FROM sj_shard")
    try #require(shards == "64")
    try run(plan, of: world, on: server, &random)
    try world.compare(plan, files: "a.csv", "b.csv")
  }

  @Test(arguments: Randomness.seeds(1, long: 40))
  func `Whatever is killed, entries with a key are those of one machine`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let server = try PostgreSQLServer()
    defer { server.stop() }
    let pooler = seed.isMultiple(of: 2) ? try ConnectionPooler(before: server, database: "pooled") : nil
    let policies = KeyedImport.policies
    let keyed = try KeyedImport(
      duplicates: policies[Int(seed % UInt64(policies.count))],
      in: PlannedImport(on: server, at: pooler?.address ?? server.address()))
    try keyed.writeLog("old.csv", records: 5000, seed: seed, places: 8000)
    try keyed.importFiles(["old.csv"], into: keyed.world.address)
    try keyed.importFiles(["old.csv"], into: "one.sqlite")
    try keyed.writeLog("a.csv", records: 25_000, seed: seed &+ 1, places: 8000)
    try keyed.writeLog("b.csv", records: 10_000, seed: seed &+ 2, places: 8000)
    let expected = try keyed.importFiles(["a.csv", "b.csv"], into: "one.sqlite")
    let plan = try keyed.world.plan("a.csv", "b.csv", shardBytes: 30_000)
    try run(plan, of: keyed.world, on: server, &random)
    try keyed.compare(plan, fileCount: 2, with: expected)
  }

  /// Runs the shards on a cluster whose members are killed, until its driver succeeds.
  private func run(
    _ plan: String, of world: PlannedImport, on server: PostgreSQLServer, _ random: inout SeededGenerator
  ) throws {
    var disturbance = Disturbance()
    for attempt in 1... {
      let driver = try start(plan, of: world, log: "driver-\(attempt).log")
      while driver.isRunning {
        usleep(300_000)
        guard disturbance.age < Self.disturbedSeconds else { continue }
        disturbance.killOne(below: driver.processIdentifier, executorsMax: Self.executorKillsMax, using: &random)
        if disturbance.kills >= 3, !disturbance.hasRestarted {
          try server.restartAfterCrash()
          disturbance.hasRestarted = true
        }
      }
      driver.waitUntilExit()
      if driver.terminationStatus == 0 { break }
      let log = try logEnd(world, attempt)
      try #require(attempt < Self.attemptsMax, "the driver has failed \(attempt) times: \(log)")
    }
    #expect(disturbance.hasRestarted, "the run has ended after \(disturbance.kills) kills")
    // The pauses end with the run: each kind is looked for often enough to be found.
    #expect(disturbance.killed.count == Disturbance.Kind.allCases.count, "only \(disturbance.killed) were killed")
    for (kind, count) in disturbance.killed { Figures.add("kills of \(kind.rawValue)", count, suite: Self.self) }
    Figures.add("runs on Spark", 1, suite: Self.self)
  }

  private func start(_ plan: String, of world: PlannedImport, log: String) throws -> ChildProcess {
    try SparkCluster.start(
      Self.script, ["--store", world.address, "--plan", plan, "--surfjournal", Tool.url.path],
      log: world.folder.file(log))
  }

  private func logEnd(_ world: PlannedImport, _ attempt: Int) throws -> String {
    String(try world.folder.text("driver-\(attempt).log").suffix(2000))
  }
}

/// What has been killed during a run.
private struct Disturbance {
  enum Kind: String, CaseIterable {
    case worker = "workers"
    case python = "Python processes"
    case executor = "executors"

    init?(_ command: String) {
      if command.contains("/surfjournal work ") {
        self = .worker
      } else if command.contains("pyspark.daemon") || command.contains("pyspark/daemon") {
        self = .python
      } else if command.contains("CoarseGrainedExecutorBackend") {
        self = .executor
      } else {
        return nil
      }
    }
  }

  private let start = Date()
  private(set) var killed: [Kind: Int] = [:]
  var hasRestarted = false

  var kills: Int { killed.values.reduce(0, +) }
  var age: TimeInterval { Date().timeIntervalSince(start) }

  /// Kills one process of the cluster, of each kind as often as it is found. A worker lives for less than a second, so
  /// that one is waited for; an executor takes seconds to come back.
  mutating func killOne(below driver: pid_t, executorsMax: Int, using random: inout SeededGenerator) {
    let kinds = Kind.allCases.filter { $0 != .executor || killed[.executor] ?? 0 < executorsMax }
    guard let kind = kinds.randomElement(using: &random) else { return }
    for _ in 0..<Self.looksMax {
      let victims = ProcessTree(below: driver).members.filter { Kind($0.command) == kind }
      if let victim = victims.randomElement(using: &random) {
        victim.kill()
        killed[kind, default: 0] += 1
        return
      }
      usleep(10_000)
    }
  }
  private static let looksMax = 30
}
