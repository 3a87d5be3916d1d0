import Foundation
import TestSupport
import Testing

/// Runs that make different stores or seeds of one input write their rejects in one folder at the same time: each keeps
/// its own.
@Suite struct SharedRejectsTests {
  private let folder: TemporaryFolder
  private let own: TemporaryFolder
  init() throws {
    (folder, own) = (try TemporaryFolder(), try TemporaryFolder())
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60), to: "log.csv")
  }

  private static func seed(_ name: String) -> [String] {
    ["seed", "--from", "log.csv", "-o", name, "--pipeline", "p.json", "--single-file", "-q"]
  }

  private static func load(_ name: String) -> [String] {
    ["import", "log.csv", "--store", name, "--pipeline", "p.json", "-q"]
  }

  private func start(_ arguments: [String], _ fault: Fault, page: String) throws -> ChildProcess {
    let environment = try Shim.environment(fault, in: folder, page: own.path(page))
    let process = Programs.process(Tool.url.path, arguments, in: folder, environment: environment)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    return process
  }

  /// The files of rejects, with the number of records in each, and what is left over.
  private func rejects() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for name in try folder.names where name.contains("rejects") && !name.hasSuffix(".jsonl") {
      counts[name] = try folder.text(name).split(separator: "\n").count - 1
    }
    return counts
  }

  private static let ofTwo = ["log.csv.rejects.csv": 3, "log.csv.rejects.2.csv": 3]

  /// Where rejects are created, complete, and about to get their names.
  static let calls = [
    (Fault.Call.write, ".rejects.csv.part"), (.sync, ".rejects.csv.part"), (.sync, "import/a-wal"),
    (.rename, ".rejects.csv.jsonl"), (.rename, ".rejects.csv"),
  ]

  @Test(arguments: calls)
  func `A seed leaves the unfinished rejects of another one alone`(_ call: Fault.Call, _ name: String) throws {
    var fault = Fault(.stop, calls: [call], at: 1)
    fault.nameEnd = name
    let first = try start(Self.seed("a"), fault, page: "a")
    defer { first.signal(SIGKILL) }
    try #require(first.waitUntilStopped())
    let second = try Programs.run(Tool.url.path, Self.seed("b"), in: folder)
    #expect(second.status == 65, "\(second.messages)")
    first.signal(SIGCONT)
    first.waitUntilExit()
    #expect(first.terminationStatus == 65)
    #expect(try rejects() == Self.ofTwo)
    #expect(try folder.names.filter { $0.contains(".part") } == [])
  }

  @Test(arguments: [seed, load])
  func `Many that begin at once have rejects of their own each`(_ arguments: @Sendable (String) -> [String]) throws {
    for round in 1...TestLength.rounds(2, long: 40) {
      let names = (1...4).map { "r\(round)-\($0)" }
      let processes = try names.map { try start(arguments($0), .none, page: $0) }
      for process in processes {
        process.waitUntilExit()
        #expect(process.terminationStatus == 65)
      }
      let found = try rejects()
      #expect(found.count == 4 && found.values.allSatisfy { $0 == 3 }, "round \(round): \(found)")
      for name in try folder.names where name.contains("rejects") {
        try FileManager.default.removeItem(at: folder.file(name))
      }
    }
  }

  /// A seed that was killed gets its own back.
  @Test func `The rejects of a dead seed are removed by the next one of its path, not by others`() throws {
    var fault = Fault(.kill, calls: [.sync], at: 1)
    fault.nameEnd = ".rejects.csv.part"
    try start(Self.seed("a"), fault, page: "a").waitUntilExit()
    try #require(folder.exists("log.csv.rejects.csv.part"))
    #expect(try Programs.run(Tool.url.path, Self.seed("b"), in: folder).status == 65)
    #expect(folder.exists("log.csv.rejects.csv.part") && folder.exists("log.csv.rejects.2.csv"))
    #expect(try Programs.run(Tool.url.path, Self.seed("a"), in: folder).status == 65)
    #expect(try rejects() == Self.ofTwo)
  }

  @Test(arguments: [["--store", "s"], []])
  func `A dry run leaves the rejects of an interrupted import alone, and says so`(_ store: [String]) throws {
    try folder.write(RunKind.records(0..<60, badEvery: 5), to: "log.csv")
    let load = ["import", "log.csv", "--store", "s", "--pipeline", "p.json", "--rejects", "r.csv"]
    try RunKind.tool(load + ["--max-errors", "6", "-q"], in: folder, status: 65)
    let before = try folder.text("r.csv.part")
    let check = ["validate", "log.csv", "--pipeline", "p.json", "-q", "--rejects"] + ["r.csv"] + store
    let output = try Programs.run(Tool.url.path, check, in: folder)
    #expect(output.status == 75 && output.messages.contains("complete that one, or name another file"), "\(output)")
    #expect(try folder.text("r.csv.part") == before)
    // As the message says.
    try RunKind.tool(check.map { $0 == "r.csv" ? "other.csv" : $0 }, in: folder, status: 65)
    try RunKind.tool(load + ["-q"], in: folder, status: 65)
    #expect(try folder.text("r.csv").split(separator: "\n").count == 13)
    try RunKind.tool(check, in: folder, status: store.isEmpty ? 65 : 0)
  }
}
