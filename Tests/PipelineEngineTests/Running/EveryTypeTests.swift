import DefinitionTestSupport
import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

/// Every attribute type goes in and out by columns, as Python's csv and sqlite3 modules read what is written.
@Suite struct EveryTypeTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  static let types: [(String, NSAttributeType)] = [
    ("amount", .decimalAttributeType), ("archive", .transformableAttributeType), ("day", .dateAttributeType),
    ("digits", .binaryDataAttributeType), ("flag", .booleanAttributeType), ("id", .UUIDAttributeType),
    ("large", .integer64AttributeType), ("link", .URIAttributeType), ("medium", .integer32AttributeType),
    ("name", .stringAttributeType), ("photo", .binaryDataAttributeType), ("ratio", .doubleAttributeType),
    ("share", .floatAttributeType), ("small", .integer16AttributeType),
  ]

  /// A model with an attribute of each type, one that is transient and one that is derived.
  static func model(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    let passing = NSAttributeDescription()
    (passing.name, passing.attributeType, passing.isTransient) = ("passing", .stringAttributeType, true)
    let derived = NSDerivedAttributeDescription()
    (derived.name, derived.attributeType) = ("derived", .integer64AttributeType)
    derived.derivationExpressionFormat = "parent.large"
    let parent = NSRelationshipDescription()
    (parent.name, parent.destinationEntity, parent.isOptional) = ("parent", entity, true)
    entity.properties += [passing, derived, parent]
    change(entity)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  static func definition(_ change: (inout PipelineDefinition) -> Void = { _ in }) -> PipelineDefinition {
    var dialect = DialectDefinition.rfc4180
    dialect.null = "\\N"
    let names = types.map(\.0)
    var definition = PipelineDefinition(
      name: "things", dialect: dialect,
      columns: names.map { name in
        ColumnDefinition(name, formats: name == "digits" ? ["hex"] : name == "day" ? ["iso8601", "seconds"] : [])
      },
      entity: "Thing",
      export: ExportDefinition(
        columns: names.map { .init($0, format: $0 == "digits" ? ["hex"] : []) }, dateFormat: ["iso8601", "seconds"],
        dialect: dialect), vocabulary: .journal)
    definition.missingColumns = .ignore
    change(&definition)
    return definition
  }

  /// Writes random things, and what of a store they must become.
  private static let generator = #"""
    import base64, csv, random, sys, uuid
    random.seed(\#(Randomness.seed))
    def maybe(value): return r"\N" if random.random() < 0.1 else value
    def amount():
        count = random.randint(1, 15)
        digits = str(random.randint(10 ** (count - 1), 10 ** count - 1))
        point = random.randint(0, count)
        return random.choice(["", "-"]) + (digits[:point] or "0") + "." + (digits[point:] or "0")
    def blob(): return random.randbytes(random.choice([0, 1, 2, 3, 16, 300]))
    out = csv.writer(sys.stdout)
    out.writerow(["day", "amount", "archive", "digits", "flag", "id", "large", "link", "medium", "name", "photo", "ratio",
                  "share", "small"])
    for _ in range(1000):
        ident = uuid.UUID(int=random.getrandbits(128))
        out.writerow(map(maybe, [
            repr(random.uniform(-1e9, 2e9)), amount(), base64.b64encode(blob()).decode(), blob().hex(),
            random.choice(["true", "false", "1", "0", "yes", "NO"]),
            random.choice([str(ident), str(ident).upper(), ident.hex, "{%s}" % ident, ident.urn]),
            random.choice([-2**63, 2**63 - 1, random.randint(-2**63, 2**63 - 1)]),
            "https://example.org/%C3%A9/" + ident.hex, random.randint(-2**31, 2**31 - 1),
            random.choice(["", "Räubersöhnchen", 'a "quoted", text\n', "x" * 500]), base64.b64encode(blob()).decode(),
            repr(random.uniform(-1e300, 1e300)), repr(random.uniform(-1e38, 1e38)), random.randint(-32768, 32767)]))
    """#

  /// Prints each field of which a store has something else than the CSV.
  private static let comparison = #"""
    import base64, csv, ctypes, sqlite3, sys, uuid
    from decimal import Decimal
    path, store = sys.stdin.read().split("\n")[:2]
    strtof = ctypes.CDLL(None).strtof
    strtof.restype, strtof.argtypes = ctypes.c_float, [ctypes.c_char_p, ctypes.c_void_p]
    readers = {
        "amount": lambda t: Decimal(t), "archive": base64.b64decode, "photo": base64.b64decode, "digits": bytes.fromhex,
        "day": float, "flag": lambda t: int(t.lower() in ("true", "1", "yes")), "id": lambda t: uuid.UUID(t).bytes,
        "large": int, "medium": int, "small": int, "link": str, "name": str, "ratio": float,
        "share": lambda t: strtof(t.encode(), None)}
    rows = csv.DictReader(open(path, newline=""))
    stored = sqlite3.connect(store)
    stored.row_factory = sqlite3.Row
    count = 0
    for row, kept in zip(rows, stored.execute("SELECT * FROM ZTHING ORDER BY Z_PK"), strict=True):
        count += 1
        for name, text in row.items():
            want = None if text == r"\N" else readers[name](text)
            have = kept["Z" + name.upper()]
            if name == "amount" and have is not None: have = Decimal(repr(have))
            if want != have: print(count, name, text, have)
    print(count)
    """#

  @Test(.seeded) func `Random values of every type reach the store as Python reads them, and come back the same`()
    async throws
  {
    let csv = try folder.write(try python(Self.generator), to: "things.csv")
    let (first, second) = (folder.path("first.sqlite"), folder.path("second.sqlite"))
    let summary = try await run(Self.definition(), .import, inputs: [csv], store: first, model: Self.model())
    #expect(summary.counts.inserted == 1000, "\(summary.issues.listed.prefix(3)) \(summary.failure?.message ?? "")")
    #expect(try python(Self.comparison, input: "\(csv)\n\(first)\n") == "1000\n")
    let out = (folder.path("1.csv"), folder.path("2.csv"))
    _ = try await run(Self.definition(), .export, store: first, model: Self.model()) { $0.output = out.0 }
    // Dates are written in another form, which the one who compares does not read.
    let back = try await run(Self.definition(), .import, inputs: [out.0], store: second, model: Self.model())
    #expect(back.counts.inserted == 1000, "\(back.issues.listed.prefix(3))")
    _ = try await run(Self.definition(), .export, store: second, model: Self.model()) { $0.output = out.1 }
    #expect(try folder.text("1.csv") == folder.text("2.csv"))
    #expect(try python(Self.comparison, input: "\(csv)\n\(second)\n") == "1000\n")
  }

  @Test(arguments: [
    ("amount", "12.345", "12.345"), ("amount", "1e3", "1000"), ("amount", "0.1", "0.1"), ("share", "0.1", "0.1"),
    ("id", "{123e4567-e89b-12d3-a456-426614174000}", "123E4567-E89B-12D3-A456-426614174000"),
    ("photo", "aGVsbG8=", "aGVsbG8="), ("digits", "00FFaa", "00ffaa"), ("archive", "YnBsaXN0MDA=", "YnBsaXN0MDA="),
    ("link", " https://example.org/ ", "https://example.org/"), ("flag", "YES", "1"),
  ])
  func `A value is exported in its one spelling`(name: String, text: String, expected: String) async throws {
    let csv = try folder.write("\(name),small\n\(text),1\n", to: "one.csv")
    let store = folder.path("store.sqlite")
    let definition = Self.definition { $0.export?.columns.removeAll { $0.name != name } }
    let summary = try await run(definition, .import, inputs: [csv], store: store, model: Self.model())
    #expect(summary.counts.inserted == 1, "\(summary.issues.listed)")
    _ = try await run(definition, .export, store: store, model: Self.model()) { $0.output = folder.path("out.csv") }
    #expect(
      try folder.text("out.csv") == "\(name)\r\n\(expected)\r\n" || folder.text("out.csv") == "\(name)\n\(expected)\n")
  }

  @Test(arguments: [
    ("amount", "x", "is not a number"), ("amount", "0.12345678901234567890", "would make it 0.12345678901234568;"),
    ("amount", "1e200", "out of a decimal's range"), ("share", "1e39", "is beyond 3.4028235e+38"),
    ("share", "x", "is not a number"), ("id", "12", "is not a UUID"), ("link", "a b", "is not a URI"),
    ("photo", "?", "is not base64"), ("digits", "abc", "is not hex"), ("archive", "a", "is not base64"),
    ("small", "40000", "is outside -32768 to 32767"),
  ])
  func `What is not of its type is rejected with what to do`(name: String, text: String, message: String) async throws {
    let csv = try folder.write("\(name),name\n\(text),a\n", to: "bad.csv")
    let definition = Self.definition()
    let summary = try await run(
      definition, .import, inputs: [csv], store: folder.path("store.sqlite"), model: Self.model())
    let issue = try #require(summary.issues.listed.first)
    #expect(issue.code == .typeError && issue.column == name)
    #expect(issue.message.contains(message), "\(issue.message)")
    #expect(summary.counts.rejected == 1)
  }

  @Test(arguments: ["id", "amount", "photo", "link"])
  func `Keys and unique columns can be of every type`(name: String) async throws {
    let values = [
      "id": ("123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"), "amount": ("1.50", "15e-1"),
      "photo": ("aGVsbG8=", "\"aGVs\nbG8=\""), "link": ("x:y", " x:y"),
    ]
    let (first, same) = try #require(values[name])
    let store = folder.path("store.sqlite")
    let keyed = Self.definition { ($0.key, $0.duplicates) = ([name], .skip) }
    let one = try folder.write("\(name),small\n\(first),1\n\(same),2\n", to: "one.csv")
    let two = try folder.write("\(name),small\n\(same),3\n", to: "two.csv")
    let summaries = [
      try await run(keyed, .import, inputs: [one], store: store, model: Self.model()),
      try await run(keyed, .import, inputs: [two], store: store, model: Self.model()),
    ]
    #expect(summaries.map(\.counts.inserted) == [1, 0])
    #expect(summaries.map(\.counts.repeated) == [1, 0] && summaries.map(\.counts.duplicate) == [0, 1])
    let unique = Self.definition { definition in
      for index in definition.columns.indices where definition.columns[index].name == name {
        definition.columns[index].rules = [ValueRule(.unique)]
      }
    }
    let refused = try await run(unique, .import, inputs: [two], store: store, model: Self.model()) { $0.again = true }
    #expect(refused.issues.listed.map(\.code) == [.uniqueError])
  }

  @Test(arguments: [
    ("columns", "photo", ["base64", "hex"], "name base64 or hex, not both"),
    ("columns", "photo", ["iso8601"], "'iso8601' is not a format of bytes"),
    ("columns", "id", ["hex"], "formats are for dates and binary data"),
    ("columns", "day", ["hex"], "hex"),
    ("export", "photo", ["hex", "base64"], "name base64 or hex, not both"),
    ("export", "name", ["hex"], "formats are for dates and binary data"),
  ])
  func `A format is for the types that have one`(part: String, name: String, formats: [String], message: String)
    async throws
  {
    let definition = Self.definition { definition in
      if part == "columns" {
        definition.columns = [ColumnDefinition(name, formats: formats)]
      } else {
        definition.export?.columns = [.init(name, format: formats)]
      }
    }
    let review = PipelineReview(definition, model: Self.model())
    let mistakes = try #require(review.error?.mistakes)
    #expect(mistakes.contains { $0.path.hasPrefix("\(part == "export" ? "export.columns" : "columns")[0].format") })
    #expect(mistakes.contains { $0.message.contains(message) }, "\(mistakes)")
  }

  @Test(arguments: ["passing", "derived"])
  func `Transient and derived attributes are not filled`(name: String) async throws {
    let definition = Self.definition { $0.columns = [ColumnDefinition(name)] }
    let review = PipelineReview(definition, model: Self.model())
    #expect(review.error?.mistakes.map(\.path) == ["columns[0]"])
    #expect(review.error?.message.contains("has no attribute '\(name)' that a column can fill") == true)
  }

  @Test func `Rules for records ask of bytes and the like only whether they are there`() throws {
    let when = RecordRule(
      .when(
        .column(ColumnCondition("photo", [.isEmpty(true)])), then: [.column(ColumnCondition("id", [.isEmpty(false)]))]))
    var definition = Self.definition { $0.recordRules = [when] }
    #expect(PipelineReview(definition, model: Self.model()).error == nil)
    definition.recordRules = [RecordRule(.compare(ColumnComparison("id", .less, to: "id")))]
    let error = try #require(PipelineReview(definition, model: Self.model()).error)
    #expect(error.message.contains("can only test whether it is empty"))
    definition.recordRules = [RecordRule(.compare(ColumnComparison("amount", .less, to: "share")))]
    #expect(PipelineReview(definition, model: Self.model()).error == nil)
  }
}
