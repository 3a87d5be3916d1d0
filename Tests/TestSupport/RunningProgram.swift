import Foundation

/// A Python script that runs during a test. It is killed with the last reference to it.
package final class RunningProgram {
  private let process: ChildProcess
  /// What it printed first.
  package let greeting: String

  /// Starts the script and waits for its first line of output.
  package init(_ script: String, _ arguments: String...) throws {
    process = Programs.process("/usr/bin/env", ["python3", "-c", script] + arguments)
    let output = Pipe()
    process.standardOutput = output
    try process.start()
    var printed = Data()
    // A line may come in pieces.
    while !printed.contains(0x0A), case let more = output.fileHandleForReading.availableData, !more.isEmpty {
      printed += more
    }
    greeting = String(decoding: printed, as: UTF8.self)
  }

  deinit { stop() }

  package func stop() {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
