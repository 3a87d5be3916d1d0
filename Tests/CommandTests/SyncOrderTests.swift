import Foundation
import TestSupport
import Testing

/// What gives up the only copy of a record, or its only name, comes when the commit that makes it superfluous is on the
/// disk: in the order of the calls, whatever a power cut may drop or reorder between two syncs.
@Suite struct SyncOrderTests {
  private let folder: TemporaryFolder
  private let calls: FileCalls
  init() throws {
    folder = try TemporaryFolder()
    calls = try FileCalls()
  }

  /// Runs a workload, and checks that before the first call that `gives up` something, no write to the store's log is
  /// without a sync of the log after it, and that some were written and synced.
  private func check(_ name: String, _ givesUp: (String) -> Bool) throws -> [String] {
    let workload = try #require(Workload.all.first { $0.testDescription == name })
    try workload.prepare("w", in: folder)
    _ = try calls.run(workload.command, in: folder, at: "w")
    let log = try calls.log
    let found = log.firstIndex(where: givesUp)
    let point = try #require(found, "\(log)")
    try Self.checkSynced(log[..<point], "s")
    return Array(log[point...])
  }

  private static func checkSynced(_ log: ArraySlice<String>, _ store: String) throws {
    let written = try #require(log.lastIndex { $0.hasPrefix("write ") && $0.hasSuffix("/\(store)-wal") })
    let isSynced = log[written...].contains { $0.hasPrefix("fsync ") && $0.hasSuffix("/\(store)-wal") }
    #expect(isSynced, "\(log[written...])")
  }

  @Test(arguments: ["replay", "replay that rejects again", "atomic replay that rejects again"])
  func `A replayed file is replaced after a sync of the store, and every new name is synced`(_ name: String) throws {
    let rest = try check(name) { $0.hasPrefix("rename ") && $0.contains("/rej.csv ") }
    for (index, call) in rest.enumerated() where call.hasPrefix("rename ") {
      #expect(rest[index...].dropFirst().prefix(2).contains { $0.hasPrefix("fsync ") && $0.hasSuffix("/w") }, "\(call)")
    }
  }

  @Test func `The rest of a replay gets a name after a sync of the store`() throws {
    _ = try check("replay that rejects again") { $0.hasPrefix("rename ") && $0.hasSuffix("/rej.csv.next") }
  }

  @Test(arguments: ["import", "atomic import of two files", "replacement", "only what is new of two files"])
  func `Rejects get their names after a sync of the store`(_ name: String) throws {
    _ = try check(name) { $0.hasPrefix("rename ") && $0.hasSuffix(".csv") && $0.contains(".csv.part ") }
  }

  @Test func `A file leaves the inbox after a sync of the store and of the report`() throws {
    let isMove = { (call: String) in call.hasPrefix("rename ") && call.contains("/in/processed/") }
    let rest = try check("inbox", isMove)
    let moves = rest.indices.filter {
      isMove(rest[$0]) || rest[$0].contains("/in/failed/20") && rest[$0].hasPrefix("rename ")
    }
    #expect(moves.count == 3, "\(rest)")
    for move in moves {
      // The folder of the new name, then that of the old one.
      let target = try #require(rest[move].split(separator: " ").last.map(String.init))
      let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
      let synced = try #require(rest[move...].firstIndex(of: "fsync \(folder)"), "\(rest)")
      #expect(rest[synced...].contains { $0.hasPrefix("fsync ") && $0.hasSuffix("/w/in") }, "\(rest)")
    }
    let log = try calls.log
    let move = try #require(log.firstIndex(where: isMove))
    let report = try #require(log.firstIndex { $0.hasPrefix("rename ") && $0.hasSuffix("/r.json") })
    #expect(report < move && log[report..<move].contains { $0.hasPrefix("fsync ") && $0.hasSuffix("/w") })
  }

  @Test func `The parts of an interrupted import that starts anew are removed after a sync of the new one`() throws {
    try folder.makeFolder("w")
    try folder.write("{\"name\": \"p\", \"columns\": [\"date\"], \"chunkRows\": 2}", to: "w/p.json")
    try folder.write("date\n" + String(repeating: "never\n", count: 9), to: "w/a.csv")
    let command = ["import", "a.csv", "--pipeline", "p.json", "--store", "s"]
    #expect(try calls.run(command, in: folder, at: "w").status == 65)
    let last = try #require(
      try calls.log.lastIndex { $0.hasPrefix("write ") && $0.hasSuffix("a.csv.rejects.csv.part") })
    for name in try folder.names(in: "w") where !["p.json", "a.csv"].contains(name) {
      try FileManager.default.removeItem(atPath: folder.path("w/\(name)"))
    }
    #expect(try calls.run(command, in: folder, at: "w", killedAt: last + 1).status == 128 + SIGKILL)
    #expect(try calls.run(command + ["--again"], in: folder, at: "w").status == 65)
    let log = try calls.log
    let removal = try #require(log.firstIndex { $0.hasPrefix("unlink ") && $0.hasSuffix("a.csv.rejects.csv.part") })
    try Self.checkSynced(log[..<removal], "s")
    #expect(try !folder.names(in: "w").contains { $0.hasSuffix(".part") })
  }

  @Test func `The mark of an incremental export comes after a sync of what another program has committed`() throws {
    let workload = try #require(Workload.all.first { $0.testDescription == "export" })
    try workload.prepare("w", in: folder)
    // A program that keeps the store open, so that its commit stays in the log.
    let writer = try RunningProgram(
      """
      import sqlite3, sys, time
      store = sqlite3.connect(sys.argv[1], isolation_level=None)
      store.execute("PRAGMA synchronous = NORMAL")
      store.execute("UPDATE ZJOURNALENTRY SET ZLOCATION = 'Rincon' WHERE Z_PK = 1")
      print("ready", flush=True)
      time.sleep(600)
      """, folder.path("w/s"))
    defer { writer.stop() }
    let output = try calls.run(["export", "--store", "s", "-o", "out.csv", "--incremental", "-q"], in: folder, at: "w")
    #expect(output.status == 0, "\(output.messages)")
    let log = try calls.log
    let mark = try #require(log.firstIndex { $0.hasPrefix("rename ") && $0.hasSuffix("out.csv.mark.json") })
    #expect(log[..<mark].contains { $0.hasPrefix("fsync ") && $0.hasSuffix("/w/s-wal") }, "\(log)")
  }
}

extension TemporaryFolder {
  /// The names of the files in a folder of it.
  fileprivate func names(in name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }
}
