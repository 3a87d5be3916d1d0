import Foundation
import TestSupport
import Testing

/// A store that is exported as a file for each entity and imported again has the same objects and relationships.
@Suite(.seeded) struct EntityFilesTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Prints what is in a store without its primary keys: the rows of each table, and of the tables that join others, with
  /// the attributes of the rows that they lead to. The arguments are the store, and `TABLE.COLUMN=TABLE` for each column
  /// with a key.
  private static let graph = """
    import sqlite3, sys
    base = sqlite3.connect(sys.argv[1])
    keys = dict(text.split("=") for text in sys.argv[2:])
    def columns(table): return [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
    def own(table):
        return [c for c in columns(table)
                if c not in ("Z_PK", "Z_OPT") and "FOK" not in c and f"{table}.{c}" not in keys]
    def row(table, key):
        if key is None: return None
        found = base.execute(f"SELECT {', '.join(own(table))} FROM {table} WHERE Z_PK = ?", (key,)).fetchone()
        return repr(found)
    tables = [r[0] for r in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    for table in tables:
        if not (table.startswith("Z") and not table.startswith("Z_M") and not table.startswith("Z_P")): continue
        names = columns(table)
        lines = []
        for found in base.execute(f"SELECT {', '.join(names)} FROM {table}"):
            values = dict(zip(names, found))
            lines.append(repr([(n, row(keys[f"{table}.{n}"], values[n]) if f"{table}.{n}" in keys else values[n])
                               for n in names if n not in ("Z_PK", "Z_OPT") and "FOK" not in n]))
        print(table, len(lines))
        for line in sorted(lines): print("  " + line)
    """

  private func graph(of store: String, _ keys: [String]) throws -> String {
    try Programs.output(of: ["python3", "-c", Self.graph, store] + keys, in: folder)
  }

  /// Exports a store and imports the files into `again.sqlite`.
  private func passThroughFiles(_ store: String, model: String) throws {
    let out = try Tool.run(
      "export", "--store", store, "--all-entities", "--output", "files", "--model", model, in: folder)
    #expect(out.status == 0, "\(out.messages)")
    let check = try Tool.run("check", "files/pipeline.json", in: folder)
    #expect(check.status == 0, "\(check.text)\(check.messages)")
    let back = try Tool.run(
      "run", "files/pipeline.json", "--store", "again.sqlite", "--model", model, in: folder)
    #expect(back.status == 0, "\(back.messages)\(back.text)")
    let verified = try Tool.run("verify", "again.sqlite", "--model", model, in: folder)
    #expect(verified.status == 0, "\(verified.text)\(verified.messages)")
  }

  @Test func `The sample of spots, boards and sessions passes`() throws {
    for name in ["surfing.json", "spots.csv", "boards.csv", "sessions.csv"] {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(name)"), to: folder.file(name))
    }
    try LinkedSample.prepare(folder)
    #expect(try Tool.run("run", "./surfing.json", "-q", in: folder).status == 0)
    try passThroughFiles("surfing.sqlite", model: "Surfing.xcdatamodeld")
    let keys = ["ZSESSION.ZSPOT=ZSPOT", "Z_1SESSIONS.Z_1BOARDS=ZBOARD", "Z_1SESSIONS.Z_2SESSIONS=ZSESSION"]
    let before = try graph(of: "surfing.sqlite", keys)
    #expect(before.contains("ZSESSION 300") && before.contains("Z_1SESSIONS 322"))
    #expect(try graph(of: "again.sqlite", keys) == before)
  }

  @Test func `The files keep the store's rights, the pipeline finds its model, and nothing is replaced unasked`() throws
  {
    try LinkedSample.prepare(folder)
    try folder.write("name,country\nRincon,US\n", to: "spots.csv")
    let made = try Tool.run(
      "import", "spots.csv", "--entity", "Spot", "--model", "Surfing.xcdatamodeld", "--store", "s.sqlite", in: folder)
    #expect(made.status == 0, "\(made.messages)")
    try folder.setMode(0o600, of: "s.sqlite")
    func export(_ options: String...) throws -> ProgramOutput {
      try Programs.run(
        Tool.url.path,
        ["export", "--store", "s.sqlite", "--all-entities", "-o", "files", "--model", "Surfing.xcdatamodeld"] + options,
        in: folder)
    }
    #expect(try export().status == 0)
    #expect(try Tool.shell("stat -c %a files/*", in: folder).text == "600\n600\n600\n600\n")
    #expect(try folder.text("files/pipeline.json").contains("\"model\" : \"../Surfing.xcdatamodeld\""))
    // From anywhere, and after both have moved together.
    let moved = try Tool.shell(
      """
      mkdir to && mv files Surfing.xcdatamodeld to/ && cd / && "$surfjournal" run "$OLDPWD/to/files/pipeline.json" \
        --store "$OLDPWD/again.sqlite" && cd "$OLDPWD" && mv to/files to/Surfing.xcdatamodeld .
      """, in: folder)
    #expect(moved.status == 0, "\(moved.messages)")
    #expect(try Programs.sqlite("again.sqlite", "SELECT ZNAME FROM ZSPOT", in: folder) == "Rincon\n")
    let again = try export()
    #expect(again.status == 73 && again.messages.contains("--force"), "\(again.messages)")
    #expect(try export("--force").status == 0)
  }

  @Test func `A store whose model is unknown asks for it by its own name`() throws {
    try LinkedSample.prepare(folder)
    try folder.write("name,country\nRincon,US\n", to: "spots.csv")
    let made = try Tool.run(
      "import", "spots.csv", "--entity", "Spot", "--model", "Surfing.xcdatamodeld", "--store", "s.sqlite", in: folder)
    #expect(made.status == 0, "\(made.messages)")
    _ = try Programs.sqlite("s.sqlite", "DROP TABLE Z_MODELCACHE", in: folder)
    for command in [["export", "--store", "s.sqlite", "--all-entities", "-o", "files"], ["undo", "s.sqlite", "-y"]] {
      let output = try Programs.run(Tool.url.path, command, in: folder)
      #expect(output.status == 65, "\(output.messages)")
      #expect(output.messages.contains("--model") && output.messages.contains("s.sqlite"), "\(output.messages)")
      #expect(!output.messages.contains("copy.sqlite"), "\(output.messages)")
    }
  }

  @Test func `If two sides could name each other, the side whose objects have names is chosen`() throws {
    try LinkedSample.prepare(folder)
    try folder.write("name,country\nRincon,US\n", to: "spots.csv")
    try folder.write("name\nGun\nFish\n", to: "boards.csv")
    // Two sessions on one day, of which neither attribute is different in each.
    try folder.write(
      "date,spot.name,boards.name,notes\n2023-01-01,Rincon,Gun,am\n2023-01-01,Rincon,Fish;Gun,pm\n"
        + "2023-01-02,,Fish,am\n", to: "sessions.csv")
    let made = try Tool.run(
      "seed", "--from", "Spot=spots.csv", "--from", "Board=boards.csv", "--from", "Session=sessions.csv", "-o",
      "h.sqlite", "--model", "Surfing.xcdatamodeld", in: folder)
    #expect(made.status == 0, "\(made.messages)\(made.text)")
    try passThroughFiles("h.sqlite", model: "Surfing.xcdatamodeld")
    let keys = ["ZSESSION.ZSPOT=ZSPOT", "Z_1SESSIONS.Z_1BOARDS=ZBOARD", "Z_1SESSIONS.Z_2SESSIONS=ZSESSION"]
    #expect(try graph(of: "again.sqlite", keys) == graph(of: "h.sqlite", keys))
    #expect(try graph(of: "h.sqlite", keys).contains("Z_1SESSIONS 4"))
  }

  @Test func `A label that names a relationship alone is refused with a label that works`() throws {
    try LinkedSample.prepare(folder)
    try folder.write("name,country\nRincon,US\n", to: "spots.csv")
    try folder.write("date,spot\n2023-01-01,Rincon\n", to: "sessions.csv")
    func seed() throws -> ProgramOutput {
      try Tool.run(
        "seed", "--from", "Spot=spots.csv", "--from", "Session=sessions.csv", "-o", "h.sqlite", "--model",
        "Surfing.xcdatamodeld", in: folder)
    }
    let refused = try seed()
    #expect(refused.status == 78 && refused.messages.contains("such as 'spot.name'"), "\(refused.messages)")
    try folder.write("date,spot.name\n2023-01-01,Rincon\n", to: "sessions.csv")
    #expect(try seed().status == 0)
    #expect(try Programs.sqlite("h.sqlite", "SELECT count(ZSPOT) FROM ZSESSION", in: folder) == "1\n")
  }

  private static let fleet = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Car">
        <attribute name="plate" optional="YES" attributeType="String"/>
        <attribute name="seats" optional="YES" attributeType="Integer 16"/>
        <relationship name="owner" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="cars" inverseEntity="Person"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="cars" inverseEntity="Tag"/>
      </entity>
      <entity name="Van" parentEntity="Car">
        <attribute name="load" optional="YES" attributeType="Double"/>
      </entity>
      <entity name="Person">
        <attribute name="given" optional="YES" attributeType="String"/>
        <attribute name="family" optional="YES" attributeType="String"/>
        <relationship name="cars" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Car" inverseName="owner" inverseEntity="Car"/>
        CIRCLE
      </entity>
      <entity name="Tag">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="cars" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Car" inverseName="tags" inverseEntity="Car"/>
      </entity>
    </model>
    """

  private func makeFleet(circle: String = "", extra: String = "") throws {
    try folder.makeFolder("Fleet.xcdatamodel")
    try folder.write(
      Self.fleet.replacingOccurrences(of: "CIRCLE", with: circle), to: "Fleet.xcdatamodel/contents")
    try folder.write(
      """
      { "name": "fleet", "model": "Fleet.xcdatamodel", "store": "s.sqlite", "atomic": true, "parts": [
        { "entity": "Tag", "source": "tags.csv", "columns": ["name"] },
        { "entity": "Car", "source": "cars.csv", "relationships": "ignore", "columns": ["plate", "seats",
          { "name": "tags", "attribute": "tags.name", "link": { "separator": "/" } }] },
        { "entity": "Van", "source": "vans.csv", "relationships": "ignore", "columns": ["plate", "load"] },
        { "entity": "Person", "source": "people.csv", "columns": ["given", "family",
          { "name": "cars", "attribute": "cars.plate", "link": { "separator": "/" } }] }
      ] }
      """, to: "fleet.json")
    try folder.write("name\nred\n\"a \"\"b\"\"\"\nold\n", to: "tags.csv")
    try folder.write("plate,seats,tags\nA 1,4,red/old\nB 2,,\nC 3,2,\"a \"\"b\"\"\"\n\(extra)", to: "cars.csv")
    try folder.write("plate,load\nV 1,0.1\nV 2,\n", to: "vans.csv")
    try folder.write("given,family,cars\nAnn,Lee,C 3/V 1/A 1\nAnn,Ray,V 2/B 2\nBo,Lee,\n", to: "people.csv")
    let made = try Tool.run("run", "./fleet.json", in: folder)
    #expect(made.status == 0, "\(made.messages)\(made.text)")
  }

  @Test func `Ordered, mandatory, many-to-many and inherited relationships pass, and keys of two attributes`() throws {
    try makeFleet()
    try passThroughFiles("s.sqlite", model: "Fleet.xcdatamodel")
    let order = """
      SELECT p.ZGIVEN, p.ZFAMILY, group_concat(plate) FROM ZPERSON p JOIN (
        SELECT ZOWNER AS owner, ZPLATE AS plate, Z_ENT FROM ZCAR ORDER BY ZOWNER, Z_FOK_OWNER) ON owner = p.Z_PK
      GROUP BY p.Z_PK ORDER BY 1, 2
      """
    let expected = "Ann|Lee|C 3,V 1,A 1\nAnn|Ray|V 2,B 2\n"
    #expect(try Programs.sqlite("s.sqlite", order, in: folder) == expected)
    #expect(try Programs.sqlite("again.sqlite", order, in: folder) == expected)
    let tags = "SELECT ZPLATE, ZSEATS, ZLOAD, Z_ENT FROM ZCAR ORDER BY 1; SELECT ZNAME FROM ZTAG ORDER BY 1"
    #expect(
      try Programs.sqlite("again.sqlite", tags, in: folder) == Programs.sqlite("s.sqlite", tags, in: folder))
    let table = try Programs.sqlite(
      "s.sqlite", "SELECT name FROM sqlite_master WHERE name LIKE 'Z\\_%TAGS' ESCAPE '\\' AND type = 'table'",
      in: folder)
    #expect(!table.isEmpty)
  }

  @Test func `Relationships that are ordered on both sides keep both orders, and so do those to themselves`() throws {
    try LateModel.write(
      "Mix.xcdatamodel",
      entities: """
        <entity name="List">
          <attribute name="name" attributeType="String"/>
          <relationship name="like" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="List" inverseName="like" inverseEntity="List"/>
          <relationship name="songs" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Song" inverseName="lists" inverseEntity="Song"/>
        </entity>
        <entity name="Song">
          <attribute name="title" attributeType="String"/>
          <relationship name="lists" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="List" inverseName="songs" inverseEntity="List"/>
        </entity>
        """, to: folder)
    func command(_ words: String) throws {
      let output = try Tool.shell("$surfjournal \(words) --store s.sqlite --model Mix.xcdatamodel -yq", in: folder)
      #expect(output.status == 0, "\(words): \(output.messages)")
    }
    for name in ["A", "B", "C"] { try command("add --entity List --set name=\(name)") }
    for (title, lists) in [("x", "3,1"), ("y", "2,1,3"), ("z", "1")] {
      try command("add --entity Song --set title=\(title) --set lists=\(lists)")
    }
    try command("edit 1 --entity List --set songs=3,1,2 --set like=3,2")
    try command("edit 3 --entity List --set songs=2,1 --set like=2,1")
    try passThroughFiles("s.sqlite", model: "Mix.xcdatamodel")
    #expect(try folder.text("files/List.csv") == "name,like.name,songs.title\nA,C;B,z;x;y\nB,A;C,y\nC,B;A,y;x\n")
    #expect(try folder.text("files/Song.csv") == "title,lists.name\nx,C;A\ny,B;A;C\nz,A\n")
    let again = try Tool.run(
      "export", "--store", "again.sqlite", "--all-entities", "--output", "more", "--model", "Mix.xcdatamodel",
      in: folder)
    #expect(again.status == 0, "\(again.messages)")
    for file in ["List.csv", "Song.csv"] {
      #expect(try folder.text("more/\(file)") == folder.text("files/\(file)"))
    }
  }

  @Test func `Objects that nothing tells apart pass, by numbers of their own`() throws {
    // Two cars of one plate.
    try makeFleet(
      circle:
        "<relationship name=\"boss\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" destinationEntity=\"Person\"/>",
      extra: "D 4,,\nD 4,7,\n")
    _ = try Programs.sqlite(
      "s.sqlite",
      "UPDATE ZCAR SET ZOWNER = 2, Z_FOK_OWNER = 9000 + coalesce(ZSEATS, 0) WHERE ZPLATE = 'D 4'; UPDATE ZPERSON SET ZBOSS = 3",
      in: folder)
    try passThroughFiles("s.sqlite", model: "Fleet.xcdatamodel")
    #expect(try folder.text("files/Person.csv").contains("cars.record"))
    let owners = """
      SELECT p.ZGIVEN, p.ZFAMILY, b.ZFAMILY, c.ZPLATE, c.ZSEATS FROM ZPERSON p LEFT JOIN ZCAR c ON c.ZOWNER = p.Z_PK
        LEFT JOIN ZPERSON b ON b.Z_PK = p.ZBOSS ORDER BY 1, 2, c.Z_FOK_OWNER
      """
    let before = try Programs.sqlite("s.sqlite", owners, in: folder)
    #expect(before.contains("Ann|Ray|Lee|D 4|7\n"))
    #expect(try Programs.sqlite("again.sqlite", owners, in: folder) == before)
    let stray = try Tool.run(
      "export", "--store", "s.sqlite", "--all-entities", "-o", "more", "--where", "seats > 1", in: folder)
    #expect(stray.status == 64 && stray.messages.contains("--where"))
  }

  @Test(
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: [
      ("coredataplus-sample1-v1/SampleModel_V1.sqlite", "SampleModel.xcdatamodeld/SampleModel.xcdatamodel"),
      ("coredataplus-sample1-v2-migrated/SampleModel_V2.sqlite", "SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"),
      (
        "wibosco-revised-v3/CoreDataMigration_Example_3.sqlite",
        "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example 3.xcdatamodel"
      ),
      ("bnr-testmodel/TestModel.sqlite", "Sample.xcdatamodeld/TestModel.xcdatamodel"),
    ])
  func `Stores of real apps pass`(_ path: String, _ version: String) throws {
    let store = SharedFiles.stores.appendingPathComponent(path)
    let model = store.deletingLastPathComponent().appendingPathComponent(version)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
      try FileManager.default.copyItem(
        at: URL(fileURLWithPath: store.path + suffix), to: folder.file("s.sqlite" + suffix))
    }
    try passThroughFiles("s.sqlite", model: model.path)
    let keys = [
      "ZCAR.ZOWNER=ZPERSON", "ZSECTION.ZPOST=ZPOST", "Z_1BOOKS.Z_1AUTHORS=ZAUTHOR", "Z_1BOOKS.Z_2BOOKS=ZBOOK",
    ]
    #expect(try graph(of: "again.sqlite", keys) == graph(of: "s.sqlite", keys))
  }
}
