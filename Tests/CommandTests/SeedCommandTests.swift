import Foundation
import TestSupport
import Testing

/// `seed`: a store that an app can ship. Three files that belong together or one that is the same byte for byte, whole
/// or not at all, without a trace of the import.
@Suite struct SeedCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
  }

  private func seed(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, ["seed"] + arguments, in: folder)
  }

  private func sqlite(_ store: String, _ query: String) throws -> String {
    try Programs.sqlite(store, query, in: folder).trimmingCharacters(in: .newlines)
  }

  @Test func `Three files belong together, and no ledger is left`() throws {
    let output = try seed("--from", "log.csv", "--output", "Seed.sqlite")
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    #expect(output.text.contains("seed        3 files, UUID "))
    #expect(try folder.names == ["Seed.sqlite", "Seed.sqlite-shm", "Seed.sqlite-wal", "log.csv"])
    let seen = try Tool.run("inspect", "Seed.sqlite", "--json", in: folder).text
    for line in [#""journalMode" : "wal""#, #""others" : [\#n\#n  ]"#, #""remarks" : [\#n\#n  ]"#] {
      #expect(seen.contains(line), "\(seen)")
    }
    #expect(seen.components(separatedBy: #""state" : "valid""#).count == 3, "the log and the shared memory: \(seen)")
    #expect(try Tool.run("verify", "Seed.sqlite", in: folder).text.hasPrefix("Seed.sqlite: nothing is wrong with "))
    #expect(try Tool.run("history", "Seed.sqlite", in: folder).text.contains("has no ledger"))
    let hashes = try folder.hashes(["Seed.sqlite", "Seed.sqlite-shm", "Seed.sqlite-wal"])
    #expect(try Tool.run("export", "--store", "Seed.sqlite", "-o", "out.csv", "-q", in: folder).status == 0)
    #expect(try folder.hashes(["Seed.sqlite", "Seed.sqlite-shm", "Seed.sqlite-wal"]) == hashes)
    #expect(try folder.text("out.csv").split(separator: "\n").count == 3)
    let uuid = try sqlite("Seed.sqlite", "SELECT Z_UUID FROM Z_METADATA")
    #expect(output.text.contains(uuid))
    #expect(try sqlite("Seed.sqlite", "SELECT name FROM sqlite_master WHERE name LIKE 'SJ%'").isEmpty)
  }

  @Test func `Large values stay in the rows of a seed, and files go with the store that it replaces`() throws {
    try SurfModel.write(to: folder)
    let photo = Data(repeating: 7, count: 140_000).base64EncodedString()
    try folder.write("rating,photo\n3,\(photo)\n", to: "photos.csv")
    let model = ["--entity", "Session", "--model", SurfModel.name, "-q"]
    let first = try Programs.run(
      Tool.url.path, ["import", "photos.csv", "--store", "Seed.sqlite"] + model, in: folder)
    #expect(first.status == 0 && folder.exists(".Seed_SUPPORT"), "\(first.messages)")
    for name in ["Seed.sqlite", "Other.sqlite"] {
      let made = try Programs.run(
        Tool.url.path, ["seed", "--from", "photos.csv", "-o", name, "--single-file", "--force"] + model, in: folder)
      #expect(made.status == 0, "\(made.messages)")
      #expect(try sqlite(name, "SELECT hex(substr(ZPHOTO, 1, 3)), length(ZPHOTO) FROM ZSESSION") == "010707|140001")
    }
    #expect(try folder.data("Seed.sqlite") == folder.data("Other.sqlite"))
    #expect(!folder.exists(".Seed_SUPPORT") && !folder.exists(".Other_SUPPORT"))
  }

  @Test func `One file is the same, whenever and wherever it is made, of plain and packed input`() throws {
    try Logs.write(records: 5000, to: "log.csv", in: folder)
    #expect(try seed("--from", "log.csv", "-o", "a.sqlite", "--single-file", "-q").status == 0)
    try folder.makeFolder("other")
    let script = """
      sleep 1.1 && gzip -c log.csv > other/packed.csv.gz && cd other \
      && "$surfjournal" seed --from packed.csv.gz -o b.sqlite --single-file --chunk-rows 70 -q && cmp ../a.sqlite b.sqlite
      """
    let second = try Tool.shell(script, in: folder)
    #expect(second.status == 0, "\(second.text)\(second.messages)")
    #expect(try folder.names == ["a.sqlite", "log.csv", "other"])
    let facts =
      "SELECT (SELECT journal_mode FROM pragma_journal_mode), (SELECT freelist_count FROM pragma_freelist_count), "
      + "(SELECT auto_vacuum FROM pragma_auto_vacuum), (SELECT integrity_check FROM pragma_integrity_check), "
      + "(SELECT count(*) FROM ZJOURNALENTRY), (SELECT Z_MAX FROM Z_PRIMARYKEY)"
    #expect(try sqlite("a.sqlite", facts) == "delete|0|2|ok|5000|5000")
  }

  @Test func `Other content has another UUID, equal content the same in either form, and a given one is kept`() throws {
    try folder.write(Logs.two.replacingOccurrences(of: "Rincon", with: "Trestles"), to: "other.csv")
    let given = "00112233-4455-6677-8899-AABBCCDDEEFF"
    for arguments in [
      ["log.csv", "-o", "a", "--single-file"], ["log.csv", "-o", "b"], ["other.csv", "-o", "c", "--single-file"],
      ["log.csv", "-o", "d", "--uuid", given], ["log.csv", "-o", "e", "--single-file", "--uuid", given.lowercased()],
    ] {
      let output = try Programs.run(Tool.url.path, ["seed", "-q", "--from"] + arguments, in: folder)
      #expect(output.status == 0, "\(output.messages)")
    }
    let uuids = try ["a", "b", "c", "d", "e"].map { try sqlite($0, "SELECT Z_UUID FROM Z_METADATA") }
    #expect(uuids[0] == uuids[1] && uuids[0] != uuids[2])
    #expect(uuids[0].wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/) != nil)
    #expect(uuids[3] == given && uuids[4] == given)
  }

  @Test(arguments: ["Seed.sqlite", "Seed.sqlite-wal", "Seed.sqlite-shm"])
  func `What is there is not written over, unless it is to be`(_ name: String) throws {
    try folder.write("mine", to: name)
    let refused = try seed("--from", "log.csv", "-o", "Seed.sqlite")
    #expect(refused.status == 73)
    #expect(refused.messages.contains("exists already"), "\(refused.messages)")
    #expect(try folder.text(name) == "mine")
    #expect(try folder.names == [name, "log.csv"])
    #expect(try seed("--from", "log.csv", "-o", "Seed.sqlite", "--force", "-q").status == 0)
    #expect(try sqlite("Seed.sqlite", "SELECT count(*) FROM ZJOURNALENTRY") == "2")
  }

  @Test(arguments: [[], ["--single-file"]], [[], ["--single-file"]])
  func `A seed takes the place of another in every form`(_ first: [String], _ second: [String]) throws {
    try folder.write(Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n", to: "one.csv")
    let base = ["seed", "-q", "-o", "Seed.sqlite", "--from"]
    #expect(try Programs.run(Tool.url.path, base + ["log.csv"] + first, in: folder).status == 0)
    #expect(try Programs.run(Tool.url.path, base + ["one.csv", "--force"] + second, in: folder).status == 0)
    let files = ["Seed.sqlite"] + (second.isEmpty ? ["Seed.sqlite-shm", "Seed.sqlite-wal"] : [])
    #expect(try folder.names == files + ["log.csv", "one.csv"])
    #expect(try Tool.run("verify", "Seed.sqlite", in: folder).status == 0)
    #expect(try sqlite("Seed.sqlite", "SELECT count(*) FROM ZJOURNALENTRY; PRAGMA integrity_check") == "1\nok")
  }

  @Test func `Rejected records are missing in the seed, which says so with status 65`() throws {
    try folder.write(Logs.two + "never,,,,,\n", to: "log.csv")
    let output = try seed("--from", "log.csv", "-o", "Seed.sqlite", "--single-file")
    #expect(output.status == 65)
    #expect(output.text.contains("the seed lacks the 1 record that was rejected"), "\(output.text)")
    #expect(output.text.contains("make the seed again"))
    #expect(try folder.names == ["Seed.sqlite", "log.csv", "log.csv.rejects.csv", "log.csv.rejects.csv.jsonl"])
    #expect(try !folder.text("log.csv.rejects.csv.jsonl").contains("seeding"))
    #expect(try sqlite("Seed.sqlite", "SELECT count(*) FROM ZJOURNALENTRY") == "2")
  }

  private static let failures: [([String], Int32)] = [
    (["--from", "bad.csv", "--stop-on-error"], 65), (["--from", "bad.csv", "--max-errors", "0"], 65),
    (["--from", "none.csv"], 66), (["--from", "log.csv", "--model", "none.momd"], 66),
    (["--from", "log.csv", "--report", "no/report.json"], 73), (["--from", "log.csv", "-o", "no/Seed.sqlite"], 73),
    (["--from", "log.csv", "-o", "-"], 64), (["--from", "log.csv", "--uuid", "12"], 64),
    (["--from", "log.csv", "extra"], 66), ([], 64),
  ]

  @Test(arguments: failures)
  func `Where there is to be no seed nothing is left`(_ arguments: [String], _ status: Int32) throws {
    try folder.write(Logs.two + "never,,,,,\n", to: "bad.csv")
    let output = try Programs.run(Tool.url.path, ["seed", "-o", "Seed.sqlite"] + arguments, in: folder)
    #expect(output.status == status, "\(output.text)\(output.messages)")
    #expect(try folder.names.filter { !$0.contains("rejects") } == ["bad.csv", "log.csv"])
  }

  @Test(arguments: [[], ["--single-file"]])
  func `Where the disk is full at any step the status says so, and nothing is left`(_ form: [String]) throws {
    try Logs.write(records: 4000, to: "log.csv", in: folder)
    try folder.makeFolder("seeds")
    var statuses: Set<Int32> = []
    // The limit is on each file: the import's, then the log's, then the seed's.
    for kilobytes in stride(from: 8, through: 1000, by: 124) {
      let output = try Tool.shell(
        "ulimit -f \(kilobytes); $surfjournal seed --from log.csv -o seeds/Seed.sqlite -q \(form.joined())", in: folder)
      statuses.insert(output.status)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("seeds").path)
      if output.status == 0 { break }
      #expect(left.isEmpty, "\(kilobytes): \(left)")
      #expect(output.messages.contains("disk"), "\(kilobytes): \(output.messages)")
    }
    #expect(statuses == [0, 74])
  }

  @Test func `What a killed run has left is put right, and what it replaced is there again`() throws {
    #expect(try seed("--from", "log.csv", "-o", "Seed.sqlite", "-q").status == 0)
    let before = try folder.hashes(["Seed.sqlite", "Seed.sqlite-shm", "Seed.sqlite-wal"])
    // As it is between the old seed's going and the new one's coming.
    try folder.makeFolder("Seed.sqlite.seeding/replaced")
    for suffix in ["", "-shm", "-wal"] {
      try FileManager.default.moveItem(
        at: folder.file("Seed.sqlite\(suffix)"), to: folder.file("Seed.sqlite.seeding/replaced/Seed.sqlite\(suffix)"))
    }
    try folder.write("half", to: "Seed.sqlite-shm")
    #expect(try seed("--from", "log.csv", "-o", "Seed.sqlite").status == 73)
    #expect(try folder.names == ["Seed.sqlite", "Seed.sqlite-shm", "Seed.sqlite-wal", "log.csv"])
    #expect(try folder.hashes(["Seed.sqlite", "Seed.sqlite-shm", "Seed.sqlite-wal"]) == before)
  }

  @Test func `What a killed run has set aside stays where it can't be put back`() throws {
    #expect(try seed("--from", "log.csv", "-o", "Seed.sqlite", "-q").status == 0)
    let aside = "Seed.sqlite.seeding/replaced/Seed.sqlite"
    try folder.makeFolder("Seed.sqlite.seeding/replaced")
    try FileManager.default.moveItem(at: folder.file("Seed.sqlite"), to: folder.file(aside))
    let before = try folder.data(aside)
    // Another file takes the place of one that belongs to the store.
    try folder.write("journal", to: "\(aside)-journal")
    try folder.makeFolder("Seed.sqlite-journal/full")
    for more in [[], ["--force"]] {
      let words = ["seed", "--from", "log.csv", "-o", "Seed.sqlite"] + more
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status == 66, "\(output.status) \(output.messages)")
      #expect(output.messages.contains("Seed.sqlite-journal, where SQLite keeps a part of it, is a folder"))
      #expect(try folder.data(aside) == before)
    }
    try FileManager.default.removeItem(at: folder.file("Seed.sqlite-journal"))
    #expect(try seed("--from", "log.csv", "-o", "Seed.sqlite").status == 73)
    #expect(try folder.data("Seed.sqlite") == before)
  }

  @Test func `The JSON summary names the seed's files and UUID, also in a report`() throws {
    let output = try seed("--from", "log.csv", "-o", "Seed.sqlite", "--json", "--report", "report.json")
    let check = """
      import json, sys
      for name in sys.argv[1:]:
          seed = json.load(open(name))["seed"]
          print([f.split("/")[-1] for f in seed["files"]], len(seed["uuid"]))
      """
    try folder.write(output.text, to: "shown.json")
    let line = "['Seed.sqlite', 'Seed.sqlite-wal', 'Seed.sqlite-shm'] 36\n"
    #expect(try Programs.python(check, "shown.json", "report.json", in: folder) == line + line)
  }

  @Test func `One file opens where nothing may be written, even for a reader that does not know of it`() throws {
    try folder.makeFolder("bundle")
    #expect(try seed("--from", "log.csv", "-o", "bundle/Seed.sqlite", "--single-file", "-q").status == 0)
    try folder.setMode(0o444, of: "bundle/Seed.sqlite")
    try folder.setMode(0o555, of: "bundle")
    #expect(try sqlite("bundle/Seed.sqlite", "SELECT count(*) FROM ZJOURNALENTRY") == "2")
    try folder.setMode(0o755, of: ".")
    let output = try Unprivileged.run(["verify", "bundle/Seed.sqlite"], in: folder)
    #expect(output.status == 0, "\(output.messages)")
  }

  @Test(
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: [[], ["--single-file"]])
  func `A seed of the exported rows is Apple's own seed: rows, schema text, key rows, hashes`(_ form: [String]) throws {
    for file in RealStore.files {
      try FileManager.default.copyItem(at: RealStore.folder.appendingPathComponent(file), to: folder.file(file))
      try folder.setMode(0o644, of: file)
    }
    try folder.write(
      """
      {"name": "apple", "columns": [
        {"name": "ZDATE", "attribute": "date", "formats": ["seconds"]}, {"name": "ZHEIGHT", "attribute": "height"},
        {"name": "ZLOCATION", "attribute": "location"}, {"name": "ZPERIOD", "attribute": "period"},
        {"name": "ZRATING", "attribute": "rating"}, {"name": "ZWIND", "attribute": "wind"}]}
      """, to: "apple.json")
    let rows = RealStore.folder.appendingPathComponent("surfjournal_rows.csv").path
    let output = try Programs.run(
      Tool.url.path, ["seed", "--from", rows, "-o", "Seed.sqlite", "--pipeline", "apple.json", "-q"] + form, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    let columns = "Z_PK, Z_ENT, Z_OPT, ZRATING, ZDATE, typeof(ZDATE), ZHEIGHT, ZLOCATION, ZPERIOD, ZWIND"
    let differing = try sqlite(
      "Seed.sqlite",
      """
      ATTACH '\(RealStore.files[0])' AS apple;
      SELECT count(*) FROM (SELECT \(columns) FROM main.ZJOURNALENTRY EXCEPT SELECT \(columns) FROM apple.ZJOURNALENTRY);
      SELECT count(*) FROM (SELECT \(columns) FROM apple.ZJOURNALENTRY EXCEPT SELECT \(columns) FROM main.ZJOURNALENTRY);
      SELECT count(*) FROM main.ZJOURNALENTRY;
      SELECT count(*) FROM (SELECT * FROM main.Z_PRIMARYKEY EXCEPT SELECT * FROM apple.Z_PRIMARYKEY);
      """)
    #expect(differing == "0\n0\n5000\n0")
    let schema = "SELECT sql FROM sqlite_master WHERE name <> 'Z_MODELCACHE' ORDER BY rowid"
    #expect(try sqlite("Seed.sqlite", schema) == sqlite(RealStore.files[0], schema))
    let hashes = """
      import plistlib, sqlite3
      def hashes(store):
          plist = plistlib.loads(sqlite3.connect(store).execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
          return plist["NSStoreModelVersionHashes"], plist["NSStoreModelVersionHashesVersion"], plist["NSStoreType"]
      print(hashes("Seed.sqlite") == hashes("\(RealStore.files[0])"))
      """
    #expect(try Programs.python(hashes, in: folder) == "True\n")
  }
}
