import Foundation
import TestSupport
import Testing

/// Pipelines with parts: several entities from several files in one run.
@Suite(.seeded) struct SeveralEntityTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for name in ["surfing.json", "spots.csv", "boards.csv", "sessions.csv"] {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(name)"), to: folder.file(name))
    }
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String, of store: String = "surfing.sqlite") throws -> String {
    try Programs.sqlite(store, query, in: folder)
  }

  /// The counts of a JSON report: of all, of each entity, and of the related objects.
  private func counts(_ output: ProgramOutput) throws -> String {
    let report = try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [String: Any])
    let parts = ["counts", "entities", "links"].map { report[$0] ?? "none" }
    let data = try JSONSerialization.data(withJSONObject: parts, options: .sortedKeys)
    return String(decoding: data, as: UTF8.self)
  }

  /// Replaces a text of the sample's pipeline.
  private func edit(_ old: String, _ new: String) throws {
    let text = try folder.text("surfing.json")
    #expect(text.contains(old))
    try folder.write(text.replacingOccurrences(of: old, with: new), to: "surfing.json")
  }

  @Test func `One run fills every entity, in order, with the counts of its dry run`() throws {
    let dry = try Tool.run("run", "./surfing.json", "--dry-run", "--json", in: folder)
    #expect(dry.status == 0, "\(dry.messages)")
    #expect(try dry.json().kind == "validate")
    #expect(!folder.exists("surfing.sqlite"))
    let output = try Tool.run("run", "./surfing.json", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try counts(output) == counts(dry))
    #expect(try counts(output).contains(#"{"counts":{"duplicate":0,"inserted":10,"#))
    #expect(
      try rows("SELECT count(*) FROM ZSPOT; SELECT count(*) FROM ZBOARD; SELECT count(*), count(ZSPOT) FROM ZSESSION")
        == "10\n5\n300|291\n")
    #expect(
      try rows("SELECT count(*) FROM SJ_RUN; SELECT group_concat(entity) FROM SJ_INPUT")
        == "1\nSpot,Board,Session\n")
    #expect(try Tool.run("verify", "surfing.sqlite", in: folder).status == 0)
    // Each file is imported once.
    let again = try Tool.run("run", "./surfing.json", "--json", in: folder)
    #expect(again.status == 0)
    #expect(try again.json().counts == Summary.Counts())
    #expect(try rows("SELECT count(*) FROM ZSESSION") == "300\n")
  }

  @Test func `Files of one name in two inboxes have places of their own`() throws {
    for (name, inbox) in [("spots", "a"), ("boards", "b")] {
      try folder.makeFolder(inbox)
      try FileManager.default.moveItem(at: folder.file("\(name).csv"), to: folder.file("\(inbox)/log.csv"))
      try edit("\"source\": \"\(name).csv\"", "\"inbox\": { \"folder\": \"\(inbox)\", \"settleSeconds\": 0 }")
    }
    let output = try Tool.run("run", "./surfing.json", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    let report = try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [String: Any])
    let places = (report["inputs"] as? [[String: Any]] ?? []).compactMap { $0["movedTo"] as? String }
    #expect(places.count == 2 && places.allSatisfy(FileManager.default.fileExists), "\(places)")
    #expect(places.first?.contains("/a/processed/") == true && places.last?.contains("/b/processed/") == true)
  }

  @Test func `A mistyped entity is guessed, and files that were not checked are named`() throws {
    let typed = try Tool.run("run", "./surfing.json", "--input", "Spto=spots.csv", in: folder)
    #expect(typed.status == 64 && typed.messages.contains("did you mean 'Spot'?"), "\(typed.messages)")
    let seed = try Tool.run(
      "seed", "--from", "Spto=spots.csv", "--model", "Surfing.xcdatamodeld", "-o", "seed.sqlite", in: folder)
    #expect(seed.status == 78 && seed.messages.contains("did you mean 'Spot'?"), "\(seed.messages)")
    try FileManager.default.removeItem(at: folder.file("boards.csv"))
    let dry = try Tool.run("run", "./surfing.json", "--dry-run", in: folder)
    #expect(dry.status == 66)
    #expect(dry.text.contains("not checked: ") && dry.text.contains("sessions.csv"), "\(dry.text)")
  }

  @Test func `A dry run with a store changes no byte of it and finds what the parts before it would import`() throws {
    #expect(try Tool.run("run", "./surfing.json", "-q", in: folder).status == 0)
    try folder.write("name,country\nRincon,US\nNew,AU\n", to: "spots.csv")
    try folder.write(
      "date,spot,country,boards\n2030-01-01,New,AU,Fish\n2030-01-02,Nowhere,AU,\n2023-01-02,New,AU,\n",
      to: "sessions.csv")
    let before = try Data(contentsOf: folder.file("surfing.sqlite"))
    let dry = try Tool.run("run", "./surfing.json", "--dry-run", "--json", "--rejects", "out/", in: folder)
    #expect(dry.status == 65)
    #expect(try Data(contentsOf: folder.file("surfing.sqlite")) == before)
    #expect(try dry.json().issues.counts["missing-object"] == 1)
    #expect(try folder.text("out/sessions.csv.rejects.csv").contains("Nowhere"))
    #expect(try dry.json().rejects?.hasSuffix("out/sessions.csv.rejects.csv") == true)
    let output = try Tool.run("run", "./surfing.json", "--json", in: folder)
    #expect(output.status == 65)
    #expect(try counts(output) == counts(dry))
    #expect(try rows("SELECT count(*) FROM ZSESSION s JOIN ZSPOT p ON p.Z_PK = s.ZSPOT WHERE p.ZNAME = 'New'") == "2\n")
  }

  @Test func `A part that can't be read ends the run before what leads to it, and the next run goes on`() throws {
    try FileManager.default.removeItem(at: folder.file("boards.csv"))
    let output = try Tool.run("run", "./surfing.json", in: folder)
    #expect(output.status == 66, "\(output.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT; SELECT count(*) FROM ZSESSION") == "10\n0\n")
    try folder.write("name,length\nFish,5.6\n", to: "boards.csv")
    let rest = try Tool.run("run", "./surfing.json", "--json", in: folder)
    #expect(rest.status == 0, "\(rest.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT; SELECT count(*), count(ZSPOT) FROM ZSESSION") == "10\n300|291\n")
  }

  @Test func `An atomic run leaves all files or none in the store`() throws {
    try edit(
      "\"store\": \"surfing.sqlite\",", "\"store\": \"surfing.sqlite\", \"atomic\": true, \"errorPolicy\": \"stop\",")
    let good = try folder.text("sessions.csv")
    try folder.write(good + "2030-01-01,Nowhere,AU,,,\n", to: "sessions.csv")
    let output = try Tool.run("run", "./surfing.json", in: folder)
    #expect(output.status == 65)
    #expect(
      try rows("SELECT count(*) FROM ZSPOT; SELECT count(*) FROM ZBOARD; SELECT count(*) FROM ZSESSION")
        == "0\n0\n0\n")
    try folder.write(good, to: "sessions.csv")
    let rest = try Tool.run("run", "./surfing.json", in: folder)
    #expect(rest.status == 0, "\(rest.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT; SELECT count(*), count(ZSPOT) FROM ZSESSION") == "10\n300|291\n")
  }

  @Test func `Inputs are named by their entity, and rejects are replayed by their part`() throws {
    try folder.write("date,spot,country\n2030-01-01,Rincon,US\n2030-01-02,Rincno,US\n", to: "more.csv")
    let plain = try Tool.run("run", "./surfing.json", "--input", "more.csv", in: folder)
    #expect(plain.status == 64 && plain.messages.contains("Spot=FILE"), "\(plain.messages)")
    let output = try Tool.run("run", "./surfing.json", "--input", "Session=more.csv", in: folder)
    #expect(output.status == 65, "\(output.messages)")
    #expect(try rows("SELECT count(*) FROM ZSPOT; SELECT count(ZSPOT) FROM ZSESSION") == "10\n1\n")
    let rejects = try folder.text("more.csv.rejects.csv")
    try folder.write(rejects.replacingOccurrences(of: "Rincno", with: "Rincon"), to: "more.csv.rejects.csv")
    let replay = try Tool.run("replay", "more.csv.rejects.csv", in: folder)
    #expect(replay.status == 0, "\(replay.messages)\(replay.text)")
    #expect(try rows("SELECT count(ZSPOT) FROM ZSESSION") == "2\n")
    let `import` = try Tool.run("import", "more.csv", "--pipeline", "./surfing.json", in: folder)
    #expect(`import`.status == 64 && `import`.messages.contains("surfjournal run"), "\(`import`.messages)")
    let one = try Tool.run(
      "import", "more.csv", "--pipeline", "./surfing.json", "--entity", "Session", "--again", "--json", in: folder)
    #expect(one.status == 65, "\(one.messages)")
    #expect(try one.json().counts.unchanged == 1)
  }

  @Test func `A check explains the parts, and names what belongs elsewhere`() throws {
    let good = try Tool.run("check", "./surfing.json", in: folder)
    #expect(good.status == 0, "\(good.messages)")
    #expect(good.text.contains("Part 3    fills Session"))
    #expect(good.text.contains("spot: the Spot with this name and country; a missing one rejects the record"))
    try edit("\"entity\": \"Spot\",", "\"entity\": \"Spot\", \"store\": \"x\", \"colour\": 1,")
    try edit("\"entity\": \"Board\",", "\"entity\": \"Bord\", \"expect\": {},")
    try edit("\"store\": \"surfing.sqlite\",", "\"store\": \"surfing.sqlite\", \"key\": \"name\",")
    let bad = try Tool.run("check", "./surfing.json", in: folder)
    #expect(bad.status == 78)
    for text in [
      "parts[0].store: applies to the whole run", "parts[0].colour: unknown key", "parts[1].expect: expectations",
      "key: belongs to the parts", "parts[1].entity: ",
    ] {
      #expect(bad.text.contains(text), "\(text) in \(bad.text)")
    }
  }
}
