import Foundation

/// The result of a program that has ended.
package struct ProgramOutput: Sendable {
  /// The exit status; 128 plus the number of the signal that ended it, as in a shell.
  package let status: Int32
  package let bytes: Data
  /// The text on standard error.
  package let messages: String

  package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A program that failed where a test needs its result.
package struct ProgramFailure: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Other programs that the tests run.
package enum Programs {
  /// Runs a program to its end. The output goes to files: with pipes, both sides could wait for each other.
  package static func run(
    _ program: String, _ arguments: [String], in folder: TemporaryFolder? = nil, input: Data? = nil,
    environment: [String: String] = [:]
  ) throws -> ProgramOutput {
    let files = try TemporaryFolder()
    let process = process(program, arguments, in: folder, environment: environment)
    process.standardInput = FileHandle.nullDevice
    if let input {
      try input.write(to: files.file("in"))
      process.standardInput = try FileHandle(forReadingFrom: files.file("in"))
    }
    for name in ["out", "err"] { try files.write("", to: name) }
    process.standardOutput = try FileHandle(forWritingTo: files.file("out"))
    process.standardError = try FileHandle(forWritingTo: files.file("err"))
    try process.start()
    return ProgramOutput(
      status: process.terminationStatus, bytes: try files.data("out"), messages: try files.text("err"))
  }

  /// A process that has not been started.
  package static func process(
    _ program: String, _ arguments: [String], in folder: TemporaryFolder? = nil, environment: [String: String] = [:]
  ) -> ChildProcess {
    ChildProcess(
      program, arguments: arguments, folder: folder?.url.path,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
  }

  /// The output of a program from the search path, which has to succeed.
  package static func bytes(
    of command: [String], input: Data? = nil, in folder: TemporaryFolder? = nil
  ) throws -> Data {
    let output = try run("/usr/bin/env", command, in: folder, input: input)
    guard output.status == 0 else {
      throw ProgramFailure(description: "\(command[0]) ended with status \(output.status): \(output.messages)")
    }
    return output.bytes
  }

  /// The text that a program from the search path prints; it has to succeed.
  @discardableResult
  package static func output(
    of command: [String], input: Data? = nil, in folder: TemporaryFolder? = nil
  ) throws -> String {
    String(decoding: try bytes(of: command, input: input, in: folder), as: UTF8.self)
  }
}
