import Foundation
import TestSupport
import Testing

/// Runs on a store in PostgreSQL that are killed, that meet others, and that lose their server: no record is lost, and none
/// is there twice.
@Suite(.seeded, .enabled(if: PostgreSQLServer.isThere, serverComment)) struct ServerRunTests {
  private let journal: ServerJournal
  private var folder: TemporaryFolder { journal.folder }
  init() throws {
    journal = try ServerJournal()
    try folder.write(
      #"{"name": "p", "columns": [{"name": "date"}, "location", "rating"], "chunkRows": 500}"#, to: "p.json")
  }

  private static func records(_ range: Range<Int>) -> String {
    range.map { "2020-01-\($0 % 28 < 9 ? "0" : "")\($0 % 28 + 1),P\($0),\($0 % 5 + 1)\n" }.joined()
  }
  private static let header = "date,location,rating\n"
  private static let inPipeline = ["--pipeline", "p.json", "--store", "STORE"]

  private func places() throws -> [Int] {
    try journal.psql("SELECT substr(\"ZLOCATION\", 2)::int FROM \"ZJOURNALENTRY\" ORDER BY 1").split(separator: "\n")
      .compactMap { Int($0) }
  }

  /// So many records come out of a pipe before it is full.
  private static let part = 20_000

  /// Waits until the store has at least so many entries.
  private func wait(for count: Int, _ process: ChildProcess) throws {
    for _ in 0..<1000 {
      let found = (try? journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"")).flatMap(Int.init) ?? 0
      if found >= count { return }
      try #require(process.isRunning, "the run has ended")
      usleep(10_000)
    }
    Issue.record("the run has not saved \(count) entries")
  }

  @Test func `Killed at any moment and run again, it has each record once`() throws {
    let count = 30_000
    try folder.write(Self.header + Self.records(0..<count), to: "a.csv")
    var random = Randomness.generator()
    let whole = ContinuousClock().measure {
      _ = try? journal.run(["import", "a.csv", "--pipeline", "p.json", "--store", "s"])
    }
    var kills = 0
    for _ in 0..<TestLength.rounds(6, long: 60) {
      let (process, input, _) = try journal.start(["import", "a.csv", "-q"] + Self.inPipeline)
      defer { try? input.close() }
      Thread.sleep(forTimeInterval: whole / .seconds(1) * .random(in: 0.1...0.9, using: &random))
      if process.isRunning { kills += 1 }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    let last = try journal.run(["import", "a.csv"] + Self.inPipeline)
    #expect(last.status == 0, "\(last.messages)")
    #expect(try places() == Array(0..<count))
    #expect(try journal.entries() == journal.entries(store: "s"))
    #expect(kills > 0)
    Figures.add("kills of imports into PostgreSQL", kills, suite: Self.self)
  }

  @Test func `What a failover loses after the last save of a run is noticed before it reports success`() throws {
    try folder.write(Self.header + Self.records(0..<100), to: "a.csv")
    let command = ["import", "a.csv", "-"] + Self.inPipeline
    let (process, input, messages) = try journal.start(command)
    try wait(for: 100, process)
    // As if the server that has taken its place had none of it.
    _ = try journal.psql("DELETE FROM \"ZJOURNALENTRY\"; DELETE FROM SJ_INPUT; DELETE FROM SJ_RUN")
    try input.close()
    process.waitUntilExit()
    let text = String(decoding: try messages.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(process.terminationStatus == 75, "\(text)")
    #expect(text.contains("the server has lost what this run had saved"), "\(text)")
    #expect(try places().isEmpty)
    let again = try journal.run(["import", "a.csv"] + Self.inPipeline)
    #expect(again.status == 0, "\(again.messages)")
    #expect(try places() == Array(0..<100))
  }

  @Test func `While a run imports, another one is refused and names it`() throws {
    try folder.write(Self.header + "soon,P1,1\n", to: "r.csv")
    #expect(try journal.run(["import", "r.csv"] + Self.inPipeline).status == 65)
    // As a replay leaves them before it gives the records that it rejected again the name of those that it replayed.
    for suffix in ["", ".jsonl"] {
      try FileManager.default.moveItem(
        at: folder.file("r.csv.rejects.csv" + suffix), to: folder.file("r.csv.rejects.csv.next" + suffix))
    }
    let (process, input, messages) = try journal.start(["import", "-"] + Self.inPipeline)
    input.write(Data((Self.header + Self.records(0..<Self.part)).utf8))
    try wait(for: 500, process)
    try folder.write(Self.header + Self.records(90_000..<90_010), to: "b.csv")
    for command in [
      ["import", "b.csv"] + Self.inPipeline, ["undo", "STORE", "--yes"], ["ledger", "drop", "STORE", "--yes"],
      ["add", "STORE", "--date", "2020-01-02", "--location", "P9", "--yes"], ["replay", "r.csv.rejects.csv"],
    ] {
      let refused = try journal.run(command)
      #expect(refused.status == 75, "\(command): \(refused.messages)")
      #expect(refused.messages.contains("pid \(process.processIdentifier) (pipeline p, since"), "\(refused.messages)")
    }
    #expect(try journal.run(["list", "STORE"]).status == 0)
    #expect(!folder.exists("r.csv.rejects.csv"))
    try input.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(messages.fileHandleForReading.readDataToEndOfFile())")
    let finished = try journal.run(["replay", "r.csv.rejects.csv"])
    #expect(finished.status == 65 && finished.messages.contains("is finished"), "\(finished.messages)")
    #expect(folder.exists("r.csv.rejects.csv") && !folder.exists("r.csv.rejects.csv.next"))
    #expect(try journal.run(["import", "b.csv"] + Self.inPipeline).status == 0)
    #expect(try places() == Array(0..<Self.part) + Array(90_000..<90_010))
  }

  /// The number of the server's process that holds the lock of the run.
  private func lockHolder() throws -> String {
    try journal.psql(
      "SELECT pid FROM pg_locks WHERE relation = 'sj_lock'::regclass AND mode = 'ShareUpdateExclusiveLock' AND granted")
  }

  @Test func `A run that loses its lock to another one saves nothing more`() throws {
    let (process, input, messages) = try journal.start(["import", "-"] + Self.inPipeline)
    input.write(Data((Self.header + Self.records(0..<Self.part)).utf8))
    try wait(for: 500, process)
    _ = try journal.psql("SELECT pg_terminate_backend(\(try lockHolder()))")
    try folder.write(Self.header + Self.records(0..<Self.part + 80), to: "all.csv")
    let other = try journal.run(["import", "all.csv"] + Self.inPipeline)
    #expect(other.status == 0, "\(other.messages)")
    input.write(Data(Self.records(Self.part..<Self.part + 80).utf8))
    try input.close()
    process.waitUntilExit()
    let said = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.terminationStatus == 75 && said.contains("has taken over"), "\(said)")
    // The other run has continued with the records that were saved.
    #expect(try places() == Array(0..<Self.part + 80))
  }

  @Test func `A run goes on where only the connection of its lock was lost`() throws {
    let (process, input, messages) = try journal.start(["import", "-"] + Self.inPipeline)
    input.write(Data((Self.header + Self.records(0..<Self.part)).utf8))
    try wait(for: 500, process)
    _ = try journal.psql("SELECT pg_terminate_backend(\(try lockHolder()))")
    input.write(Data(Self.records(Self.part..<Self.part + 80).utf8))
    try input.close()
    process.waitUntilExit()
    #expect(
      process.terminationStatus == 0,
      "\(String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))")
    #expect(try places() == Array(0..<Self.part + 80))
  }

  @Test func `A run whose connections are ended again and again saves each record once`() throws {
    let (process, input, messages) = try journal.start(["import", "-"] + Self.inPipeline)
    input.write(Data((Self.header + Self.records(0..<Self.part)).utf8))
    try wait(for: 500, process)
    for part in 1...6 {
      _ = try journal.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
          + "AND application_name = '\(journal.schema)'")
      input.write(Data(Self.records(part * Self.part..<(part + 1) * Self.part).utf8))
      usleep(50_000)
    }
    try input.close()
    process.waitUntilExit()
    #expect(
      process.terminationStatus == 0,
      "\(String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))")
    #expect(try places() == Array(0..<7 * Self.part))
  }

  @Test func `After a crash of the server a run goes on with what was committed`() throws {
    let server = try PostgreSQLServer()
    defer { server.stop() }
    let address = try #require(server.address()).absoluteString
    let (process, input, messages) = try journal.start(
      ["import", "-", "--lock-timeout", "60"] + Self.inPipeline, store: address)
    let count = "SELECT count(*) FROM \"ZJOURNALENTRY\""
    input.write(Data((Self.header + Self.records(0..<Self.part)).utf8))
    for _ in 0..<1000 where (try? server.psql(count)).flatMap(Int.init) ?? 0 < 500 { usleep(10_000) }
    for part in 1...3 {
      try server.restartAfterCrash()
      input.write(Data(Self.records(part * Self.part..<(part + 1) * Self.part).utf8))
    }
    try input.close()
    process.waitUntilExit()
    #expect(
      process.terminationStatus == 0,
      "\(String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))")
    #expect(
      try server.psql("SELECT count(*), count(DISTINCT \"ZLOCATION\") FROM \"ZJOURNALENTRY\"")
        == "\(4 * Self.part)|\(4 * Self.part)")
    #expect(try journal.history(store: address).first?[1] == "completed")
  }

  @Test func `Cancelled while it waits for a server that is away, it ends at once and says so`() throws {
    let server = try PostgreSQLServer()
    defer { server.stop() }
    let address = try #require(server.address()).absoluteString
    let (process, input, messages) = try journal.start(
      ["import", "-", "--lock-timeout", "120"] + Self.inPipeline, store: address)
    input.write(Data((Self.header + Self.records(0..<Self.part)).utf8))
    let count = "SELECT count(*) FROM \"ZJOURNALENTRY\""
    for _ in 0..<1000 where (try? server.psql(count)).flatMap(Int.init) ?? 0 < 500 { usleep(10_000) }
    try server.crash()
    // As much as a pipe holds: the run may not read any more. It tries again until it is cancelled.
    input.write(Data(Self.records(Self.part..<Self.part + 1000).utf8))
    usleep(1_000_000)
    #expect(process.isRunning)
    let seconds = ContinuousClock().measure {
      kill(process.processIdentifier, SIGINT)
      process.waitUntilExit()
    }
    try input.close()
    let said = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    // A run that gives up says what the server's connection has said.
    let isCancelled = said.contains("stopping at the next chunk") && !said.contains("connection")
    #expect(process.terminationStatus == 75 && isCancelled, "\(process.terminationStatus): \(said)")
    #expect(seconds < .seconds(60), "\(seconds)")
    try server.startAgain()
    try folder.write(Self.header + Self.records(0..<2 * Self.part), to: "all.csv")
    let next = try journal.run(["import", "all.csv"] + Self.inPipeline, store: address)
    #expect(next.status == 0, "\(next.messages)")
    #expect(
      try server.psql("SELECT count(DISTINCT \"ZLOCATION\"), count(*) FROM \"ZJOURNALENTRY\"")
        == "\(2 * Self.part)|\(2 * Self.part)")
  }

  @Test(.enabled(if: ConnectionPooler.isThere))
  func `Through a pooler in transaction mode it is the same`() throws {
    let server = try #require(PostgreSQLServer.shared, serverComment)
    let pooler = try ConnectionPooler(
      before: server, database: "l\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())")
    let address = try #require(pooler.address).absoluteString
    let key = #""key": ["date", "location"], "duplicates": "update","#
    try folder.write(
      try folder.text("p.json").replacingOccurrences(of: "{\"name\": \"p\",", with: "{\"name\": \"p\", \(key)"),
      to: "p.json")
    try folder.write(Self.header + Self.records(0..<400), to: "a.csv")
    try folder.write(Self.header + Self.records(0..<500).replacingOccurrences(of: ",1\n", with: ",2\n"), to: "b.csv")
    for store in [address, "s"] {
      for arguments in [["a.csv"], ["b.csv"], ["a.csv", "--atomic", "--again"]] {
        let output = try journal.run(["import"] + arguments + Self.inPipeline, store: store)
        #expect(output.status == 0, "\(output.messages)")
      }
      #expect(try journal.run(["undo", "STORE", "--yes"], store: store).status == 0)
    }
    #expect(try journal.entries(store: address) == journal.entries(store: "s"))
    #expect(try journal.history(store: address) == journal.history(store: "s"))
  }
}
