import Foundation
import TestSupport
import Testing

/// Every entity of every store that Apple's framework wrote goes out, into a new store of the same model and out again,
/// with the values that Python reads in the model's XML, the store and the CSV. A plain clone lacks the stores.
@Suite(
  .enabled(
    if: SharedFiles.arePresent, "needs ../shared/stores (or SURFJOURNAL_SHARED), which a plain clone lacks"))
struct AppleStoreTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Prints the entities of a model's XML, or how a store's rows of one and a CSV of them differ.
  private static let reader = #"""
    import base64, csv, fractions, datetime, sqlite3, sys, uuid
    from xml.etree import ElementTree
    entities = {e.get("name"): e for e in ElementTree.parse(sys.argv[1] + "/contents").findall("entity")}
    def chain(name):
        return ([] if name is None else chain(entities[name].get("parentEntity")) + [name])
    def attributes(name):
        found = [a for e in chain(name) for a in entities[e].findall("attribute")]
        return {a.get("name"): a.get("attributeType") for a in found if a.get("transient") != "YES"}
    def seconds(text):
        moment, fraction = text.rstrip("Z"), "0"
        if "." in moment: moment, fraction = moment.split(".")
        whole = datetime.datetime.fromisoformat(moment) - datetime.datetime(2001, 1, 1)
        return float(whole // datetime.timedelta(seconds=1) + fractions.Fraction("0." + fraction))
    def value(text, kind):
        if text == r"\N": return None
        if kind == "Date": return seconds(text)
        if kind == "UUID": return uuid.UUID(text).bytes
        if kind in ("Binary", "Transformable"): return base64.b64decode(text, validate=True)
        if kind in ("Double", "Float"): return float(text)
        return int(text) if kind.startswith("Integer") or kind == "Boolean" else text
    if len(sys.argv) == 2:
        print(*entities)
        sys.exit()
    name, path, store = sys.argv[2:]
    wanted = attributes(name)
    database = sqlite3.connect(store)
    numbers = dict(database.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
    # A migrated store may call a renamed entity by its old name.
    number = lambda e: numbers.get(e) or numbers[entities[e].get("elementID")]
    members = ",".join(str(number(e)) for e in entities if name in chain(e))
    columns = ["Z" + a.upper() for a in sorted(wanted)]
    rows = database.execute(
        f"SELECT {','.join(columns)} FROM Z{chain(name)[0].upper()} WHERE Z_ENT IN ({members}) ORDER BY Z_PK").fetchall()
    with open(path, newline="") as file:
        lines = list(csv.reader(file))
    if lines[0] != sorted(wanted): print("columns", lines[0])
    texts = [tuple(value(t, wanted[a]) for t, a in zip(line, sorted(wanted), strict=True)) for line in lines[1:]]
    print("equal" if texts == rows else [pair for pair in zip(texts, rows) if pair[0] != pair[1]][:3], len(rows))
    """#

  @Test(arguments: AppleStore.all)
  func `Values of every entity are those of the store, and come back`(_ store: AppleStore) throws {
    try store.copy(into: folder)
    let entities = try Programs.python(Self.reader, store.version.path, in: folder).split(
      whereSeparator: \.isWhitespace)
    #expect(!entities.isEmpty)
    for entity in entities.map(String.init) {
      let (first, second, new) = ("\(entity)-1.csv", "\(entity)-2.csv", "\(entity).sqlite")
      let exported = try export(entity, store.sqliteFile, to: first, model: store.package)
      let reading = try Programs.python(
        Self.reader, store.version.path, entity, first, store.sqliteFile, in: folder)
      #expect(reading == "equal \(exported)\n", "\(entity)")
      let back = try Tool.run(
        "import", first, "--entity", entity, "--model", store.version.path, "--store", new, "--null", "\\N",
        "--json", in: folder)
      #expect(back.status == 0, "\(entity): \(back.messages)")
      #expect(try back.json().counts.inserted == exported)
      #expect(try export(entity, new, to: second, model: store.version) == exported)
      #expect(try folder.data(first) == folder.data(second), "\(entity)")
      let again = try Programs.python(Self.reader, store.version.path, entity, second, new, in: folder)
      #expect(again == "equal \(exported)\n", "\(entity)")
    }
  }

  private func export(_ entity: String, _ store: String, to file: String, model: URL) throws -> Int {
    let output = try Tool.run(
      "export", "--entity", entity, "--store", store, "--model", model.path, "--null", "\\N", "-o", file, "--json",
      in: folder)
    try #require(output.status == 0, "\(entity): \(output.messages)")
    return try output.json().exported
  }

  @Test(arguments: AppleStore.all)
  func `Without a model the store tells what it has`(_ store: AppleStore) throws {
    try store.copy(into: folder)
    let entities = try Programs.python(Self.reader, store.version.path, in: folder).split(
      whereSeparator: \.isWhitespace)
    for entity in entities.map(String.init) {
      let known = try Tool.run(
        "export", "--entity", entity, "--store", store.sqliteFile, "--model", store.package.path, "-q", in: folder)
      let reported = try Tool.run("export", "--entity", entity, "--store", store.sqliteFile, in: folder)
      #expect(known.status == 0 && reported.status == 0, "\(entity): \(known.messages)\(reported.messages)")
      #expect(reported.text == known.text && !reported.text.isEmpty, "\(entity)")
    }
  }

  @Test func `Columns over relationships are what a join gives`() throws {
    let joins = [
      (
        "wibosco-revised-v3", "Section", "title,post.postID,index,post.date",
        """
        SELECT s.ZTITLE, p.ZPOSTID, s.ZINDEX, p.ZDATE FROM ZSECTION s LEFT JOIN ZPOST p ON p.Z_PK = s.ZPOST
        ORDER BY s.Z_PK
        """
      ),
      (
        "coredataplus-sample1-v1", "Car", "owner.lastName,numberPlate,owner.id,owner.updatedAt",
        """
        SELECT p.ZLASTNAME, c.ZNUMBERPLATE, upper(hex(p.ZID)), p.ZUPDATEDAT FROM ZCAR c
        LEFT JOIN ZPERSON p ON p.Z_PK = c.ZOWNER ORDER BY c.Z_PK
        """
      ),
    ]
    for (name, entity, columns, query) in joins {
      let store = try #require(AppleStore.all.first { $0.name == name })
      try store.copy(into: folder)
      let output = try Tool.run(
        "export", "--entity", entity, "--store", store.sqliteFile, "--columns", columns, "--date-format", "seconds",
        "-q",
        "-o", "joined.csv", in: folder)
      #expect(output.status == 0, "\(output.messages)")
      // Numbers by value, and UUIDs without their hyphens; the rest as it is.
      let comparison = #"""
        import csv, sqlite3, sys
        def plain(text):
            try: return float(text)
            except ValueError: return text.replace("-", "") if len(text) == 36 else text
        rows = [["" if v is None else str(v) for v in row] for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])]
        lines = list(csv.reader(open("joined.csv", newline="")))[1:]
        same = [[plain(t) for t in line] for line in lines] == [[plain(t) for t in row] for row in rows]
        print(same, len(rows) > 10)
        """#
      #expect(try Programs.python(comparison, store.sqliteFile, query, in: folder) == "True True\n", "\(name)")
      let header = try folder.text("joined.csv").prefix { $0 != "\n" && $0 != "\r\n" }
      #expect(header == columns)
    }
  }

  @Test func `Rows are added to an app's own store, after its last key`() throws {
    let store = try #require(AppleStore.all.last)
    try store.copy(into: folder)
    try folder.write("title,index,body\nNew,7,\n", to: "sections.csv")
    let arguments = ["--store", store.sqliteFile, "--entity", "Section", "--model", store.package.path]
    let output = try Programs.run(Tool.url.path, ["import", "sections.csv"] + arguments, in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    let rows = try Programs.sqlite(
      store.sqliteFile, "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZINDEX, ZPOST FROM ZSECTION WHERE Z_PK > 14", in: folder)
    #expect(rows == "15|2|1|New|7|\n")
  }
}

/// One of the stores next to the repository.
struct AppleStore: Sendable, CustomTestStringConvertible {
  let name: String
  let sqliteFile: String
  /// The version that it was written with, in the model's package.
  let model: String

  var testDescription: String { name }
  private var place: URL { SharedFiles.stores.appendingPathComponent(name) }
  var version: URL { place.appendingPathComponent(model) }
  var package: URL { version.deletingLastPathComponent() }

  static let all = [
    AppleStore(
      name: "surfjournal-kodeco", sqliteFile: "SurfJournalModel.sqlite",
      model: "SurfJournalModel.xcdatamodeld/SurfJournalModel.xcdatamodel"),
    AppleStore(
      name: "bnr-testmodel", sqliteFile: "TestModel.sqlite", model: "Sample.xcdatamodeld/TestModel.xcdatamodel"),
    AppleStore(
      name: "coredataplus-sample1-v1", sqliteFile: "SampleModel_V1.sqlite",
      model: "SampleModel.xcdatamodeld/SampleModel.xcdatamodel"),
    AppleStore(
      name: "coredataplus-sample1-v2-migrated", sqliteFile: "SampleModel_V2.sqlite",
      model: "SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"),
    AppleStore(
      name: "wibosco-revised-v1", sqliteFile: "CoreDataMigration_Example_1.sqlite",
      model: "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example.xcdatamodel"),
    AppleStore(
      name: "wibosco-revised-v2", sqliteFile: "CoreDataMigration_Example_2.sqlite",
      model: "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example 2.xcdatamodel"),
    AppleStore(
      name: "wibosco-revised-v3", sqliteFile: "CoreDataMigration_Example_3.sqlite",
      model: "CoreDataMigration_Example.xcdatamodeld/CoreDataMigration_Example 3.xcdatamodel"),
  ]

  /// Copies the store's files, which may be written to then.
  func copy(into scratch: TemporaryFolder) throws {
    for suffix in ["", "-wal", "-shm"] {
      let file = place.appendingPathComponent(sqliteFile + suffix)
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      try Data(contentsOf: file).write(to: scratch.file(sqliteFile + suffix))
    }
  }
}
