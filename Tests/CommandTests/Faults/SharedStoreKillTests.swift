import Foundation
import Glibc
import TestSupport
import Testing

/// Several programs use one store at the same time, and one of them is ended at any of its calls: the others end as if
/// they were alone, and a repetition of the ended one completes the store.
@Suite(.seeded) struct SharedStoreKillTests {
  private let folder: TemporaryFolder
  private let own: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    own = try TemporaryFolder()
    try folder.makeFolder("tmp")
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60, badEvery: nil), to: "a.csv")
    try folder.write(RunKind.records(100..<160, badEvery: nil), to: "b.csv")
  }

  @Test func `One that is killed does not disturb the other`() throws {
    var random = Randomness.generator()
    let count = try callCount()
    var kills = 0
    let rounds = TestLength.rounds(6, long: 300)
    // A run that finds the store in use ends before many of its calls, so that some rounds kill nothing.
    for number in 1...rounds + 40 where number <= rounds || kills == 0 {
      let call = Int.random(in: 1...count, using: &random)
      let killed = try start(Fault(.kill, at: call))
      let other = try loadUntilFree("b.csv")
      killed.waitUntilExit()
      #expect(other.status == 0, "kill at call \(call): \(other.messages)")
      if try Shim.report(own.path("page")).fired > 0 { kills += 1 }
      try expectComplete("kill at call \(call)")
    }
    #expect(kills > 0)
    Figures.add("kills", kills, suite: Self.self)
    print("one of two programs killed: \(kills) kills, seed \(Randomness.seed)")
  }

  /// It stands still at a call while another run and a reader come, and then it is ended there.
  @Test(arguments: [SIGKILL, SIGTERM])
  func `One that others meet at any call, and that is ended there, does not disturb them`(_ signal: Int32) throws {
    var random = Randomness.generator()
    let count = try callCount()
    let calls = FaultPoint.numbers(of: count, short: 3, using: &random)
    var ended = 0
    for call in calls {
      let place = "signal \(signal) at call \(call)"
      let process = try start(Fault(.stop, at: call))
      defer { process.signal(SIGKILL) }
      let isStopped = process.waitUntilStopped()
      if isStopped {
        try meet(place)
        process.signal(signal)
        process.signal(SIGCONT)
      }
      process.waitUntilExit()
      let end = process.terminationStatus
      // After its last chunk it ends as if nothing had been asked of it.
      let isEnded = end == 128 + signal || signal == SIGTERM && end == 75
      if isStopped { #expect(isEnded || signal == SIGTERM && end == 0, "\(place): it ended with \(end)") }
      if isStopped, isEnded { ended += 1 }
      let other = try loadUntilFree("b.csv")
      #expect(other.status == 0, "\(place): \(other.messages)")
      try expectComplete(place)
    }
    // Threads make some more or some fewer calls from run to run, and after the last chunk a run only ends.
    let least = calls.count * (signal == SIGKILL ? 9 : 3) / 10 - 3
    #expect(ended >= least, "only \(ended) of \(calls.count) were ended")
    Figures.add("kills of one that others met", ended, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of signal \(signal) at every call", 1, suite: Self.self) }
    print("ended by signal \(signal) where others met it: \(ended), seed \(Randomness.seed)")
  }

  // MARK: Programs

  private func load(_ name: String) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments(name), in: folder)
  }

  /// Runs a command that does not wait long for what the stopped process has locked.
  private func runBeside(_ arguments: [String]) throws -> ProgramOutput {
    let others = try TemporaryFolder()
    return try ShimmedCommand(arguments: arguments, work: folder, own: others).run(.none, environment: Shim.hurry).0
  }

  private func arguments(_ name: String) -> [String] { ["import", name, "--store", "s", "--pipeline", "p.json", "-q"] }

  /// A store that is in use is left alone; the run is tried again, as from cron.
  private func loadUntilFree(_ name: String) throws -> ProgramOutput {
    var output = try load(name)
    for _ in 0..<1000 where output.status == 75 { output = try load(name) }
    return output
  }

  /// Starts an import of `a.csv` under the shim.
  private func start(_ fault: Fault) throws -> ChildProcess {
    let environment = try Shim.environment(fault, in: folder, page: own.path("page"))
    let process = Programs.process(Tool.url.path, arguments("a.csv"), in: folder, environment: environment)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    return process
  }

  /// How many calls an undisturbed import makes.
  private func callCount() throws -> Int {
    let process = try start(.none)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    try removeStore()
    return try Shim.report(own.path("page")).counts.values.reduce(0, +)
  }

  /// Two others use the store: a run that may find it in use, and a reader that finds whole chunks.
  private func meet(_ place: String) throws {
    let other = try runBeside(arguments("b.csv"))
    #expect([0, 75].contains(other.status), "\(place): \(other.messages)")
    let reader = try runBeside(["export", "--store", "s", "-o", "-", "-q"])
    // Before its first commit the file is not a store; at a few calls, no other program may open it.
    let isBegun =
      reader.status == 65
      && ["the file is empty", "has no Z_METADATA", "has no tables"].contains { reader.messages.contains($0) }
    #expect(isBegun || [0, 66, 75].contains(reader.status), "\(place): \(reader.status) \(reader.messages)")
    if reader.status == 0 {
      let rows = reader.text.split(separator: "\n").count - 1
      #expect(rows % 20 == 0, "\(place): a reader has found \(rows) entries")
    }
  }

  /// Completes the store, compares it with that of undisturbed runs, and removes it.
  private func expectComplete(_ place: String) throws {
    expectNone(try Conservation.problems(in: folder).map { "\(place): \($0)" })
    let again = try load("a.csv")
    #expect(again.status == 0, "\(place): \(again.messages)")
    let found = try sqlite(
      folder.path("s"),
      """
      PRAGMA integrity_check;
      SELECT count(*), count(DISTINCT ZLOCATION), max(Z_PK), (SELECT Z_MAX FROM Z_PRIMARYKEY) FROM ZJOURNALENTRY
      """)
    #expect(found == "ok\n120|120|120|120", "\(place): \(found)")
    expectNone(try Conservation.problems(in: folder).map { "\(place): \($0)" })
    #expect(try folder.names.filter { $0.hasPrefix("s") } == ["s"], "\(place)")
    try removeStore()
  }

  private func removeStore() throws {
    for name in try folder.names where name.hasPrefix("s") {
      try FileManager.default.removeItem(at: folder.file(name))
    }
  }
}
