import Foundation
import TestSupport
import Testing

/// Imports whose columns lead to related entities, against what the inputs say, read by Python.
@Suite(.seeded) struct LinkedImportTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String, of store: String = "s.sqlite") throws -> String {
    try Programs.sqlite(store, query, in: folder)
  }

  @Test func `A linked import has the objects and links that the file names, in chunks of any size`() throws {
    try Programs.python(LinkedSample.makeLog, "log.csv", "400", in: folder)
    for (number, chunkRows) in [1, 7, 400, 5000].enumerated() {
      try folder.write(LinkedSample.pipeline(chunkRows: chunkRows), to: "p.json")
      let store = "s\(number).sqlite"
      let dry = try Tool.run("validate", "log.csv", "--pipeline", "p.json", "--store", store, "--json", in: folder)
      let output = try Tool.run("import", "log.csv", "--pipeline", "p.json", "--store", store, "--json", in: folder)
      #expect(output.status == 0, "\(output.messages)")
      let expected = try Programs.python(LinkedSample.expected, "log.csv", in: folder)
      #expect(try LinkedSample.graph(of: store, in: folder) == expected, "chunks of \(chunkRows)")
      #expect(try LinkedCounts(output) == LinkedCounts(dry))
      #expect(try LinkedCounts(output).links == Programs.python(LinkedSample.expectedCounts, "log.csv", in: folder))
      #expect(try Tool.run("verify", store, in: folder).status == 0)
    }
  }

  @Test func `What the store has is found and keeps its values, and a second input creates only what is new`() throws {
    try folder.write(LinkedSample.pipeline(chunkRows: 2), to: "p.json")
    try folder.write("date,spot,country\n2024-01-01,Rincon,US\n2024-01-02,Bells,AU\n", to: "a.csv")
    try folder.write("date,spot,country\n2024-02-01,Rincon,PR\n2024-02-02,Jeffreys,\n2024-02-03,,\n", to: "b.csv")
    for file in ["a.csv", "b.csv"] {
      #expect(try Tool.run("import", file, "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    }
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY Z_PK") == "Rincon|US\nBells|AU\nJeffreys|\n")
    #expect(try rows("SELECT ZSPOT FROM ZSESSION ORDER BY Z_PK") == "1\n2\n1\n3\n\n")
    // The version of a spot counts each save that links to it.
    #expect(try rows("SELECT Z_OPT FROM ZSPOT ORDER BY Z_PK") == "2\n1\n1\n")
  }

  @Test func `A missing object rejects the record or is left out, and one of several is never chosen`() throws {
    try folder.write(LinkedSample.pipeline(), to: "p.json")
    try folder.write("date,spot\n2024-01-01,Rincon\n", to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    try folder.write("date,spot\n2024-02-01,Rincon\n2024-02-02,Nowhere\n", to: "b.csv")
    try folder.write(LinkedSample.pipeline(ifMissing: "reject"), to: "reject.json")
    let refused = try Tool.run(
      "import", "b.csv", "--pipeline", "reject.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(refused.status == 65)
    let issue = try #require(try refused.json().issues.listed.first { $0.code == "missing-object" })
    #expect((issue.record, issue.line, issue.byte, issue.column) == (2, 3, 28, "spot"))
    #expect(issue.message.contains("no Spot with name Nowhere"))
    try folder.write("date,spot\n2024-02-01,Nowhere\n2024-02-02,Rincon\n", to: "c.csv")
    try folder.write(LinkedSample.pipeline(ifMissing: "leave"), to: "leave.json")
    let left = try Tool.run("import", "c.csv", "--pipeline", "leave.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(left.status == 0, "\(left.messages)")
    #expect(try LinkedCounts(left).links == "Spot 0 1 1\n")
    #expect(try rows("SELECT count(*), count(ZSPOT) FROM ZSESSION") == "4|3\n")
    // A second spot of that name: each record that names it is refused.
    _ = try rows("INSERT INTO ZSPOT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (9, 3, 1, 'Rincon')")
    try folder.write("date,spot\n2024-03-01,Rincon\n", to: "d.csv")
    let ambiguous = try Tool.run("import", "d.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(ambiguous.status == 65)
    #expect(try ambiguous.json().issues.counts["ambiguous-object"] == 1)
    #expect(try rows("SELECT count(*) FROM ZSESSION") == "4\n")
  }

  @Test(arguments: ["create", "leave", "reject"])
  func `Records with one key create what each names and lead where the last one says, in chunks of any size`(
    ifMissing: String
  ) throws {
    try folder.write(LinkedSample.pipeline(key: true), to: "p.json")
    try folder.write("date,spot,country,boards\n2023-01-01,Rincon,US,Fish;Log\n2023-01-02,Bells,AU,\n", to: "old.csv")
    let records = [
      "2024-01-01,Rincon,US,Fish", "2024-01-02,Bells,AU,Log", "2024-01-01,Pico,FR,Gun;Log",
      "2024-01-01,Bells,AU,Fish;Fish", "2023-01-01,Bells,,", "2024-01-02,Pico,US,", "2024-01-03,,,Twin",
      "2023-01-01,Teahupoo,,Log", "2024-01-03,Rincon,US,Twin", "2024-01-03,Rincon,US,Twin",
    ]
    // Without another column of the sessions, only where they lead is compared.
    for isBare in [false, true] {
      let lines = records.enumerated().map { isBare ? $1 : "\($1),\($0 % 2 + 1)" }
      try folder.write(
        "date,spot,country,boards\(isBare ? "" : ",rating")\n" + lines.joined(separator: "\n") + "\n", to: "a.csv")
      var results: [String] = []
      for chunkRows in [1, 3, 4, 5000] {
        let store = "\(isBare)-\(chunkRows).sqlite"
        let old = try Tool.run("import", "old.csv", "--pipeline", "p.json", "--store", store, in: folder)
        #expect(old.status == 0, "\(old.messages)")
        let text = LinkedSample.pipeline(chunkRows: chunkRows, ifMissing: ifMissing, key: true)
        try folder.write(
          isBare ? text.replacingOccurrences(of: "\"date\", \"rating\",", with: "\"date\",") : text,
          to: "chunks.json")
        let output = try Tool.run(
          "import", "a.csv", "--pipeline", "chunks.json", "--store", store, "--json", in: folder)
        let objects = try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY Z_PK; SELECT ZNAME FROM ZBOARD", of: store)
        let (counts, links) = (try output.json().counts, try LinkedCounts(output).links)
        results.append("\(try LinkedSample.graph(of: store, in: folder))\(objects)\(links)\(counts)")
      }
      #expect(Set(results).count == 1, "without other columns: \(isBare)")
      let last = "2024-01-03|\(isBare ? "" : "2")|Rincon|US"
      #expect(results[0].contains(last) == (ifMissing != "reject"), "\(results[0])")
      #expect(results[0].contains("Pico|FR") == (ifMissing == "create"), "\(results[0])")
    }
  }

  @Test func `An update that names an unknown object removes no link`() throws {
    try folder.write(LinkedSample.pipeline(key: true), to: "p.json")
    try folder.write("date,spot,boards\n2024-01-01,Rincon,Fish\n2024-01-02,Bells,Log\n", to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    try folder.write(LinkedSample.pipeline(ifMissing: "leave", key: true), to: "leave.json")
    try folder.write(
      "date,spot,boards,rating\n2024-01-01,Rincn,Fish;Lgo,4\n2024-01-02,Rincon,Fish,\n", to: "b.csv")
    let dryRun = try Tool.run(
      "validate", "b.csv", "--pipeline", "leave.json", "--store", "s.sqlite", "--json", in: folder)
    let output = try Tool.run(
      "import", "b.csv", "--pipeline", "leave.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try LinkedCounts(output).links == LinkedCounts(dryRun).links)
    #expect(try LinkedCounts(output).links == "Board 0 1 1\nSpot 0 1 1\n")
    #expect(try rows("SELECT ZRATING, ZSPOT FROM ZSESSION ORDER BY Z_PK") == "4|1\n|1\n")
  }

  @Test func `Keys of several attributes tell objects apart`() throws {
    try folder.write(
      LinkedSample.pipeline(by: ["name", "country"], more: ", \"ifIncomplete\": \"match\""), to: "p.json")
    try folder.write(
      "date,spot,country\n2024-01-01,Rincon,US\n2024-01-02,Rincon,PR\n2024-01-03,Rincon,US\n2024-01-04,Rincon,\n",
      to: "a.csv")
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY Z_PK") == "Rincon|US\nRincon|PR\nRincon|\n")
    #expect(try rows("SELECT ZSPOT FROM ZSESSION ORDER BY Z_PK") == "1\n2\n1\n3\n")
  }

  @Test func `An update moves an entry to another object, and an undo moves it back`() throws {
    try folder.write(LinkedSample.pipeline(key: true), to: "p.json")
    try folder.write("date,spot,boards\n2024-01-01,Rincon,Fish;Log\n2024-01-02,Bells,\n", to: "a.csv")
    try folder.write("date,spot,boards\n2024-01-01,Bells,Log\n2024-01-02,Bells,\n2024-01-03,Bells,Fish\n", to: "b.csv")
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    let before = try LinkedSample.graph(of: "s.sqlite", in: folder)
    let dry = try Tool.run("validate", "b.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--json", in: folder)
    let output = try Tool.run("import", "b.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(try output.json().counts == Summary.Counts(read: 3, inserted: 1, updated: 1, unchanged: 1))
    #expect(try LinkedCounts(dry) == LinkedCounts(output))
    #expect(
      try LinkedSample.graph(of: "s.sqlite", in: folder)
        == "2024-01-01||Bells|\n  Log\n2024-01-02||Bells|\n2024-01-03||Bells|\n  Fish\n")
    try FileManager.default.copyItem(at: folder.file("s.sqlite"), to: folder.file("t.sqlite"))
    let again = try Tool.run(
      "import", "b.csv", "--pipeline", "p.json", "--store", "t.sqlite", "--again", "--json", in: folder)
    #expect(try again.json().counts == Summary.Counts(read: 3, unchanged: 3))
    let undo = try Tool.run("undo", "s.sqlite", "b.csv", "-y", "--model", "Surfing.xcdatamodeld", in: folder)
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try LinkedSample.graph(of: "s.sqlite", in: folder) == before)
    #expect(try Tool.run("verify", "s.sqlite", in: folder).status == 0)
    // What the first import has created stays.
    let rest = try Tool.run("undo", "s.sqlite", "a.csv", "-y", "--model", "Surfing.xcdatamodeld", in: folder)
    #expect(rest.text.contains("2 Spot that it created stay") && rest.text.contains("2 Board"), "\(rest.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT UNION ALL SELECT count(*) FROM ZSESSION") == "2\n0\n")
  }

  @Test func `A changed file without a key is refused, and the advice works`() throws {
    try folder.write(LinkedSample.pipeline(), to: "p.json")
    try folder.write("date,spot\n2024-01-01,Rincon\n2024-01-02,Bells\n", to: "a.csv")
    let command = ["import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite"]
    func run(_ options: String...) throws -> ProgramOutput {
      try Programs.run(Tool.url.path, command + options, in: folder)
    }
    #expect(try run().status == 0)
    try folder.write("date,spot\n2024-01-01,Rincon\n2024-01-03,Bells\n", to: "a.csv")
    let refused = try run()
    #expect(
      refused.status == 65 && refused.messages.contains("with --replace, add only the records"), "\(refused.messages)")
    try FileManager.default.copyItem(at: folder.file("s.sqlite"), to: folder.file("t.sqlite"))
    let replacing = try Tool.run(
      "import", "a.csv", "--pipeline", "p.json", "--store", "t.sqlite", "--replace", in: folder)
    #expect(replacing.status == 0, "\(replacing.messages)")
    #expect(
      try LinkedSample.graph(of: "t.sqlite", in: folder) == "2024-01-01||Rincon|\n2024-01-03||Bells|\n")
    let undo = try Tool.run("undo", "s.sqlite", "-y", "--model", "Surfing.xcdatamodeld", in: folder)
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try run().status == 0)
    #expect(
      try LinkedSample.graph(of: "s.sqlite", in: folder) == "2024-01-01||Rincon|\n2024-01-03||Bells|\n")
    #expect(try rows("SELECT count(*) FROM ZSPOT") == "2\n")
  }

  @Test func `Corrected rejects are replayed and linked`() throws {
    try folder.write(LinkedSample.pipeline(ifMissing: "reject"), to: "p.json")
    try folder.write("name,country\nRincon,US\n", to: "spots.csv")
    let spots = try Tool.run(
      "import", "spots.csv", "--entity", "Spot", "--model", "Surfing.xcdatamodeld", "--store", "s.sqlite", in: folder)
    #expect(spots.status == 0, "\(spots.messages)")
    try folder.write("date,spot\n2024-01-01,Rincon\n2024-01-02,Rincno\n", to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 65)
    let rejects = try folder.text("a.csv.rejects.csv")
    #expect(rejects == "date,spot\n2024-01-02,Rincno\n")
    try folder.write(rejects.replacingOccurrences(of: "Rincno", with: "Rincon"), to: "a.csv.rejects.csv")
    let replay = try Tool.run("replay", "a.csv.rejects.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder)
    #expect(replay.status == 0, "\(replay.messages)\(replay.text)")
    #expect(try rows("SELECT group_concat(ZSPOT) FROM ZSESSION") == "1,1\n")
  }

  @Test func `Objects that another program adds during the import are found`() throws {
    try folder.write(LinkedSample.pipeline(chunkRows: 2), to: "p.json")
    try folder.write("date,spot,country\n2024-01-01,Rincon,US\n2024-01-02,Pico,PE\n", to: "a.csv")
    try folder.write("date,spot,country\n2024-01-03,Bells,AU\n2024-01-04,Rincon,\n2024-01-05,Bells,\n", to: "rest.csv")
    // The other program writes when the first input is in the store, and the second one comes after that.
    let output = try Tool.shell(
      """
      mkfifo b.csv
      {
        for try in $(seq 500); do
          [ "$(sqlite3 s.sqlite 'SELECT count(*) FROM ZSESSION' 2>&1)" = 2 ] && break
          sleep 0.02
        done
        sqlite3 -cmd '.timeout 9000' s.sqlite "BEGIN IMMEDIATE;
          INSERT INTO ZSPOT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOUNTRY)
            SELECT Z_MAX + 1, Z_ENT, 1, 'Bells', 'XX' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Spot';
          UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Spot'; COMMIT" > /dev/null
        cat rest.csv > b.csv
      } &
      "$surfjournal" import a.csv b.csv --pipeline p.json --store s.sqlite --json
      """, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try LinkedCounts(output).links == "Spot 2 5 0\n")
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY Z_PK") == "Rincon|US\nPico|PE\nBells|XX\n")
    #expect(try rows("SELECT ZSPOT FROM ZSESSION ORDER BY Z_PK") == "1\n2\n3\n1\n3\n")
  }
}
