import Foundation
import Testing

/// What a program that has ended left behind.
struct ToolOutput: Sendable {
  /// The exit status; 128 and the number for one that a signal ended, as a shell has it.
  let status: Int32
  let bytes: Data
  let messages: String

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The summary that `--json` prints.
  func json() throws -> Summary { try JSONDecoder().decode(Summary.self, from: bytes) }
}

/// The parts of the JSON summary that the tests read, by the names that its readers rely on.
struct Summary: Decodable {
  struct Counts: Decodable, Equatable {
    var read = 0
    var inserted = 0
    var updated = 0
    var unchanged = 0
    var duplicate = 0
    var rejected = 0

    var isConserved: Bool { read == inserted + updated + unchanged + duplicate + rejected }
  }

  struct Issue: Decodable, Equatable {
    let code: String
    let record: Int
    let line: Int
    let byte: Int
    let field: Int?
    let column: String?
    let message: String
  }

  struct Issues: Decodable {
    let errors: Int
    let counts: [String: Int]
    let listed: [Issue]
  }

  let kind: String
  let outcome: String
  let exitCode: Int32
  let counts: Counts
  let exported: Int
  let issues: Issues
  let rejects: String?
}

/// The program under test, which the build leaves beside this test bundle.
enum Tool {
  static let url = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appendingPathComponent("surfjournal")

  /// Runs `surfjournal` and waits for its end.
  static func run(
    _ arguments: String..., in folder: Scratch, input: String? = nil, environment: [String: String] = [:]
  ) throws -> ToolOutput {
    try Programs.run(url.path, arguments, in: folder, input: input, environment: environment)
  }

  /// Runs a shell script in which `$surfjournal` is the program.
  static func shell(_ script: String, in folder: Scratch) throws -> ToolOutput {
    try Programs.run("/bin/bash", ["-c", script], in: folder, environment: ["surfjournal": url.path])
  }

  /// Starts `surfjournal` and goes on.
  static func start(_ arguments: String..., in folder: Scratch) throws -> Process {
    let process = try Programs.process(url.path, arguments, in: folder)
    try process.run()
    return process
  }
}

/// Other programs that the tests compare with.
enum Programs {
  /// Results go to files, so that a full pipe can't stop either side.
  static func run(
    _ program: String, _ arguments: [String], in folder: Scratch, input: String? = nil,
    environment: [String: String] = [:]
  ) throws -> ToolOutput {
    let name = UUID().uuidString
    let (out, messages) = (folder.url("\(name).out"), folder.url("\(name).err"))
    defer { for file in [out, messages] { try? FileManager.default.removeItem(at: file) } }
    let process = try process(program, arguments, in: folder, environment: environment)
    process.standardInput = FileHandle.nullDevice
    if let input {
      let file = folder.url("\(name).in")
      try Data(input.utf8).write(to: file)
      process.standardInput = try FileHandle(forReadingFrom: file)
    }
    process.standardOutput = try Self.newFile(out)
    process.standardError = try Self.newFile(messages)
    try process.run()
    process.waitUntilExit()
    let status = process.terminationStatus
    return ToolOutput(
      status: process.terminationReason == .uncaughtSignal ? 128 + status : status,
      bytes: try Data(contentsOf: out),
      messages: String(decoding: try Data(contentsOf: messages), as: UTF8.self))
  }

  static func process(
    _ program: String, _ arguments: [String], in folder: Scratch, environment: [String: String] = [:]
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = folder.root
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    return process
  }

  /// The rows of a query, as the `sqlite3` shell shows them.
  static func sqlite(_ store: String, _ query: String, in folder: Scratch) throws -> String {
    let output = try run("/usr/bin/env", ["sqlite3", store, query], in: folder)
    try #require(output.status == 0, "sqlite3: \(output.messages)")
    return output.text
  }

  /// What a Python script prints.
  @discardableResult
  static func python(_ script: String, _ arguments: String..., in folder: Scratch) throws -> String {
    let output = try run("/usr/bin/env", ["python3", "-c", script] + arguments, in: folder)
    try #require(output.status == 0, "python3: \(output.messages)")
    return output.text
  }

  private static func newFile(_ url: URL) throws -> FileHandle {
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }
}
