import Foundation
import TestSupport
import Testing

/// `export --readers N`: the bytes of one reader, in one state of the store, or no file and the reason.
@Suite(.seeded, .enabled(if: PostgreSQLServer.isThere, serverComment)) struct ParallelExportTests {
  private let journal: ServerJournal
  private var folder: TemporaryFolder { journal.folder }

  init() throws {
    journal = try ServerJournal()
    try folder.write("date,location,rating\n2014-07-14,Rincon,5\n", to: "one.csv")
    #expect(try journal.run(["import", "one.csv", "--store", "STORE", "-q"]).status == 0)
  }

  /// Adds entries with gaps between their keys and values that are missing.
  private func fill(_ count: Int) throws {
    _ = try journal.psql(
      """
      INSERT INTO "ZJOURNALENTRY"("Z_PK", "Z_ENT", "Z_OPT", "ZDATE", "ZLOCATION", "ZRATING", "ZHEIGHT")
      SELECT 1000 + n * 4 + n % 3 + n / 700 * 1000000, 1, 1, n * 86400.5,
        CASE WHEN n % 7 = 0 THEN NULL WHEN n % 11 = 0 THEN 'a, "b"' || chr(10) || n ELSE 'Plätze ' || n END,
        CASE WHEN n % 5 = 0 THEN NULL ELSE n % 5 END, CASE WHEN n % 3 = 0 THEN NULL ELSE 'h' || n END
      FROM generate_series(1, \(count)) n
      """)
  }

  private func export(_ arguments: [String], readers: Int? = nil, store: String? = nil) throws -> ProgramOutput {
    let number = readers.map { ["--readers", "\($0)"] } ?? []
    return try journal.run(["export", "STORE"] + arguments + number, store: store)
  }

  // MARK: The same bytes

  private static let requests: [[String]] = [
    [], ["--where", "rating >= 3"], ["--where", "location MATCHES 'P.*7'"], ["--where", "rating == 77"],
    ["--limit", "17"], ["--limit", "0"], ["--format", "jsonl"], ["--columns", "location,date", "--guard-formulas"],
    ["--limit", "30", "--where", "location == nil"],
  ]

  @Test(arguments: [0, 1, 999, 25_000])
  func `Any number of readers writes the bytes that one writes`(_ count: Int) throws {
    if count == 0 { _ = try journal.psql("DELETE FROM \"ZJOURNALENTRY\"") }
    if count > 1 { try fill(count) }
    for request in Self.requests {
      let one = try export(request)
      #expect(one.status == 0 || one.status == 65, "\(request): \(one.messages)")
      for readers in [1, 2, 5] {
        let several = try export(request, readers: readers)
        #expect(several.status == one.status, "\(request): \(several.messages)")
        #expect(several.bytes == one.bytes, "\(request), \(readers) readers")
      }
    }
    let all = try export([]).text.split(separator: "\n").count
    #expect(count == 0 ? all == 1 : all > count)
  }

  @Test func `Files are the same too: compressed, cut by rows, and with their hashes`() throws {
    try fill(30_000)
    for (name, arguments) in [
      ("a.csv.gz", ["--hash"]), ("a-{part}.csv", ["--split-rows", "7001", "--hash"]), ("a.jsonl", []),
    ] {
      var found: [[String: Data]] = []
      for readers in [1, 3] {
        try folder.makeFolder("out\(readers)")
        let output = try export(["-o", "out\(readers)/\(name)", "-q"] + arguments, readers: readers)
        #expect(output.status == 0, "\(output.messages)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("out\(readers)"))
        found.append(try Dictionary(uniqueKeysWithValues: names.map { ($0, try folder.data("out\(readers)/\($0)")) }))
        try FileManager.default.removeItem(at: folder.file("out\(readers)"))
      }
      #expect(found[0] == found[1] && !found[0].isEmpty, "\(name)")
    }
  }

  @Test func `Entries that can't be written are reported in the same order`() throws {
    try fill(20_000)
    let arguments = ["--dialect", "journal-app", "--json", "-o", "a.csv"]
    let issues = try [1, 4].map { try export(arguments, readers: $0).json().issues }
    #expect(issues[0].errors == issues[1].errors && issues[0].listed == issues[1].listed)
    #expect(issues[0].errors > 0)
  }

  @Test(.enabled(if: ConnectionPooler.isThere, "pgbouncer is not installed"))
  func `Through a pooler in transaction mode it is the same`() throws {
    let server = try #require(PostgreSQLServer.shared, serverComment)
    let pooler = try ConnectionPooler(
      before: server, database: "e\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())")
    let address = try #require(pooler.address).absoluteString
    try folder.write(
      "date,location,rating\n" + (1...3000).map { "2020-01-02,P\($0),\($0 % 5 + 1)\n" }.joined(), to: "log.csv")
    #expect(try journal.run(["import", "log.csv", "--store", address, "-q"]).status == 0)
    try folder.write(
      #"{"name": "small", "chunkRows": 100, "columns": [{"name": "date"}], "export": {"columns": ["date", "location", "rating"]}}"#,
      to: "small.json")
    let one = try export(["--pipeline", "small.json"], store: address)
    #expect(one.status == 0 && one.text.contains(",P3000,"), "\(one.messages)")
    // The pooler has three connections to the server.
    for readers in [2, 8] {
      let several = try export(["--pipeline", "small.json"], readers: readers, store: address)
      #expect(several.status == 0 && several.bytes == one.bytes, "\(several.messages)")
    }
  }

  // MARK: One state

  /// Runs a script with psql again and again, until the body has ended.
  private func repeating(_ statements: String, _ body: () throws -> Void) throws {
    try folder.write("SET search_path = \(journal.schema);\n" + statements, to: "repeated.sql")
    try folder.write("", to: "goes-on")
    let server = try #require(PostgreSQLServer.shared, serverComment)
    let loop = Programs.process(
      "/bin/sh", ["-c", "while test -e goes-on; do psql -X -q -f repeated.sql || exit 1; done"], in: folder,
      environment: server.environment)
    try loop.start()
    defer {
      try? FileManager.default.removeItem(at: folder.file("goes-on"))
      loop.waitUntilExit()
      #expect(loop.terminationStatus == 0)
    }
    try body()
  }

  @Test func `While others insert, delete and move entries, the export has one state`() throws {
    _ = try journal.psql("DELETE FROM \"ZJOURNALENTRY\"")
    _ = try journal.psql(
      """
      INSERT INTO "ZJOURNALENTRY"("Z_PK", "Z_ENT", "Z_OPT", "ZDATE", "ZLOCATION", "ZRATING")
      SELECT n * 10, 1, 1, n, 'P' || n, 3 FROM generate_series(1, 40000) n
      """)
    // Each transaction keeps the places as they are, but not their keys; and the extra entries are there in pairs.
    let statements = """
      BEGIN;
      UPDATE "ZJOURNALENTRY" e SET "Z_PK" = CASE WHEN e."Z_PK" > 500000 THEN e."Z_PK" - 500000 ELSE e."Z_PK" + 500000 END
      FROM (SELECT "Z_PK" AS key FROM "ZJOURNALENTRY" WHERE "Z_PK" % 10 = 0 ORDER BY random() LIMIT 3000) moved
      WHERE e."Z_PK" = moved.key;
      DELETE FROM "ZJOURNALENTRY" WHERE "Z_PK" % 10 <> 0;
      INSERT INTO "ZJOURNALENTRY"("Z_PK", "Z_ENT", "Z_OPT", "ZDATE", "ZLOCATION", "ZRATING")
      SELECT k, 1, 1, 1, 'extra', 1 FROM (SELECT (random() * 40000)::bigint * 10 + 1 AS low) r, LATERAL
      (VALUES (low), (low + 500000)) pair(k);
      COMMIT;
      """
    var states: Set<String> = []
    try repeating(statements) {
      for _ in 0..<TestLength.rounds(4, long: 30) {
        let output = try export(["--columns", "location"], readers: 3)
        #expect(output.status == 0, "\(output.messages)")
        let places = output.text.split(separator: "\n").dropFirst()
        let (extra, others) = (places.filter { $0 == "extra" }.count, places.filter { $0 != "extra" })
        #expect(extra == 0 || extra == 2)
        #expect(others.count == 40_000 && Set(others).count == 40_000)
        states.insert(output.text)
      }
    }
    #expect(states.count > 1, "the store has not changed meanwhile")
  }

  @Test func `A connection that leads to another state ends the export without a file`() throws {
    try fill(20_000)
    let server = try #require(PostgreSQLServer.shared, serverComment)
    let cutter = try ConnectionCutter(before: server)
    defer { cutter.stop() }
    let direct = try #require(URL(string: journal.address))
    let address = try #require(cutter.address(instead: direct)).absoluteString
    #expect(try export(["-o", "out.csv", "-q"], readers: 3, store: address).status == 0)
    try FileManager.default.removeItem(at: folder.file("out.csv"))
    let statement = "SET TRANSACTION SNAPSHOT"
    cutter.replace(statement, by: "SELECT".padding(toLength: statement.count, withPad: " ", startingAt: 0))
    var refusals = 0
    try repeating(#"UPDATE "ZJOURNALENTRY" SET "ZRATING" = 1 WHERE "Z_PK" = 1;"#) {
      // No transaction may have begun or ended between the two connections.
      for _ in 0..<20 where refusals == 0 {
        let output = try export(["-o", "out.csv", "-q"], readers: 3, store: address)
        guard output.status != 0 else {
          try FileManager.default.removeItem(at: folder.file("out.csv"))
          continue
        }
        refusals += 1
        #expect(output.status == 69 && output.messages.contains("sees other rows"), "\(output.messages)")
        #expect(output.messages.contains("Leave --readers out"))
      }
    }
    #expect(refusals == 1 && cutter.replacementCount > 0)
    #expect(try folder.names.filter { $0.contains("out.csv") } == [])
  }

  // MARK: Failures

  /// Starts an export and waits until so many of its connections have the state.
  private func started(
    _ arguments: [String], connections: Int, state: String
  ) throws -> (process: ChildProcess, output: Pipe, messages: Pipe) {
    let process = Programs.process(Tool.url.path, ["export", journal.address] + arguments, in: folder)
    let (output, messages) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, messages)
    process.standardInput = FileHandle.nullDevice
    try process.start()
    for _ in 0..<2000 {
      if try journal.psql("SELECT count(*) FROM pg_stat_activity WHERE \(isExport) AND \(state)") == "\(connections)" {
        return (process, output, messages)
      }
      try #require(process.isRunning, "\(String(decoding: messages.fileHandleForReading.availableData, as: UTF8.self))")
      usleep(5000)
    }
    kill(process.processIdentifier, SIGKILL)
    throw ProgramFailure(description: "there are no \(connections) connections with \(state)")
  }

  private var isExport: String { "pid <> pg_backend_pid() AND application_name = '\(journal.schema)'" }

  private func end(
    _ started: (process: ChildProcess, output: Pipe, messages: Pipe)
  ) -> (status: Int32, messages: String) {
    let drain = started.output.fileHandleForReading
    while !drain.availableData.isEmpty {}
    let messages = String(decoding: started.messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return (started.process.terminationStatus, messages)
  }

  @Test func `A process of the server that is ended while it cuts ranges ends the export, and no file is left`() throws
  {
    try fill(20_000)
    // The first connection, which cuts the ranges, waits for the lock.
    let lock = Programs.process(
      "/usr/bin/env", ["psql", "-X", "-q", "-A", "-t"], in: folder,
      environment: try #require(PostgreSQLServer.shared, serverComment).environment)
    let input = Pipe()
    (lock.standardInput, lock.standardOutput) = (input, FileHandle.nullDevice)
    try lock.start()
    defer { lock.waitUntilExit() }
    let table = "\(journal.schema).\"ZJOURNALENTRY\""
    input.fileHandleForWriting.write(Data("BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE;\n".utf8))
    for _ in 0..<500 {
      let isLocked = try journal.psql(
        "SELECT count(*) FROM pg_locks WHERE relation = '\(table)'::regclass AND mode = 'AccessExclusiveLock'")
      if isLocked == "1" { break }
      usleep(10_000)
    }
    let export = try started(
      ["-o", "out.csv", "--readers", "3", "-q"], connections: 1, state: "wait_event_type = 'Lock'")
    let ended = try journal.psql(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE \(isExport) AND wait_event_type = 'Lock'")
    #expect(ended == "1")
    try input.fileHandleForWriting.close()
    let (status, messages) = end(export)
    #expect(status == 69, "\(messages)")
    #expect(messages.contains("terminating connection"), "\(messages)")
    #expect(try folder.names.filter { $0.contains("out") } == [])
  }

  @Test func `A reader that is ended while its rows are written ends the export`() throws {
    try fill(80_000)
    let export = try started(["--readers", "2"], connections: 3, state: "state = 'idle in transaction'")
    #expect(
      try journal.psql(
        "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE \(isExport) "
          + "AND query LIKE '%ocd_range%' LIMIT 1) one") == "1")
    let (status, messages) = end(export)
    #expect(status == 69 && messages.contains("terminating connection"), "\(messages)")
  }

  @Test func `Its connections bear the name that the address gives, and one transaction each`() throws {
    try fill(80_000)
    let export = try started(["--readers", "4"], connections: 5, state: "state = 'idle in transaction'")
    #expect(try journal.psql("SELECT count(*) FROM pg_stat_activity WHERE \(isExport)") == "6")
    #expect(end(export).status == 0)
    #expect(try journal.psql("SELECT count(*) FROM pg_stat_activity WHERE \(isExport)") == "0")
  }

  @Test(arguments: [1, 3])
  func `A signal ends it as one with one reader`(_ readers: Int) throws {
    try fill(80_000)
    let idle = readers == 1 ? 1 : readers + 1
    let stopped = try started(
      ["--readers", "\(readers)"], connections: idle, state: "state = 'idle in transaction'")
    kill(stopped.process.processIdentifier, SIGTERM)
    #expect(end(stopped).status == 75)
    let cut = try Tool.shell(
      "\"$surfjournal\" export '\(journal.address)' --readers \(readers) -q | head -1; exit ${PIPESTATUS[0]}",
      in: folder)
    #expect(cut.status == 74, "\(cut.messages)")
    #expect(cut.text.split(separator: "\n").count == 1)
  }

  // MARK: Refusals

  @Test func `What several readers can't do is refused with the reason`() throws {
    #expect(try journal.run(["import", "one.csv", "--store", "s", "-q"]).status == 0)
    for (arguments, store, reason) in [
      ([], "s", "are for a store on a server"), (["--sort", "rating"], nil, "these are sorted by rating"),
      (["--split-month", "date"], nil, "months are written in the order of date"),
    ] as [([String], String?, String)] {
      let refused = try export(arguments + ["-o", "out.csv"], readers: 2, store: store)
      #expect(refused.status == 64 && refused.messages.contains(reason), "\(refused.messages)")
      #expect(refused.messages.contains("--readers: "), "\(refused.messages)")
      #expect(try export(arguments + ["-o", "out.csv", "-q"], readers: 1, store: store).status == 0)
    }
    for number in ["0", "-1", "65", "many"] {
      let refused = try journal.run(["export", "STORE", "--readers=\(number)"])
      #expect(refused.status == 64 && refused.messages.contains("--readers"), "\(refused.messages)")
    }
    let all = try journal.run(["export", "STORE", "--all-entities", "-o", "folder", "--readers", "2"])
    #expect(all.status == 64 && all.messages.contains("--readers"), "\(all.messages)")
  }

  @Test func `A server that shares no snapshot is named, with what to do`() throws {
    let server = try #require(PostgreSQLServer.shared, serverComment)
    let database = "x\(journal.schema)"
    _ = try server.psql("CREATE DATABASE \(database) ENCODING 'UTF8' TEMPLATE template0")
    let address = try #require(server.address(database: database)).absoluteString
    #expect(try journal.run(["import", "one.csv", "--store", address, "-q"]).status == 0)
    try Programs.output(
      of: [
        "psql", "-X", "-q", "-h", server.socketFolder, "-U", "tests", "-d", database, "-c",
        "ALTER FUNCTION pg_catalog.pg_export_snapshot() RENAME TO pg_export_no_snapshot",
      ])
    let refused = try export(["-o", "out.csv"], readers: 2, store: address)
    #expect(refused.status == 69, "\(refused.messages)")
    #expect(refused.messages.contains("over several connections that see the same rows"), "\(refused.messages)")
    #expect(refused.messages.contains("Leave --readers out"), "\(refused.messages)")
    #expect(try folder.names.filter { $0.contains("out") } == [])
    #expect(try export(["-o", "out.csv", "-q"], store: address).status == 0)
  }
}
