import Foundation
import TestSupport
import Testing

/// The file for Slurm on a real cluster of one node: each shard is imported once, also by a job that comes back.
@Suite(
  .serialized,
  .enabled(
    if: SlurmCluster.isThere && PostgreSQLServer.isThere, "Slurm is not installed; 'make test-schedulers' installs it"))
struct SlurmTests {
  private static let script = Repository.path("Distributed/slurm/surfjournal.sbatch")

  @Test func `An array of jobs imports what one machine does`() throws {
    let cluster = try SlurmCluster()
    let world = try PlannedImport()
    try world.writeLog("a.csv", records: 1500)
    let plan = try world.plan("a.csv")
    let count = try #require(Int(try world.psql("SELECT count(*) FROM sj_shard")))
    let job = try submit(plan, shards: "0-\(count - 1)", of: world, to: cluster)
    try cluster.waitForEnd(of: job, seconds: 120)
    #expect(try world.psql("SELECT count(*) FROM sj_shard WHERE state <> 'complete'") == "0", "\(try? log(of: world))")
    try world.compare(plan, files: "a.csv")
  }

  @Test func `A job that does not reach the server is run again when the server is back`() throws {
    let server = try PostgreSQLServer()
    defer { server.stop() }
    let cluster = try SlurmCluster()
    let world = try PlannedImport(on: server)
    try world.writeLog("a.csv", records: 300)
    let plan = try world.plan("a.csv", shardBytes: 1 << 20)
    try server.crash()
    let job = try submit(plan, shards: "0", of: world, to: cluster)
    func state(_ text: String) throws -> Bool {
      try cluster.run("scontrol", ["show", "job", job]).text.contains(text)
    }
    for _ in 0..<300 where try !(state("Restarts=1") && state("JobState=PENDING")) { usleep(200_000) }
    #expect(try state("Restarts=1") && state("JobState=PENDING"), "\(try? log(of: world))")
    try server.startAgain()
    // Slurm waits for two minutes before it starts a job again.
    #expect(try cluster.run("scontrol", ["update", "JobId=\(job)", "StartTime=now"]).status == 0)
    try cluster.waitForEnd(of: job, seconds: 120)
    try world.compare(plan, files: "a.csv")
  }

  /// The number of the submitted job, which has the environment that the file's comment names. Its command gives up on a
  /// server after a second instead of a minute.
  private func submit(
    _ plan: String, shards: String, of world: PlannedImport, to cluster: SlurmCluster
  ) throws -> String {
    try world.folder.makeFolder("bin")
    let program = "bin/surfjournal"
    try world.folder.write("#!/bin/sh\nexec '\(Tool.url.path)' \"$@\" --retry-seconds 1\n", to: program)
    try world.folder.setMode(0o755, of: program)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let output = try cluster.run(
      "sbatch",
      ["--parsable", "--array=\(shards)", "--export=STORE,PLAN,PATH", "--output=slurm-%a.log", Self.script],
      in: world.folder,
      environment: [
        "STORE": world.address, "PLAN": plan, "PATH": "\(world.folder.path("bin")):\(path)",
      ])
    try #require(output.status == 0, "\(output.messages)")
    return output.text.trimmingCharacters(in: .newlines)
  }

  private func log(of world: PlannedImport) throws -> String { try world.folder.text("slurm-0.log") }
}
