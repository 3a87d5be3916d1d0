import Foundation
import TestSupport
import Testing

/// `list`, `show`, `add`, `edit` and `delete` with `--entity`: objects of any entity of any model, with the objects at
/// the other ends, and what the delete rules of the model take along.
@Suite struct ObjectCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try SurfModel.write(to: folder)
    try add("Spot", "name=Rincon", "code=00112233-4455-6677-8899-AABBCCDDEEFF")
    try add("Reef", "name=Jaws", "depth=3.5")
    try add("Tag", "label=calm")
    try add("Tag", "label=windy")
    try add("Session", "spot=1", "date=2024-05-06", "price=12.50", "alone=yes", "tags=1,2")
    try add("Session", "spot=2", "rating=5")
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments + SurfModel.options, in: folder)
  }

  private func add(_ entity: String, _ values: String...) throws {
    let sets = values.flatMap { ["--set", $0] }
    let output = try Programs.run(
      Tool.url.path, ["add", "--entity", entity, "-y", "-q"] + sets + SurfModel.options, in: folder)
    try #require(output.status == 0, "\(output.messages)")
  }

  private func rows(_ query: String) throws -> String {
    try Programs.sqlite("s.sqlite", query, in: folder).trimmingCharacters(in: .newlines)
  }

  private static let links = "SELECT Z_PK, Z_OPT, ZRATING, ZSPOT, Z2_SPOT, ZALONE, ZPRICE FROM ZSESSION"

  @Test func `Objects and links are added as the model has them`() throws {
    #expect(
      try rows("SELECT Z_PK, Z_ENT, ZNAME, ZDEPTH, hex(ZCODE) FROM ZSPOT")
        == "1|2|Rincon||00112233445566778899AABBCCDDEEFF\n2|3|Jaws|3.5|")
    #expect(
      try rows("SELECT Z_PK, Z_OPT, ZRATING, ZSPOT, ZALONE, ZPRICE FROM ZSESSION") == "1|1|3|1|1|12.5\n2|1|5|2||")
    #expect(try Tool.run("verify", "s.sqlite", "--model", SurfModel.name, in: folder).status == 0)
  }

  @Test func `What is listed can be shown, with the objects at the other ends`() throws {
    #expect(
      try run("list", "--entity", "Spot").text == """
        key  code                                  name
        1    00112233-4455-6677-8899-AABBCCDDEEFF  Rincon
        2                                          Jaws

        """)
    let csv = try run("list", "--entity", "Session", "--csv", "--sort", "rating:desc", "--where", "spot.name == 'Jaws'")
    #expect(csv.text == "key,alone,date,photo,price,rating\n2,,,,,5\n", "\(csv.messages)")
    let uuid = try rows("SELECT Z_UUID FROM Z_METADATA")
    let shown = """
      Reef 2
      uri       x-coredata://\(uuid)/Reef/p2
      code      –
      name      Jaws
      depth     3.5
      sessions  Session 2

      """
    for id in ["2", "p2", "x-coredata://\(uuid)/Reef/p2"] {
      #expect(try run("show", id, "--entity", "Spot").text == shown)
    }
    let session = try run("show", "1", "--entity", "Session").text
    #expect(session.contains("spot    Spot 1  Rincon\ntags    Tag 1  calm\n        Tag 2  windy\n"), "\(session)")
    let json = try run("show", "1", "--entity", "Session", "--json")
    let object = try #require(try JSONSerialization.jsonObject(with: json.bytes) as? [String: Any])
    #expect(object["entity"] as? String == "Session" && object["id"] as? Int == 1)
    #expect((object["attributes"] as? [String: Any])?["alone"] as? Bool == true)
    let relationships = try #require(object["relationships"] as? [String: Any])
    #expect((relationships["spot"] as? [String: Any])?["label"] as? String == "Rincon")
    #expect((relationships["tags"] as? [[String: Any]])?.compactMap { $0["id"] as? Int } == [1, 2])
  }

  @Test func `A list has columns of what relationships lead to`() throws {
    let columns = "key,spot.name,spot,tags"
    #expect(
      try run("list", "--entity", "Session", "--columns", columns).text == """
        key  spot.name  spot            tags
        1    Rincon     Spot 1  Rincon  Tag 1  calm, Tag 2  windy
        2    Jaws       Reef 2  Jaws

        """)
    #expect(
      try run("list", "--entity", "Session", "--csv", "--sort", "spot.name", "--columns", columns).text
        == "key,spot.name,spot,tags\n2,Jaws,Reef 2  Jaws,\n1,Rincon,Spot 1  Rincon,\"Tag 1  calm, Tag 2  windy\"\n")
    let lines = try run("list", "--entity", "Session", "--format", "jsonl", "--columns", "spot.name,tags").text
    let objects = try lines.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.map { $0["spot.name"] as? String } == ["Rincon", "Jaws"])
    let labels = objects.map { ($0["tags"] as? [[String: Any]])?.compactMap { $0["label"] as? String } }
    #expect(labels == [["calm", "windy"], []])
    for name in ["tags.word", "spot.depth", "spot.sessions", "place"] {
      let refused = try run("list", "--entity", "Session", "--columns", name)
      #expect(refused.status == 64 && refused.messages.contains("known are key, alone"), "\(refused.messages)")
    }
  }

  @Test func `Values and links are changed, with what was there before`() throws {
    let output = try run(
      "edit", "1", "--entity", "Session", "--set", "spot=2", "--set", "rating=1", "--set", "tags=2", "--clear", "alone",
      "-y")
    #expect(
      output.text == """
        Session 1
        - alone   true
          date    2024-05-06T00:00:00Z
          price   12.5
        - rating  3
        + rating  1
        - spot    Spot 1  Rincon
        + spot    Reef 2  Jaws
        - tags    Tag 1  calm, Tag 2  windy
        + tags    Tag 2  windy
        1 changed

        """, "\(output.messages)")
    #expect(try rows(Self.links) == "1|2|1|2|3||12.5\n2|1|5|2|3||")
    #expect(try rows("SELECT count(*) FROM Z_1TAGS") == "1")
    #expect(try run("edit", "1", "--entity", "Session", "--clear", "spot", "--clear", "tags", "-y").status == 0)
    #expect(try rows("SELECT ZSPOT IS NULL, (SELECT count(*) FROM Z_1TAGS) FROM ZSESSION WHERE Z_PK = 1") == "1|0")
  }

  @Test func `A deletion says what goes with it before it asks, and does it on a yes only`() throws {
    let before = try rows(Self.links)
    let effects = "also deleted: 1 Session\nlinks removed: Tag.sessions of 2 objects\n"
    for (answer, remaining) in [("n\\n", before), ("y\\n", "2|1|5|2|3||")] {
      let (status, seen) = try Terminal.ask(
        answer, ["delete", "1", "--entity", "Spot"] + SurfModel.options, in: folder)
      #expect(status == 0)
      #expect(seen.contains("- name  Rincon\n\(effects)Delete? [y/N] "), "\(seen)")
      #expect(try rows(Self.links) == remaining)
    }
    #expect(try Tool.run("verify", "s.sqlite", "--model", SurfModel.name, in: folder).status == 0)
  }

  @Test func `A dry run counts, and leaves every byte as it is`() throws {
    let before = try folder.data("s.sqlite")
    let output = try run("delete", "--where", "name != 'x'", "--entity", "Spot", "-n", "--json")
    let result = try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [String: Any])
    let effects = try #require(result["effects"] as? [String: [String: Int]])
    #expect(effects == ["alsoDeleted": ["Session": 2], "unlinked": ["Tag.sessions": 2]])
    #expect((result["entries"] as? [Any])?.count == 2 && result["saved"] as? Bool == false)
    #expect(try folder.data("s.sqlite") == before)
  }

  @Test func `A rule that denies is respected, unless what it protects goes too`() throws {
    let denied = try run("delete", "2", "--entity", "Tag", "-y")
    #expect(denied.status == 65 && denied.messages.contains("its delete rule is deny"), "\(denied.messages)")
    #expect(try rows("SELECT count(*) FROM ZTAG") == "2")
    #expect(try run("delete", "1", "--entity", "Spot", "-y", "-q").status == 0)
    #expect(try run("delete", "2", "--entity", "Tag", "-y").text.hasSuffix("2 deleted\n"))
  }

  @Test func `An object whose file is missing is an error that names it, also if another leads to it`() throws {
    try folder.write("rating,photo\n1,\(Data(count: 140_000).base64EncodedString())\n", to: "photos.csv")
    let loaded = try run("import", "photos.csv", "--entity", "Session", "-q")
    try #require(loaded.status == 0, "\(loaded.messages)")
    #expect(try run("edit", "3", "--entity", "Session", "--set", "spot=1", "--set", "tags=1", "-y", "-q").status == 0)
    try FileManager.default.removeItem(at: folder.file(".s_SUPPORT/_EXTERNAL_DATA"))
    for arguments in [
      ["show", "3", "--entity", "Session"], ["delete", "3", "--entity", "Session", "-n"],
      ["delete", "1", "--entity", "Spot", "-n"],
    ] {
      let output = try Programs.run(Tool.url.path, arguments + SurfModel.options, in: folder)
      #expect(output.status == 66, "\(arguments): \(output.status) \(output.messages)")
      #expect(output.messages.contains("Session.photo in row 3"), "\(arguments): \(output.messages)")
    }
    let spot = try run("show", "1", "--entity", "Spot")
    #expect(spot.status == 0 && spot.text.contains("Session 3"), "\(spot.messages)")
  }

  static let mistakes: [(arguments: [String], status: Int32, message: String)] = [
    (["list", "--entity", "Spt"], 78, "did you mean 'Spot'?"),
    (["list", "--entity", "Spot", "--where", "nam == 1"], 64, "Spot has no 'nam'; it has code, name"),
    (["list"], 64, "--model needs the entity of the objects"),
    (["show", "9", "--entity", "Spot"], 66, "has no Spot 9; 'surfjournal list --entity Spot'"),
    (["show", "1", "--entity", "Reef"], 66, "has no Reef 1"),
    (["add", "--entity", "Spot", "-y"], 64, "no value is given"),
    (["add", "--entity", "Spot", "--set", "code=1", "-y"], 65, "code '1'"),
    (["add", "--entity", "Spot", "--set", "code=", "-y"], 65, "Spot.name"),
    (["add", "--entity", "Spot", "--set", "name", "-y"], 64, "write NAME=VALUE"),
    (["add", "--entity", "Session", "--rating", "4", "-y"], 64, "write --set rating=VALUE"),
    (["edit", "1", "--entity", "Session", "--set", "spot=77", "-y"], 66, "has no Spot 77"),
    (["edit", "1", "--entity", "Session", "--set", "spot=1,2", "-y"], 64, "leads to one object"),
    (["edit", "1", "--entity", "Session", "--set", "raing=2", "-y"], 64, "did you mean 'rating'?"),
    (["edit", "1", "--entity", "Session", "--set", "rating=2", "--clear", "rating", "-y"], 64, "exclude each other"),
    (["edit", "1", "--entity", "Session", "--set", "rating=2"], 64, "can't ask for confirmation"),
  ]

  @Test(arguments: mistakes.indices)
  func `Mistakes have a status and a message that helps`(_ index: Int) throws {
    let mistake = Self.mistakes[index]
    let before = try folder.data("s.sqlite")
    let output = try Programs.run(Tool.url.path, mistake.arguments + SurfModel.options, in: folder)
    #expect(output.status == mistake.status, "\(mistake.arguments): \(output.messages)")
    #expect(output.messages.contains(mistake.message), "\(mistake.arguments): \(output.messages)")
    #expect(try folder.data("s.sqlite") == before)
  }

  @Test func `The model is found in the store, or asked for`() throws {
    let output = try Tool.run("list", "--store", "s.sqlite", "--entity", "Spot", in: folder)
    #expect(output.status == 65 && output.messages.contains("name it with --model MODEL"), "\(output.messages)")
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "j", in: folder).status == 0)
    let entries = try Tool.run("list", "--store", "j", "--entity", "JournalEntry", "--csv", in: folder)
    #expect(entries.text.hasPrefix("id,date,height,period,wind,location,rating\n"), "\(entries.messages)")
  }
}
