import Foundation

/// A Slurm cluster of this machine alone, in a folder of its own: a controller and one node with two processors. It ends
/// with this object, and with the process of the tests.
package final class SlurmCluster {
  private let folder: TemporaryFolder
  private let daemons: [(process: ChildProcess, life: Pipe)]

  private static let controller = "/usr/sbin/slurmctld"
  private static let node = "/usr/sbin/slurmd"
  package static let isThere = [controller, node].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

  package init() throws {
    folder = try TemporaryFolder()
    let host = try Programs.output(of: ["uname", "-n"], in: folder).trimmingCharacters(in: .newlines)
    let name = String(host.prefix { $0 != "." })
    let user = try Programs.output(of: ["id", "-un"], in: folder).trimmingCharacters(in: .newlines)
    let path = folder.url.path
    for part in ["state", "spool"] { try folder.makeFolder(part) }
    try folder.write(
      """
      ClusterName=tests
      SlurmctldHost=\(name)(127.0.0.1)
      SlurmctldPort=\(try Self.freePort())
      SlurmdPort=\(try Self.freePort())
      SlurmUser=\(user)
      SlurmdUser=\(user)
      AuthType=auth/none
      CredType=cred/none
      MpiDefault=none
      ProctrackType=proctrack/linuxproc
      TaskPlugin=task/none
      SwitchType=switch/none
      SelectType=select/cons_tres
      SelectTypeParameters=CR_CPU
      ReturnToService=2
      StateSaveLocation=\(path)/state
      SlurmdSpoolDir=\(path)/spool
      SlurmctldPidFile=\(path)/controller.pid
      SlurmdPidFile=\(path)/node.pid
      SlurmctldLogFile=\(path)/controller.log
      SlurmdLogFile=\(path)/node.log
      NodeName=\(name) NodeAddr=127.0.0.1 CPUs=2 RealMemory=1024 State=UNKNOWN
      PartitionName=all Nodes=\(name) Default=YES State=UP

      """, to: "slurm.conf")
    let environment = ["SLURM_CONF": "\(path)/slurm.conf"]
    daemons = try [[Self.controller, "-D", "-c"], [Self.node, "-D", "-N", name]].map {
      try Self.start($0, environment: environment)
    }
    for _ in 0..<150 {
      let state = try run("sinfo", ["--noheader", "--format=%T"])
      if state.status == 0, state.text.hasPrefix("idle") { return }
      usleep(200_000)
    }
    throw ProgramFailure(description: "Slurm's node is not ready: \((try? folder.text("controller.log")) ?? "")")
  }

  /// A port that was free a moment ago.
  private static func freePort() throws -> Int {
    let script = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
    let output = try Programs.run("/usr/bin/env", ["python3", "-c", script])
    guard let port = Int(output.text.trimmingCharacters(in: .newlines)) else {
      throw ProgramFailure(description: output.messages)
    }
    return port
  }

  private static func start(
    _ words: [String], environment: [String: String]
  ) throws -> (process: ChildProcess, life: Pipe) {
    // The shell ends the daemon when its own standard input ends. A node that is asked to end may wait for ever.
    let command = "\"$@\" </dev/null & daemon=$!; cat >/dev/null; kill -KILL $daemon; wait $daemon"
    let process = Programs.process("/bin/sh", ["-c", command, "sh"] + words, environment: environment)
    let life = Pipe()
    process.standardInput = life
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    return (process, life)
  }

  /// Runs a program of Slurm's.
  package func run(
    _ program: String, _ arguments: [String], in folder: TemporaryFolder? = nil, environment: [String: String] = [:]
  ) throws -> ProgramOutput {
    try Programs.run(
      "/usr/bin/env", [program] + arguments, in: folder ?? self.folder,
      environment: environment.merging(["SLURM_CONF": self.folder.path("slurm.conf")]) { $1 })
  }

  /// Waits until a job, or each job of an array, has left the queue.
  package func waitForEnd(of job: String, seconds: Double) throws {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while Date() < deadline {
      // A job that has ended is unknown after a while.
      let queue = try run("squeue", ["--noheader", "--jobs=\(job)", "--format=%i %T"])
      if queue.status != 0 || queue.text.isEmpty { return }
      usleep(200_000)
    }
    throw ProgramFailure(description: "The jobs of \(job) have not ended after \(seconds) seconds.")
  }

  deinit {
    for daemon in daemons.reversed() {
      try? daemon.life.fileHandleForWriting.close()
      daemon.process.waitUntilExit()
    }
  }
}
