import Foundation
import TestSupport
import Testing

extension ProgramOutput {
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
    var repeated = 0
    var rejected = 0

    var isConserved: Bool { read == inserted + updated + unchanged + duplicate + repeated + rejected }
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

/// The program under test, which the build leaves next to this test bundle.
enum Tool {
  static let url = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appendingPathComponent("surfjournal")

  /// Runs `surfjournal` and waits for its end.
  static func run(
    _ arguments: String..., in folder: TemporaryFolder, input: String? = nil, environment: [String: String] = [:]
  ) throws -> ProgramOutput {
    try Programs.run(url.path, arguments, in: folder, input: input.map { Data($0.utf8) }, environment: environment)
  }

  /// Runs a shell script in which `$surfjournal` is the program.
  ///
  /// - Parameter kilobytesMax: How many kibibytes each of its processes may address. Under a sanitizer there is no limit,
  ///   because it reserves more addresses than any limit leaves.
  static func shell(
    _ script: String, kilobytesMax: Int? = nil, in folder: TemporaryFolder
  ) throws -> ProgramOutput {
    let limit = Shim.seesAllocations ? kilobytesMax.map { "ulimit -v \($0); " } ?? "" : ""
    return try Programs.run("/bin/bash", ["-c", limit + script], in: folder, environment: ["surfjournal": url.path])
  }

  /// Starts `surfjournal` and goes on.
  static func start(_ arguments: String..., in folder: TemporaryFolder) throws -> ChildProcess {
    let process = Programs.process(url.path, arguments, in: folder)
    try process.start()
    return process
  }
}
