import Foundation
import TestSupport
import Testing

/// A run that ends before it takes the lock removes the file that a dead one has left of it. No run that begins meanwhile
/// finds the store in use.
@Suite struct LeftLockTests {
  private let folder: TemporaryFolder
  private let own: TemporaryFolder

  /// The store of a run that was killed.
  init() throws {
    (folder, own) = (try TemporaryFolder(), try TemporaryFolder())
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60, badEvery: nil), to: "log.csv")
    try folder.write(RunKind.records(100..<120, badEvery: nil), to: "more.csv")
    var fault = Fault(.kill, calls: [.unlink], at: 1)
    fault.nameEnd = "/s.lock"
    try start(RunKind.load("p.json"), fault, page: "killed").waitUntilExit()
    try #require(folder.exists("s") && folder.exists("s.lock"))
  }

  private func start(_ arguments: [String], _ fault: Fault, page: String) throws -> ChildProcess {
    let environment = try Shim.environment(fault, in: folder, page: own.path(page))
    let process = Programs.process(Tool.url.path, arguments, in: folder, environment: environment)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    return process
  }

  /// A run that has the dead one's file locked, and stands still before it removes it.
  private func remover() throws -> ChildProcess {
    var fault = Fault(.stop, calls: [.unlink], at: 1)
    fault.nameEnd = "/s.lock"
    let refused = ["seed", "--from", "log.csv", "-o", "s", "--pipeline", "p.json", "-q"]
    let process = try start(refused, fault, page: "remover")
    try #require(process.waitUntilStopped())
    return process
  }

  private static let load = ["import", "more.csv", "--store", "s", "--pipeline", "p.json", "-q"]

  @Test func `A run that begins in the moment of the removal waits for its end`() throws {
    let remover = try remover()
    defer { remover.signal(SIGKILL) }
    let run = try start(Self.load, .none, page: "run")
    while run.isRunning, try Shim.report(own.path("run")).counts[.lock] == 0 { usleep(500) }
    #expect(run.isRunning)
    remover.signal(SIGCONT)
    remover.waitUntilExit()
    run.waitUntilExit()
    #expect(remover.terminationStatus == 73 && run.terminationStatus == 0)
    #expect(try sqlite(folder.path("s"), "SELECT count(*) FROM ZJOURNALENTRY") == "80")
    #expect(!folder.exists("s.lock"))
  }

  @Test func `It does not wait for long`() throws {
    let remover = try remover()
    defer { remover.signal(SIGKILL) }
    let output = try Programs.run(Tool.url.path, Self.load, in: folder)
    #expect(output.status == 75, "\(output.messages)")
    #expect(output.messages.contains("another process, which locks"), "\(output.messages)")
  }

  @Test func `Removers and runs that meet again and again never leave a run refused`() throws {
    for round in 1...TestLength.rounds(3, long: 200) {
      let lock = try own.exists("lock") ? own.text("lock") : folder.text("s.lock")
      try own.write(lock, to: "lock")
      try folder.write(lock, to: "s.lock")
      let input = "more-\(round).csv"
      try folder.write(RunKind.records(200 + round * 20..<220 + round * 20, badEvery: nil), to: input)
      let refused = ["seed", "--from", "log.csv", "-o", "s", "--pipeline", "p.json", "-q"]
      let removers = try (1...2).map { try start(refused, .none, page: "remover \($0)") }
      let run = try start(Self.load.map { $0 == "more.csv" ? input : $0 }, .none, page: "run")
      run.waitUntilExit()
      #expect(run.terminationStatus == 0, "round \(round)")
      for remover in removers { remover.waitUntilExit() }
    }
  }
}
