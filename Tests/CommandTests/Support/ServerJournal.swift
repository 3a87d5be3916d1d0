import Foundation
import TestSupport
import Testing

/// Without a server these suites are left out, by name and with the reason.
let serverComment = Comment(rawValue: PostgreSQLServer.problem)

/// A folder of inputs, and a store in a schema of its own of the tests' server.
struct ServerJournal {
  let folder: TemporaryFolder
  let schema: String
  let address: String

  init() throws {
    folder = try TemporaryFolder()
    let server = try #require(PostgreSQLServer.shared, serverComment)
    schema = "i\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    _ = try server.psql("CREATE SCHEMA \(schema)")
    address = try #require(server.address(["options": "-csearch_path=\(schema)", "application_name": schema]))
      .absoluteString
  }

  /// Runs the program; `STORE` stands for the address.
  @discardableResult
  func run(_ arguments: [String], store: String? = nil, input: String? = nil) throws -> ProgramOutput {
    let arguments = arguments.map { $0 == "STORE" ? store ?? address : $0 }
    return try Programs.run(Tool.url.path, arguments, in: folder, input: input.map { Data($0.utf8) })
  }

  /// Starts the program with a pipe as its standard input.
  func start(_ arguments: [String], store: String? = nil) throws -> (
    process: ChildProcess, input: FileHandle, messages: Pipe
  ) {
    let process = Programs.process(
      Tool.url.path, arguments.map { $0 == "STORE" ? store ?? address : $0 }, in: folder)
    let (input, messages) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardError = messages
    process.standardOutput = FileHandle.nullDevice
    try process.start()
    return (process, input.fileHandleForWriting, messages)
  }

  func psql(_ statements: String) throws -> String {
    try #require(PostgreSQLServer.shared, serverComment).psql(statements, schema: schema)
  }

  /// The exit status for a store that does not exist.
  private static let noStore: Int32 = 66

  /// The entries as a file, in the order of their values: keys say nothing about it.
  func entries(store: String? = nil) throws -> [String] {
    let output = try run(["export", "STORE"], store: store)
    if output.status == Self.noStore { return [] }
    #expect(output.status == 0, "\(output.messages)")
    return output.text.split(separator: "\n").map(String.init).sorted()
  }

  /// The history without what differs from run to run.
  func history(store: String? = nil) throws -> [[String]] {
    struct History: Decodable {
      struct Input: Decodable {
        let path, state, contentHash: String
        let nextRecord: Int
        let counts: [String: Int]
      }
      struct Run: Decodable {
        let pipeline, outcome: String
        let exitCode: Int?
        let counts: [String: Int]?
        let inputs: [Input]
      }
      let runs: [Run]
    }
    let output = try run(["history", "STORE", "--json"], store: store)
    if output.status == Self.noStore { return [] }
    #expect(output.status == 0, "\(output.messages)")
    func text(_ counts: [String: Int]) -> String { counts.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined() }
    return try JSONDecoder().decode(History.self, from: Data(output.text.utf8)).runs.map { run in
      [run.pipeline, run.outcome, "\(run.exitCode ?? -1)", text(run.counts ?? [:])]
        + run.inputs.map {
          "\($0.path) \($0.state) \($0.contentHash) \($0.nextRecord) \(text($0.counts))"
        }
    }
  }

  /// Runs a command on the store and on the SQLite file `s`, and compares what they have afterwards.
  @discardableResult
  func onBoth(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> ProgramOutput {
    func run(on store: String?) throws -> ProgramOutput {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) where file.contains("rejects") {
        try FileManager.default.removeItem(atPath: folder.path(file))
      }
      return try self.run(arguments, store: store)
    }
    let here = try run(on: "s")
    let there = try run(on: nil)
    #expect(here.status == there.status, "\(arguments): \(there.messages)", sourceLocation: sourceLocation)
    #expect(try entries() == entries(store: "s"), "\(arguments)", sourceLocation: sourceLocation)
    #expect(try history() == history(store: "s"), "\(arguments)", sourceLocation: sourceLocation)
    return there
  }
}
