import Foundation
import TestSupport
import Testing

/// `inspect` and `verify`: what they print, their exit status, that they change nothing, and that their JSON is what the
/// published schemas say.
@Suite struct InspectVerifyTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Logs.importTwo(in: folder)
  }

  @Test func `A journal's entity, its counts, properties and ledger are shown`() throws {
    let output = try Tool.run("inspect", "journal.sqlite", in: folder)
    #expect(output.status == 0 && output.messages.isEmpty, "\(output.messages)")
    let uuid = try Programs.sqlite("journal.sqlite", "SELECT Z_UUID FROM Z_METADATA", in: folder)
      .trimmingCharacters(in: .newlines)
    let lines = output.text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    #expect(lines.first == "journal.sqlite")
    for line in [
      "UUID \(uuid)", "framework 1344", "model SurfJournalModel/SurfJournalModel, part of this program; the store's",
      "model cache none", "1 JournalEntry ZJOURNALENTRY 2 2 Tj6pVjI2H01Wp34HCsdGhqINZK/14EnrYaNBIVLu3wc=",
      "date Date ZDATE", "rating Integer 16 ZRATING", "table SJ_RUN ledger of surfjournal's imports",
    ] {
      #expect(lines.contains(line), "\(line) in\n\(output.text)")
    }
    #expect(!output.text.contains("unusual"))
  }

  @Test func `Verification of a journal finds nothing, and a damage is found with status 65`() throws {
    let good = try Tool.run("verify", "journal.sqlite", in: folder)
    #expect(
      good.status == 0
        && good.text.hasPrefix(
          "journal.sqlite: nothing is wrong with its integrity, "),
      "\(good.text)\(good.messages)")
    #expect(try Tool.run("verify", "journal.sqlite", "--quiet", in: folder).text == "")
    _ = try Programs.sqlite("journal.sqlite", "UPDATE ZJOURNALENTRY SET ZRATING = 'five' WHERE Z_PK = 2", in: folder)
    let bad = try Tool.run("verify", "journal.sqlite", in: folder)
    #expect(bad.status == 65)
    #expect(
      bad.text == """
        journal.sqlite: 1 error

        error valueType  JournalEntry.rating: 1 values can't be of the type Integer 16. [ZJOURNALENTRY 2]
          Correct the program that wrote them, and set the values again.

        """)
    #expect(try Tool.run("verify", "journal.sqlite", "-q", in: folder).text == bad.text)
  }

  @Test func `A log that is there only while the store is looked at is not shown as the store's`() throws {
    // The last program that closes a store takes its log away.
    _ = try Programs.sqlite("journal.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)", in: folder)
    try #require(!folder.exists("journal.sqlite-wal") && !folder.exists("journal.sqlite-shm"))
    let output = try Tool.run("inspect", "journal.sqlite", in: folder)
    #expect(output.status == 0 && output.text.contains("journal wal"), "\(output.text)\(output.messages)")
    #expect(!output.text.contains("\n-wal") && !output.text.contains("\n-shm"), "\(output.text)")
    let json = try Tool.run("inspect", "journal.sqlite", "--json", in: folder)
    #expect(!json.text.contains("\"log\"") && !json.text.contains("\"sharedMemory\""), "\(json.text)")
    #expect(!folder.exists("journal.sqlite-wal") && !folder.exists("journal.sqlite-shm"))
  }

  @Test func `Warnings alone are not a failure`() throws {
    _ = try Programs.sqlite("journal.sqlite", "INSERT INTO Z_PRIMARYKEY VALUES (9, 'Ghost', 0, 0)", in: folder)
    let output = try Tool.run("verify", "journal.sqlite", in: folder)
    #expect(output.status == 0)
    #expect(output.text.hasPrefix("journal.sqlite: 1 warning\n"))
  }

  @Test func `A store that lost its WAL is distinguished from one that has none, and shows no missing files`()
    throws
  {
    _ = try Programs.sqlite("journal.sqlite", "DELETE FROM ZJOURNALENTRY", in: folder)
    let empty = try Tool.run("inspect", "journal.sqlite", in: folder)
    #expect(empty.text.contains("no -wal next to it") && !empty.text.contains("-shm   "), "\(empty.text)")
    #expect(try folder.names == ["journal.sqlite", "log.csv"])
    // What `Programs.sqlite` does as it ends would write the log back.
    let log = """
      import shutil, sqlite3
      other = sqlite3.connect("other.sqlite")
      other.execute("PRAGMA journal_mode = WAL")
      other.execute("CREATE TABLE a (b)")
      other.commit()
      shutil.copy("other.sqlite-wal", "journal.sqlite-wal")
      """
    _ = try Programs.python(log, in: folder)
    for command in ["inspect", "verify"] {
      let foreign = try Tool.run(command, "journal.sqlite", in: folder)
      #expect(foreign.status == 65)
      #expect(
        foreign.messages.contains("does not belong to the store") && foreign.messages.contains("another database"),
        "\(foreign.messages)")
    }
  }

  @Test func `A verification sees the store at one time, and a locked one does not count as intact`() throws {
    _ = try Programs.sqlite("journal.sqlite", "PRAGMA journal_mode = DELETE", in: folder)
    let script = """
      import sqlite3, subprocess, sys
      store = sqlite3.connect("journal.sqlite", isolation_level=None)
      store.execute("BEGIN EXCLUSIVE")
      print(subprocess.run([sys.argv[1], "verify", "journal.sqlite"], capture_output=True).returncode)
      """
    #expect(try Programs.python(script, Tool.url.path, in: folder) == "75\n")
  }

  @Test(arguments: ["inspect", "verify"])
  func `No byte of the store changes, and none of a store that its reader may only read`(_ command: String) throws {
    let before = try folder.hashes(["journal.sqlite"])
    let names = try folder.names
    #expect(try Tool.run(command, "journal.sqlite", "--json", in: folder).status == 0)
    #expect(try folder.hashes(["journal.sqlite"]) == before)
    #expect(try folder.names == names)
    try folder.setMode(0o444, of: "journal.sqlite")
    try folder.setMode(0o755, of: ".")
    let output = try Unprivileged.run([command, "journal.sqlite"], in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try folder.hashes(["journal.sqlite"]) == before)
    #expect(try folder.names.filter { $0 != "surfjournal-copy" } == names)
  }

  @Test(arguments: [
    (["inspect", "none.sqlite"], 66, "the store none.sqlite does not exist"),
    (["verify", "none.sqlite"], 66, "the store none.sqlite does not exist"),
    (["inspect", "."], 66, "is a folder"),
    (["inspect", "log.csv"], 65, "log.csv"), (["inspect", "/dev/null"], 66, "not a regular file"),
    (["verify", "log.csv"], 65, "log.csv"),
    (["verify", "journal.sqlite", "--model", "none.xcdatamodeld"], 66, "the model none.xcdatamodeld does not exist"),
    (["inspect", "journal.sqlite", "--model", "log.csv"], 66, "log.csv"),
    (["inspect", "other.sqlite"], 65, "not a Core Data store"),
    (["inspect"], 64, "a store is missing; name it"),
    (["verify", "a", "b"], 64, "unexpected argument 'b'"),
  ])
  func `What can't be looked at is said, with the cause's exit status`(
    _ arguments: [String], status: Int32, message: String
  ) throws {
    _ = try Programs.sqlite("other.sqlite", "CREATE TABLE a (b)", in: folder)
    let output = try Programs.run(Tool.url.path, arguments, in: folder)
    #expect(output.status == status, "\(output.messages)")
    #expect(output.messages.contains(message), "\(output.messages)")
    #expect(output.text.isEmpty)
  }

  @Test(arguments: [("inspect", "inspection"), ("verify", "verification")])
  func `The JSON fits its schema, of intact stores and of damaged ones`(_ command: String, _ schema: String) throws {
    var stores = ["journal.sqlite", "damaged.sqlite"]
    _ = try Programs.sqlite(
      "journal.sqlite",
      """
      VACUUM INTO 'damaged.sqlite'; ATTACH 'damaged.sqlite' AS d; UPDATE d.ZJOURNALENTRY SET Z_OPT = 0, Z_ENT = 5;
      CREATE TABLE d.ATRANSACTION (Z_PK INTEGER PRIMARY KEY);
      CREATE TABLE d.ACHANGE (Z_PK INTEGER PRIMARY KEY, ZTRANSACTIONID INTEGER);
      CREATE TRIGGER d.t AFTER UPDATE ON ZJOURNALENTRY BEGIN SELECT NSCoreDataTell(NEW.Z_PK); END
      """, in: folder)
    var models: [[String]] = [[], []]
    if SharedFiles.arePresent {
      let shared = RealStore.folder.deletingLastPathComponent()
      for name in try FileManager.default.contentsOfDirectory(atPath: shared.path).sorted() {
        let files = try FileManager.default.contentsOfDirectory(atPath: shared.appendingPathComponent(name).path)
        let place = { (ending: String) in
          shared.appendingPathComponent(name).appendingPathComponent(files.first { $0.hasSuffix(ending) } ?? "").path
        }
        stores += [place(".sqlite"), place(".sqlite")]
        models += [["--model", place(".xcdatamodeld")], []]
      }
    }
    var reports: [String] = []
    for (store, model) in zip(stores, models) {
      let output = try Programs.run(Tool.url.path, [command, store, "--json"] + model, in: folder)
      #expect([0, 65].contains(output.status), "\(output.messages)")
      reports.append(output.text)
    }
    let wrong = reports[0].replacingOccurrences(of: "\"store\"", with: "\"stores\"")
    try folder.write("[\((reports + [wrong]).joined(separator: ","))]", to: "reports.json")
    let mistakes = try Programs.python(
      """
      import json, jsonschema, sys
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      for index, report in enumerate(json.load(open("reports.json"))):
          for mistake in validator.iter_errors(report):
              print(index, mistake.json_path, mistake.validator)
      """, Repository.path("Pipelines/\(schema).schema.json"), in: folder)
    // The last one is wrong on purpose, to see that the validator looks.
    #expect(mistakes == "\(reports.count) $ additionalProperties\n\(reports.count) $ required\n")
  }
}
