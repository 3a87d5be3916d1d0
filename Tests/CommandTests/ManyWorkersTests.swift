import Foundation
import TestSupport
import Testing

/// Workers that run at the same time, are killed, and meet on the same shard: each record is imported once.
@Suite(
  .serialized, .seeded, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct ManyWorkersTests {
  private let world: PlannedImport
  init() throws { world = try PlannedImport() }

  @Test func `Eight workers that begin with the same shard at once import it once`() throws {
    try world.writeLog("a.csv", records: 2000)
    let plan = try world.plan("a.csv", shardBytes: 1 << 20)
    let workers = (0..<8).map { _ in world.worker(plan, "--shard", "0") }
    for worker in workers { try worker.start() }
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    try world.compare(plan, files: "a.csv")
  }

  @Test func `Workers that are killed again and again lose and double nothing`() throws {
    try world.writeLog("a.csv", records: 40_000)
    try world.writeLog("b.csv", records: 8000, first: 50_000)
    let plan = try world.plan("a.csv", "b.csv", shardBytes: 100_000)
    let kills = try world.workUnderKills(on: plan, atOnce: 3, killsMax: TestLength.rounds(12, long: 100), seconds: 60)
    Figures.add("kills of workers", kills, suite: Self.self)
    try world.compare(plan, files: "a.csv", "b.csv")
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/parallel"), "parallel is not installed"))
  func `GNU parallel runs the shards`() throws {
    try world.writeLog("a.csv", records: 1500)
    let plan = try world.plan("a.csv")
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let output = try Programs.run(
      Repository.path("Distributed/parallel/run.sh"), [world.address, plan, "-j3"], in: world.folder,
      environment: ["PATH": "\(Tool.url.deletingLastPathComponent().path):\(path)"])
    #expect(output.status == 0, "\(output.messages)")
    try world.compare(plan, files: "a.csv")
  }

  @Test func `No more workers write at the same time than the plan allows`() throws {
    try world.writeLog("a.csv", records: 10_000)
    let plan = try world.plan("a.csv", shardBytes: 40_000, options: ["--writers", "2"])
    let workers = (0..<6).map { _ in world.worker(plan) }
    for worker in workers { try worker.start() }
    var seen = 0
    while workers.contains(where: \.isRunning) {
      // Who moves a checkpoint has the lock of an update on the table of shards until its save has ended.
      let writing = try world.psql(
        "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relname = 'sj_shard' "
          + "AND relnamespace = '\(world.schema)'::regnamespace AND mode = 'RowExclusiveLock' AND granted")
      seen = max(seen, Int(writing) ?? 0)
    }
    #expect((1...2).contains(seen), "\(seen)")
    #expect(workers.allSatisfy { $0.terminationStatus == 0 })
    try world.compare(plan, files: "a.csv")
  }

  @Test func `Workers that wait for a writer's place have no connection`() throws {
    var world = world
    try world.writeLog("a.csv", records: 600)
    let plan = try world.plan("a.csv", options: ["--writers", "2"])
    let (holderName, workerName) = ("holder \(world.schema)", "worker \(world.schema)")
    // Another program has both places.
    let holder = Programs.process(
      "/usr/bin/env", ["psql", "-X", "-q", "-c", "BEGIN; SELECT * FROM sj_writer FOR UPDATE; SELECT pg_sleep(100)"],
      environment: world.server.environment.merging([
        "PGOPTIONS": "-csearch_path=\(world.schema)", "PGAPPNAME": holderName,
      ]) { $1 })
    holder.standardOutput = FileHandle.nullDevice
    holder.standardError = FileHandle.nullDevice
    try holder.start()
    while try world.psql("SELECT 1 FROM sj_writer LIMIT 1 FOR UPDATE SKIP LOCKED") != "" { usleep(20_000) }
    world.address += "&application_name=\(workerName.replacingOccurrences(of: " ", with: "%20"))"
    let workers = (0..<4).map { _ in world.worker(plan) }
    for worker in workers { try worker.start() }
    // A worker connects for a moment, to ask for a place, and waits longer each time.
    var ages: [Double] = []
    for look in 0..<400 where look < 40 || ages.isEmpty {
      usleep(50_000)
      let age = try world.psql(
        "SELECT max(extract(epoch FROM clock_timestamp() - backend_start)) FROM pg_stat_activity "
          + "WHERE application_name = '\(workerName)'")
      ages += Double(age).map { [$0] } ?? []
    }
    let isOver = workers.contains { !$0.isRunning }
    #expect(!isOver)
    let oldest = try #require(ages.max())
    #expect(oldest < 2, "\(ages)")
    _ = try world.psql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(holderName)'")
    holder.waitUntilExit()
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    try world.compare(plan, files: "a.csv")
  }

  /// The order that `ShardProtocolTests` explores.
  @Test func `A chunk's transaction moves the checkpoint, then has rows, rejects and issues, and then commits`() throws
  {
    let server = try PostgreSQLServer(settings: ["log_statement=all", "log_min_messages=log", "log_line_prefix=#%p "])
    defer { server.stop() }
    let world = try PlannedImport(on: server)
    try world.writeLog("a.csv", records: 500)
    let plan = try world.plan("a.csv", shardBytes: 1 << 20)
    let worker = world.worker(plan)
    try worker.start()
    worker.waitUntilExit()
    let log = try String(contentsOfFile: "\(server.socketFolder)/log", encoding: .utf8)
    // The statements of each connection, as their first words.
    let kinds = [
      "BEGIN", "COMMIT", "UPDATE SJ_SHARD", "COPY \"ZJOURNALENTRY\"", "INSERT INTO SJ_REJECT",
      "INSERT INTO SJ_ISSUE", "INSERT INTO SJ_INSERTED",
    ]
    var transactions: [[String]] = []
    var open: [Substring: [String]] = [:]
    for line in log.split(separator: "\n") where line.hasPrefix("#") {
      let process = line.prefix { $0 != " " }
      if line.hasSuffix(": ROLLBACK") { open[process] = nil }
      guard let kind = kinds.first(where: { line.contains(": \($0)") || line.contains("; \($0)") }) else { continue }
      open[process, default: []].append(kind)
      if kind == "COMMIT" { transactions.append(open.removeValue(forKey: process) ?? []) }
    }
    let chunks = transactions.filter { $0.contains("UPDATE SJ_SHARD") }
    #expect(chunks.count == 5, "\(transactions)")
    for chunk in chunks {
      #expect(Array(chunk.prefix(3)) == ["BEGIN", "UPDATE SJ_SHARD", "COPY \"ZJOURNALENTRY\""], "\(chunk)")
      let moves = chunk.filter { $0 == "UPDATE SJ_SHARD" }
      #expect(moves.count == 1 && chunk.contains("INSERT INTO SJ_REJECT"), "\(chunk)")
      #expect(chunk.contains("INSERT INTO SJ_ISSUE"), "\(chunk)")
    }
    let others = transactions.filter { !$0.contains("UPDATE SJ_SHARD") }.flatMap(\.self)
    #expect(!others.contains("COPY \"ZJOURNALENTRY\""))
    try world.compare(plan, files: "a.csv")
  }

  @Test(.enabled(if: ConnectionPooler.isThere, "pgbouncer is not installed"))
  func `Workers behind a pooler in transaction mode import each record once`() throws {
    let name = "w\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    let pooler = try ConnectionPooler(before: world.server, database: name)
    var pooled = world
    pooled.address = try #require(pooler.address).absoluteString
    try pooled.writeLog("a.csv", records: 5000)
    let plan = try pooled.plan("a.csv", shardBytes: 40_000)
    // More than the pooler has connections to the server.
    let workers = (0..<5).map { _ in pooled.worker(plan) }
    for worker in workers { try worker.start() }
    usleep(300_000)
    kill(workers[0].processIdentifier, SIGKILL)
    for worker in workers.dropFirst() {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    try pooled.compare(plan, files: "a.csv")
  }

  @Test func `Workers go on after an immediate restart of the server`() throws {
    let server = try PostgreSQLServer()
    defer { server.stop() }
    let world = try PlannedImport(on: server)
    try world.writeLog("a.csv", records: 20_000)
    let plan = try world.plan("a.csv", shardBytes: 80_000)
    let workers = (0..<3).map { _ in world.worker(plan) }
    for worker in workers { try worker.start() }
    usleep(500_000)
    try server.restartAfterCrash()
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    // The server of the tests does not wait for its disk: what it has lost, it has lost with its checkpoints.
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    try world.compare(plan, files: "a.csv")
  }

  @Test func `Workers go on when the server ends all their connections`() throws {
    try world.writeLog("a.csv", records: 2000)
    let plan = try world.plan("a.csv")
    let workers = (0..<2).map { _ in world.worker(plan) }
    for worker in workers { try worker.start() }
    for _ in 0..<6 {
      usleep(200_000)
      // Only those of this test: others use the server too.
      _ = try world.psql(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN pg_class ON pg_class.oid = relation "
          + "WHERE relname = 'sj_shard' AND relnamespace = '\(world.schema)'::regnamespace AND pid <> pg_backend_pid()")
    }
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    try world.compare(plan, files: "a.csv")
  }
}
