import Foundation
import TestSupport
import Testing

/// Imports into PostgreSQL whose columns lead to related objects, also while other programs change these.
@Suite(.seeded, .enabled(if: PostgreSQLServer.isThere, serverComment)) struct ServerLinkTests {
  private let journal: ServerJournal
  private var folder: TemporaryFolder { journal.folder }
  init() throws {
    journal = try ServerJournal()
    try LinkedSample.prepare(folder)
  }

  @Test func `A linked import has the objects and links that the file names, and a dry run counts them`() throws {
    try Programs.python(LinkedSample.makeLog, "log.csv", "300", in: folder)
    try folder.write(LinkedSample.pipeline(chunkRows: 23), to: "p.json")
    let command = ["log.csv", "--pipeline", "p.json", "--store", "STORE", "--json"]
    let first = try journal.run(["validate"] + command)
    let output = try journal.run(["import"] + command)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try LinkedCounts(output) == LinkedCounts(first))
    #expect(try LinkedCounts(output).links == Programs.python(LinkedSample.expectedCounts, "log.csv", in: folder))
    #expect(try journal.run(["copy", "STORE", "back.sqlite", "--model", "Surfing.xcdatamodeld"]).status == 0)
    #expect(
      try LinkedSample.graph(of: "back.sqlite", in: folder)
        == Programs.python(LinkedSample.expected, "log.csv", in: folder))
    // Now the objects are there, and a dry run copies them and the ledger.
    try folder.write("date,spot,country,boards,rating\n2190-01-01,Rincon,US,Fish;Twin,3\n", to: "more.csv")
    let more = ["log.csv", "more.csv", "--pipeline", "p.json", "--store", "STORE", "--json"]
    let dry = try journal.run(["validate"] + more)
    let real = try journal.run(["import"] + more)
    #expect(dry.status == 0 && real.status == 0, "\(dry.messages)\(real.messages)")
    #expect(try LinkedCounts(real) == LinkedCounts(dry))
    #expect(try journal.psql("SELECT count(*) FROM \"ZSESSION\"") == "301")
    #expect(try journal.run(["undo", "STORE", "--model", "Surfing.xcdatamodeld", "--yes"]).status == 0)
    #expect(try journal.psql("SELECT count(*) FROM \"ZSESSION\"") == "300")
  }

  /// The dry run imports into a file, which keeps NUL characters.
  @Test func `A link whose text has a NUL character is refused by a dry run as by an import`() throws {
    try folder.write(LinkedSample.pipeline(chunkRows: 23), to: "p.json")
    try folder.write(
      #"{"date": "2190-01-01", "spot": "a\u0000b", "rating": 3}"# + "\n"
        + #"{"date": "2190-01-02", "spot": "c", "boards": "Fish;T\u0000in", "rating": 3}"# + "\n"
        + #"{"date": "2190-01-03", "spot": "c", "rating": 3}"# + "\n", to: "nul.jsonl")
    for command in ["validate", "import"] {
      let output = try journal.run([command, "nul.jsonl", "--pipeline", "p.json", "--store", "STORE", "--json"])
      #expect(output.status == 65, "\(command): \(output.messages)")
      #expect(output.text.contains(#""inserted" : 1,"#), "\(command): \(output.text)")
    }
    #expect(try journal.psql("SELECT count(*) FROM \"ZSESSION\"") == "1")
  }

  @Test func `What other programs make, rename and delete meanwhile is seen by the next chunk`() throws {
    try folder.write(LinkedSample.pipeline(chunkRows: 500), to: "p.json")
    let (process, input, messages) = try journal.start(["import", "-", "--pipeline", "p.json", "--store", "STORE"])
    func send(_ range: Range<Int>, _ spot: (Int) -> String) {
      input.write(
        Data(
          range.map { "20\(10 + $0 / 336 % 80)-\(10 + $0 / 28 % 3)-\(10 + $0 % 19),\(spot($0)),,,3\n" }.joined().utf8))
    }
    input.write(Data("date,spot,country,boards,rating\n".utf8))
    send(0..<20_000) { "Spot \($0 % 3)" }
    for _ in 0..<1000 where ((try? journal.psql("SELECT count(*) FROM \"ZSESSION\"")).flatMap(Int.init) ?? 0) < 1000 {
      usleep(10_000)
    }
    _ = try journal.psql(
      """
      UPDATE "ZSPOT" SET "ZNAME" = 'Renamed' WHERE "ZNAME" = 'Spot 1';
      INSERT INTO "ZSPOT" ("Z_PK", "Z_ENT", "Z_OPT", "ZNAME") SELECT 9000000, "Z_ENT", 1, 'Made' FROM "ZSPOT" LIMIT 1;
      """)
    send(20_000..<40_000) { $0 < 39_000 ? "Spot \($0 % 3)" : "Made" }
    try input.close()
    process.waitUntilExit()
    #expect(
      process.terminationStatus == 0,
      "\(String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))")
    #expect(
      try journal.psql("SELECT \"ZNAME\", count(*) FROM \"ZSPOT\" GROUP BY 1 ORDER BY 1")
        == "Made|1\nRenamed|1\nSpot 0|1\nSpot 1|1\nSpot 2|1")
    #expect(
      try journal.psql(
        "SELECT count(*) FROM \"ZSESSION\" s JOIN \"ZSPOT\" p ON p.\"Z_PK\" = s.\"ZSPOT\" WHERE p.\"Z_PK\" = 9000000")
        == "1000")
    #expect(try journal.psql("SELECT count(*) FROM \"ZSESSION\" WHERE \"ZSPOT\" IS NULL") == "0")
    #expect(try journal.psql("SELECT count(*) FROM \"ZSESSION\"") == "40000")
  }
}
