import Foundation
import Glibc
import TestSupport
import Testing

/// Two programs import into one store at the same time, and one of them is killed at any of its calls: the other one
/// ends as if it were alone, and a repetition of the killed one completes the store.
@Suite(.seeded) struct SharedStoreKillTests {
  private let folder: TemporaryFolder
  private let own: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    own = try TemporaryFolder()
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60, badEvery: nil), to: "a.csv")
    try folder.write(RunKind.records(100..<160, badEvery: nil), to: "b.csv")
    #expect(try Programs.run(Tool.url.path, load("a.csv", "measured"), in: folder).status == 0)
  }

  private func load(_ name: String, _ store: String) -> [String] {
    ["import", name, "--store", store, "--pipeline", "p.json", "-q"]
  }

  @Test func `One that is killed does not disturb the other`() throws {
    var random = Randomness.generator()
    var kills = 0
    let rounds = TestLength.rounds(6, long: 300)
    // A run that finds the store in use ends before many of its calls, so that some rounds kill nothing.
    for number in 1...rounds + 40 where number <= rounds || kills == 0 {
      let store = "s\(number)"
      let page = own.path("page\(number)")
      let fault = Fault(.kill, at: .random(in: 1...340, using: &random))
      let killed = Programs.process(
        Tool.url.path, load("a.csv", store), in: folder,
        environment: try Shim.environment(fault, in: folder, page: page))
      killed.standardOutput = FileHandle.nullDevice
      killed.standardError = FileHandle.nullDevice
      try killed.run()
      // A store that is in use is left alone; the run is tried again, as from cron.
      var other = try Programs.run(Tool.url.path, load("b.csv", store), in: folder)
      while other.status == 75 { other = try Programs.run(Tool.url.path, load("b.csv", store), in: folder) }
      killed.waitUntilExit()
      #expect(other.status == 0, "kill at call \(fault.number): \(other.messages)")
      if try Shim.report(page).fired > 0 { kills += 1 }
      expectNone(try Conservation.problems(in: folder))
      let again = try Programs.run(Tool.url.path, load("a.csv", store), in: folder)
      #expect(again.status == 0, "kill at call \(fault.number): \(again.messages)")
      let found = try sqlite(
        folder.path(store),
        """
        PRAGMA integrity_check;
        SELECT count(*), count(DISTINCT ZLOCATION), max(Z_PK), (SELECT Z_MAX FROM Z_PRIMARYKEY) FROM ZJOURNALENTRY
        """)
      #expect(found == "ok\n120|120|120|120", "kill at call \(fault.number): \(found)")
      expectNone(try Conservation.problems(in: folder))
      #expect(try folder.names.filter { $0.hasPrefix(store) } == [store], "kill at call \(fault.number)")
      for name in try folder.names where name.hasPrefix(store) {
        try FileManager.default.removeItem(at: folder.file(name))
      }
    }
    #expect(kills > 0)
    Figures.add("kills", kills, suite: Self.self)
    print("one of two programs killed: \(kills) kills, seed \(Randomness.seed)")
  }
}
