import Foundation
import TestSupport
import Testing

extension PostgreSQLServer {
  /// Ends the server at once, without a checkpoint of its own, and starts another one with its data and options.
  func restart() throws -> ChildProcess {
    let data = "\(socketFolder)/data"
    let lines = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8).split(separator: "\n")
    let number = try #require(pid_t(lines[0]))
    kill(number, SIGQUIT)
    while kill(number, 0) == 0 { usleep(20_000) }
    let asUser = geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
    let process = Programs.process("/bin/sh", ["-c", "exec \(asUser) $(tr -d '\"' < \(data)/postmaster.opts)"])
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    return process
  }
}
