import Foundation
import TestSupport
import Testing

/// A store that Apple's framework wrote, whose 5,000 rows lie only in its -wal. A plain clone lacks it.
@Suite(
  .enabled(
    if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct RealStoreTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for file in RealStore.files {
      try FileManager.default.copyItem(
        at: RealStore.folder.appendingPathComponent(file), to: folder.file(file))
      try folder.setMode(0o644, of: file)
    }
  }

  @Test func `Exporting it changes no byte of its three files`() throws {
    let before = try folder.hashes(RealStore.files)
    let output = try Tool.run("export", "--store", RealStore.files[0], "-o", "out.csv", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try output.json().exported == 5000)
    #expect(try folder.hashes(RealStore.files) == before)
    #expect(try folder.names == (RealStore.files + ["out.csv"]).sorted())
  }

  @Test func `It is exported from a folder that may not be written to`() throws {
    for file in RealStore.files { try folder.setMode(0o444, of: file) }
    let before = try folder.hashes(RealStore.files)
    let arguments = ["export", "--store", RealStore.files[0], "--limit", "3"]
    try folder.setMode(0o755, of: ".")
    let output = try Unprivileged.run(arguments, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.split(separator: "\n").count == 4)
    #expect(try folder.hashes(RealStore.files) == before)
  }

  @Test(arguments: ["surf-log", "round-trip"])
  func `Its rows, exported and imported, are equal in all six attributes, dates bit for bit`(
    _ pipeline: String
  ) throws {
    #expect(try Tool.run("export", "--store", RealStore.files[0], "-o", "out.csv", in: folder).status == 0)
    let output = try Tool.run("import", "out.csv", "--store", "new", "--pipeline", pipeline, in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    let query = """
      SELECT Z_PK, Z_ENT, Z_OPT, printf('%!.17g', ZDATE), typeof(ZDATE), quote(ZHEIGHT), quote(ZLOCATION),
        quote(ZPERIOD), quote(ZWIND), quote(ZRATING) FROM ZJOURNALENTRY ORDER BY Z_PK
      """
    let original = try Programs.sqlite(RealStore.files[0], query, in: folder)
    #expect(original.split(separator: "\n").count == 5000)
    #expect(try Programs.sqlite("new", query, in: folder) == original)
    let bits = """
      import sqlite3, struct, sys
      def bits(store):
          rows = sqlite3.connect(store).execute("SELECT ZDATE FROM ZJOURNALENTRY ORDER BY Z_PK")
          return [struct.pack("d", date) for (date,) in rows]
      print(bits(sys.argv[1]) == bits("new"))
      """
    #expect(try Programs.python(bits, RealStore.files[0], in: folder) == "True\n")
  }

  @Test func `A further export gives the same bytes`() throws {
    _ = try Tool.run("export", "--store", RealStore.files[0], "-o", "first.csv", in: folder)
    _ = try Tool.run("import", "first.csv", "--store", "new", in: folder)
    _ = try Tool.run("export", "--store", "new", "-o", "second.csv", in: folder)
    #expect(try folder.data("first.csv") == folder.data("second.csv"))
  }

  @Test func `It takes an import, its keys going on`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", RealStore.files[0], in: folder).status == 0)
    let keys = try Programs.sqlite(
      RealStore.files[0], "SELECT count(*), max(Z_PK), (SELECT Z_MAX FROM Z_PRIMARYKEY) FROM ZJOURNALENTRY",
      in: folder)
    #expect(keys == "5002|5002|5002\n")
  }
}

enum RealStore {
  static let files = [
    "SurfJournalModel.sqlite", "SurfJournalModel.sqlite-shm", "SurfJournalModel.sqlite-wal",
  ]

  static let folder = SharedFiles.journal
}
