import Foundation
import TestSupport
import Testing

/// Details of rejects whose records a person has removed do not hold up later runs, and stay as they are.
@Suite struct LeftDetailsTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60), to: "log.csv")
  }

  private static let rejects = "log.csv.rejects.csv"
  private static let details = "log.csv.rejects.csv.jsonl"

  private func remove(_ name: String) throws { try FileManager.default.removeItem(at: folder.file(name)) }

  /// The names of rejects and details.
  private func rejects() throws -> [String] { try folder.names.filter { $0.contains("rejects") }.sorted() }

  private func runs(_ arguments: [String], status: Int32 = 65) throws {
    try RunKind.tool(arguments, in: folder, status: status)
  }

  /// Who has left the details.
  enum Origin: CaseIterable { case ownRun, otherProgram }

  /// Imports the first content and leaves only the details of its rejects, or those of another program.
  private func leave(_ origin: Origin = .ownRun) throws -> String {
    try runs(RunKind.load("k.json"))
    try remove(Self.rejects)
    if origin == .otherProgram { try folder.write("precious\n", to: Self.details) }
    try folder.write(RunKind.records(60..<120), to: "log.csv")
    return try folder.text(Self.details)
  }

  private static let ofSecond = ["log.csv.rejects.2.csv", "log.csv.rejects.2.csv.jsonl"]

  @Test(arguments: Origin.allCases)
  func `An import keeps its rejects under another name`(_ origin: Origin) throws {
    let left = try leave(origin)
    try runs(RunKind.load("k.json"))
    #expect(try rejects() == Self.ofSecond + [Self.details])
    #expect(try folder.text(Self.details) == left)
    #expect(try folder.text("log.csv.rejects.2.csv").split(separator: "\n").count == 4)
    try runs(RunKind.load("k.json"), status: 0)
    // What was kept can be corrected.
    let corrected = try folder.text("log.csv.rejects.2.csv").replacing("soon", with: "2020-01-02")
    try folder.write(corrected, to: "log.csv.rejects.2.csv")
    try runs(["replay", "log.csv.rejects.2.csv", "-q"], status: 0)
    // The details of the first three rejects are what is left of them.
    if origin == .ownRun { expectNone(try Conservation.problems(in: folder)) }
  }

  @Test func `With the details the name is free again`() throws {
    _ = try leave()
    try remove(Self.details)
    try runs(RunKind.load("k.json"))
    #expect(try rejects() == [Self.rejects, Self.details])
  }

  @Test func `An inbox goes on, night after night`() throws {
    try folder.makeFolder("in")
    for night in 0..<3 {
      try folder.write(RunKind.records(night * 40..<night * 40 + 40), to: "in/log.csv")
      try runs(["run", "n.json", "-q"])
      #expect(!folder.exists("in/log.csv"))
      if night == 0 { try remove("log.csv.rejects.csv") }
    }
    let numbered = ["log.csv.rejects.2.csv", "log.csv.rejects.3.csv"]
    #expect(try rejects() == numbered.flatMap { [$0, $0 + ".jsonl"] } + [Self.details])
    try runs(["run", "n.json", "-q"], status: 0)
  }

  @Test func `A stopped import goes on, and an undo of it leaves them`() throws {
    let left = try leave()
    let stop = RunKind.load("k.json") + ["--max-errors", "2"]
    try runs(stop)
    #expect(try Set(rejects()) == Set(Self.ofSecond.map { $0 + ".part" } + [Self.details]))
    try runs(RunKind.load("k.json"))
    #expect(try rejects() == Self.ofSecond + [Self.details])
    try folder.write(RunKind.records(120..<180), to: "log.csv")
    try runs(stop)
    try runs(["undo", "s", "-y", "-q"], status: 0)
    #expect(try rejects() == Self.ofSecond + [Self.details])
    #expect(try folder.text(Self.details) == left)
  }

  @Test func `A seed keeps its rejects under another name`() throws {
    let seed = ["seed", "--from", "log.csv", "-o", "seed", "--pipeline", "p.json", "--single-file", "--force", "-q"]
    try runs(seed)
    try remove(Self.rejects)
    for _ in 0..<2 {
      try runs(seed)
      #expect(try rejects().contains("log.csv.rejects.2.csv.jsonl"))
      #expect(try rejects().contains { $0.hasSuffix(".part") } == false)
    }
  }

  /// As the message about a replay that was interrupted at its end advises: the rest takes the name of what was
  /// replayed.
  @Test func `A replay of the rest of an earlier one keeps what it rejects`() throws {
    try runs(RunKind.load("k.json"))
    try folder.write(try folder.text(Self.details), to: Self.rejects + ".next.jsonl")
    let rest = try folder.text(Self.rejects).replacing("soon,1ft,Nowhere 21", with: "2020-01-02,1ft,Nowhere 21")
    try folder.write(rest, to: Self.rejects)
    try runs(["replay", Self.rejects, "-q"])
    #expect(try folder.text(Self.rejects).split(separator: "\n").count == 3)
    let wrong = try folder.text(Self.rejects)
    try folder.write(wrong.replacing("soon", with: "2020-01-03"), to: Self.rejects)
    try runs(["replay", Self.rejects, "-q"], status: 0)
    #expect(!folder.exists(Self.rejects) && !folder.exists(Self.details))
    #expect(try rejects().contains { $0.hasSuffix(".part") } == false)
    expectNone(try Conservation.problems(in: folder))
  }

  /// A replay was killed before its rest took the name of what was replayed. An import must not take that name.
  @Test func `An import leaves the name of rejects to the rest of their replay`() throws {
    try runs(RunKind.load("k.json"))
    for (name, target) in [(Self.rejects, Self.rejects + ".next"), (Self.details, Self.rejects + ".next.jsonl")] {
      try FileManager.default.moveItem(at: folder.file(name), to: folder.file(target))
    }
    try folder.write(RunKind.records(60..<120), to: "log.csv")
    try runs(RunKind.load("k.json"))
    #expect(folder.exists("log.csv.rejects.2.csv") && !folder.exists(Self.rejects))
    try runs(["replay", Self.rejects, "-q"])
    #expect(try folder.text(Self.rejects).split(separator: "\n").count == 4)
  }

  @Test func `Details that appear while an import is stopped are avoided when it goes on`() throws {
    try runs(RunKind.load("k.json") + ["--max-errors", "2"])
    #expect(folder.exists(Self.rejects + ".part"))
    try folder.write("precious\n", to: Self.details)
    try runs(RunKind.load("k.json"))
    #expect(try rejects() == Self.ofSecond + [Self.details])
    #expect(try folder.text("log.csv.rejects.2.csv").split(separator: "\n").count == 4)
    #expect(try folder.text(Self.details) == "precious\n")
  }

  /// A run was killed before its rejects had their names, and another program has made such a file since.
  @Test(arguments: [RunKind.load("k.json"), ["undo", "s", "-y", "-q"]])
  func `Details that appear at the last moment are named, and what the message advises helps`(
    _ arguments: [String]
  ) throws {
    try RunKind.undoOfUnreported.prepare(folder)
    try folder.write("precious\n", to: Self.details)
    let output = try Programs.run(Tool.url.path, arguments, in: folder)
    #expect(output.status == 73 && output.messages.contains("Move it away"), "\(output.status) \(output.messages)")
    #expect(try folder.text(Self.details) == "precious\n")
    try FileManager.default.moveItem(at: folder.file(Self.details), to: folder.file("elsewhere"))
    try runs(arguments, status: arguments[0] == "undo" ? 0 : 65)
    #expect(try rejects() == [Self.rejects, Self.details])
    #expect(try folder.text(Self.rejects).split(separator: "\n").count == 13)
  }
}
