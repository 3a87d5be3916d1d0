import Foundation

/// Runs programs that are not measured.
enum Tool {
  /// Runs a program to its end.
  /// - Parameters:
  ///   - command: The program, found as a shell finds it, and its arguments.
  ///   - isQuiet: Whether to hide what it writes to standard error.
  /// - Returns: What it wrote to standard output, trimmed.
  /// - Throws: `BenchmarkFailure` when it can't be started or does not end with status 0.
  @discardableResult
  static func run(_ command: [String], isQuiet: Bool = false) throws -> String {
    let (status, output) = try finish(command, isQuiet: isQuiet)
    guard status == 0 else {
      throw BenchmarkFailure("\(command.joined(separator: " ")) ended with status \(status)")
    }
    return output
  }

  static func succeeds(_ command: [String]) -> Bool { (try? finish(command, isQuiet: true))?.status == 0 }

  private static func finish(_ command: [String], isQuiet: Bool) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    let pipe = Pipe()
    process.standardOutput = pipe
    if isQuiet { process.standardError = FileHandle.nullDevice }
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    )
  }
}

/// What one process took.
struct Measurement {
  let seconds: Double
  /// User and system time of all its threads.
  let cpuSeconds: Double
  let peakMegabytes: Double

  /// Runs a program through `measure`, with its standard output in a file.
  /// - Throws: `BenchmarkFailure` when it can't be started or does not end with status 0.
  init(of command: [String], output: String, in folder: BenchmarkFolder) throws {
    let line = try Tool.run([folder.program("measure"), output] + command)
    let numbers = line.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 4 else { throw BenchmarkFailure("'measure' printed '\(line)' instead of four numbers") }
    guard numbers[3] == 0 else {
      throw BenchmarkFailure("\(command.joined(separator: " ")) ended with status \(Int(numbers[3]))")
    }
    (seconds, cpuSeconds, peakMegabytes) = (numbers[0], numbers[1], numbers[2] / 1024)
  }
}
