import Foundation
import TestSupport
import Testing

/// Taking back imports whose entries lead to one another.
@Suite(.seeded) struct LinkedUndoTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for name in ["surfing.json", "spots.csv", "boards.csv", "sessions.csv"] {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(name)"), to: folder.file(name))
    }
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  private func undo(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["undo", "s.sqlite", "-y", "--model", "Surfing.xcdatamodeld"] + arguments, in: folder)
  }

  private func importSpotsAndSessions() throws {
    try folder.write(LinkedSample.pipeline(chunkRows: 2, ifMissing: "reject", key: true), to: "p.json")
    try folder.write("name,country\nRincon,US\nBells,AU\nPico,PE\n", to: "spots.csv")
    try folder.write(
      "date,spot\n2024-01-01,Rincon\n2024-01-02,Bells\n2024-01-03,Rincon\n2024-01-04,\n2024-01-05,Rincon\n", to: "a.csv"
    )
    let spots = try Tool.run(
      "import", "spots.csv", "--entity", "Spot", "--model", "Surfing.xcdatamodeld", "--store", "s.sqlite", in: folder)
    #expect(spots.status == 0, "\(spots.messages)")
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    #expect(try rows("SELECT Z_OPT FROM ZSPOT ORDER BY 1 DESC") == "4\n2\n1\n")
  }

  @Test func `What others lead to is taken back after them, or together with them`() throws {
    try importSpotsAndSessions()
    try FileManager.default.copyItem(at: folder.file("s.sqlite"), to: folder.file("both.sqlite"))
    let refused = try undo("spots.csv")
    #expect(refused.status == 65)
    #expect(refused.messages.contains("a.csv, imported on") && refused.messages.contains("undo that one first"))
    #expect(try undo("a.csv").status == 0)
    let spots = try undo("spots.csv")
    #expect(spots.status == 0, "\(spots.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT UNION ALL SELECT count(*) FROM ZSESSION") == "0\n0\n")
    try FileManager.default.removeItem(at: folder.file("s.sqlite"))
    try FileManager.default.moveItem(at: folder.file("both.sqlite"), to: folder.file("s.sqlite"))
    let both = try undo("spots.csv", "a.csv")
    #expect(both.status == 0, "\(both.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT UNION ALL SELECT count(*) FROM ZSESSION") == "0\n0\n")
    #expect(try Tool.run("verify", "s.sqlite", in: folder).status == 0)
  }

  @Test(arguments: [
    "UPDATE ZSPOT SET Z_OPT = -9223372036854775808 WHERE Z_PK = 1", "UPDATE ZSESSION SET Z_PK = -1 WHERE Z_PK = 5",
  ])
  func `A version or a key that no store gives does not end an undo with a signal`(_ damage: String) throws {
    try importSpotsAndSessions()
    _ = try rows(damage)
    let output = try undo("spots.csv", "a.csv")
    #expect([0, 65].contains(output.status), "\(output.status) \(output.messages)")
  }

  @Test func `Entries that were changed by hand stay, where that is asked for, and the message says so`() throws {
    try importSpotsAndSessions()
    _ = try rows("UPDATE ZSPOT SET ZCOUNTRY = 'XX', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Bells'")
    let refused = try undo("spots.csv", "a.csv")
    #expect(refused.status == 65)
    #expect(refused.messages.contains("1 entry was changed since: Spot 2, by an edit, or because a link to it"))
    #expect(refused.messages.contains("--keep-changed") && !refused.messages.contains("undo the later run"))
    let rest = try undo("spots.csv", "a.csv", "--keep-changed")
    #expect(rest.status == 0, "\(rest.messages)")
    #expect(rest.text.contains("1 entry that was changed since stays"), "\(rest.text)")
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT; SELECT count(*) FROM ZSESSION") == "Bells|XX\n0\n")
    #expect(try Tool.run("verify", "s.sqlite", in: folder).status == 0)
  }

  @Test func `Updates of linked entries are distinguished from edits`() throws {
    try importSpotsAndSessions()
    // Both move a link, and one updates what others lead to.
    try folder.write("date,spot,rating\n2024-01-01,Bells,3\n2024-01-04,Pico,\n", to: "b.csv")
    #expect(try Tool.run("import", "b.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    try folder.write("name,country\nRincon,PR\nNew,FR\n", to: "spots2.csv")
    try folder.write(
      """
      { "name": "spots", "model": "Surfing.xcdatamodeld", "entity": "Spot", "columns": ["name", "country"],
        "key": "name", "duplicates": "update" }
      """, to: "spots.json")
    let update = ["import", "spots2.csv", "--pipeline", "spots.json", "--store", "s.sqlite"]
    #expect(try Programs.run(Tool.url.path, update, in: folder).status == 0)
    let later = try undo("a.csv")
    #expect(later.status == 65 && later.messages.contains("changed since"), "\(later.messages)")
    for input in ["spots2.csv", "b.csv", "a.csv", "spots.csv"] {
      let output = try undo(input)
      #expect(output.status == 0, "\(input): \(output.messages)")
      if input == "b.csv" {
        #expect(try rows("SELECT ZCOUNTRY FROM ZSPOT ORDER BY Z_PK") == "US\nAU\nPE\n")
        #expect(try rows("SELECT ZRATING, ZSPOT FROM ZSESSION ORDER BY Z_PK") == "|1\n|2\n|1\n|\n|1\n")
      }
    }
    #expect(try rows("SELECT count(*) FROM ZSPOT UNION ALL SELECT count(*) FROM ZSESSION") == "0\n0\n")
  }

  @Test func `An edit by hand of an object that was linked is not taken back`() throws {
    try importSpotsAndSessions()
    #expect(try undo("a.csv").status == 0)
    _ = try rows("UPDATE ZSPOT SET ZCOUNTRY = 'MX', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    let output = try undo("spots.csv")
    #expect(output.status == 65 && output.messages.contains("1 entry was changed since: Spot 2"), "\(output.messages)")
  }

  @Test func `Links to objects that are gone are counted before they are left out`() throws {
    try importSpotsAndSessions()
    try folder.write("date,spot\n2024-01-02,Pico\n", to: "b.csv")
    #expect(try Tool.run("import", "b.csv", "--pipeline", "p.json", "--store", "s.sqlite", in: folder).status == 0)
    _ = try rows("DELETE FROM ZSPOT WHERE ZNAME = 'Bells'")
    let output = try undo("b.csv")
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("1 object has been deleted since"), "\(output.text)")
    #expect(try rows("SELECT ZSPOT IS NULL FROM ZSESSION WHERE Z_PK = 2") == "1\n")
  }

  @Test func `A run of several entities is taken back as a whole`() throws {
    #expect(try Tool.run("run", "./surfing.json", "--store", "s.sqlite", in: folder).status == 0)
    let output = try undo()
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("315 entries that it inserted were deleted"), "\(output.text)")
    #expect(
      try rows(
        "SELECT count(*) FROM ZSPOT UNION ALL SELECT count(*) FROM ZSESSION UNION ALL SELECT count(*) FROM ZBOARD")
        == "0\n0\n0\n")
    #expect(try Tool.run("run", "./surfing.json", "--store", "s.sqlite", in: folder).status == 0)
    #expect(try rows("SELECT count(*), count(ZSPOT) FROM ZSESSION") == "300|291\n")
  }
}
