import Foundation

/// A Python process that answers a line of output for each line of input. A series of thousands of short checks would
/// otherwise spend most of its time on starts of Python. It ends with the test process, when its input ends.
package final class PythonService: Sendable {
  private let input: FileHandle
  private let output: FileHandle
  private let lock = NSLock()

  /// Starts a script, which must flush each line that it prints.
  package init(_ script: String) throws {
    let process = Programs.process("/usr/bin/env", ["python3", "-c", script])
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.start()
    (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
  }

  /// The answer to a line, without the line break. Tests that ask at the same time wait for each other.
  package func answer(_ line: String) throws -> String {
    try lock.withLock {
      try input.write(contentsOf: Data((line + "\n").utf8))
      var printed = Data()
      // A line may come in pieces.
      while printed.last != 0x0A {
        let more = output.availableData
        guard !more.isEmpty else { throw ProgramFailure(description: "Python has ended without an answer to \(line)") }
        printed += more
      }
      return String(decoding: printed.dropLast(), as: UTF8.self)
    }
  }
}
