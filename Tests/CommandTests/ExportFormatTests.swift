import Foundation
import TestSupport
import Testing

/// The format of an export is the one that its name says, and JSON Lines restore every value.
@Suite struct ExportFormatTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 0)
  }

  private static let jsonLines = """
    {"date":"2014-07-14T07:30:00Z","height":"3.9","location":"Rincon","period":"12","rating":4,"wind":"Glassy"}
    {"date":"2014-07-15T00:00:00Z","height":"Flat","location":"Malibu, First Point","period":null,"rating":null,"wind":null}

    """

  @Test(arguments: [
    ("a.csv", [], "csv"), ("a.txt", [], "csv"), ("a", [], "csv"), ("a.2014-07", [], "csv"), ("a.tsv", [], "tsv"),
    ("a.TSV.gz", [], "tsv"), ("a.jsonl", [], "jsonl"), ("a.ndjson", [], "jsonl"), ("a.jsonl.gz", [], "jsonl"),
    ("a.log", ["--format", "jsonl"], "jsonl"), ("a.txt", ["--format", "tsv"], "tsv"), ("-", [], "csv"),
    ("-", ["--format", "jsonl"], "jsonl"),
  ])
  func `The output's ending or the option says the format`(name: String, options: [String], format: String) throws {
    let output = try Programs.run(
      Tool.url.path, ["export", "--store", "s", "--output", name, "-q"] + options, in: folder)
    #expect(output.status == 0 && output.messages.isEmpty, "\(output.messages)")
    let bytes = name == "-" ? output.bytes : try folder.data(name)
    let text =
      name.hasSuffix(".gz")
      ? try Programs.output(of: ["zcat", name], in: folder) : String(decoding: bytes, as: UTF8.self)
    switch format {
    case "csv": #expect(text.hasPrefix("date,height,location,period,rating,wind\n2014-07-14T07:30:00Z,3.9,"))
    case "tsv": #expect(text.hasPrefix("date\theight\tlocation\tperiod\trating\twind\n2014-07-14T07:30:00Z\t3.9\t"))
    default: #expect(text == Self.jsonLines)
    }
  }

  static let refused: [(name: String, options: [String], message: String)] = [
    ("a.xlsx", [], "a workbook"), ("a.json", [], "end the name in .jsonl"),
    ("a.json", ["--format", "jsonl"], ".jsonl"),
    ("a.parquet", [], "DuckDB"), ("a.sqlite", [], "a database"), ("a.csv.zip", [], "only gzip is written"),
    ("a.xml", [], "not written"), ("a.ods", ["--format", "csv"], "a workbook"), ("a.html.gz", [], "not written"),
    ("a.foo", [], "names no format"), ("a.csv", ["--format", "jsonl"], "ends in .csv"),
    ("a.jsonl", ["--format", "csv"], "ends in .jsonl"), ("a.tsv", ["--format", "csv"], "ends in .tsv"),
    ("a.csv", ["--format", "parquet"], "--format"), ("a.jsonl", ["--null", "-"], "--null is for CSV"),
    ("a.jsonl", ["--dialect", "journal-app"], "--dialect is for CSV"),
  ]

  @Test(arguments: refused)
  func `A name that means another format is refused, and nothing is written`(
    _ example: (name: String, options: [String], message: String)
  ) throws {
    let before = try folder.names
    let output = try Programs.run(
      Tool.url.path, ["export", "--store", "s", "-o", example.name] + example.options, in: folder)
    #expect(output.status == 64 && output.messages.contains(example.message), "\(output.messages)")
    #expect(try folder.names == before)
    try folder.write(
      #"{"name": "p", "store": "s", "export": {"output": "a.xlsx"}}"#, to: "p.json")
    let run = try Tool.run("run", "p.json", in: folder)
    #expect(run.status == 78 && run.messages.contains("export.output"), "\(run.messages)")
  }

  @Test func `A pipeline says the format, and files are split, hashed and continued as in CSV`() throws {
    try folder.write(
      #"{"name": "p", "store": "s", "export": {"output": "out-{part}.jsonl", "split": {"rows": 1}, "incremental": true, "hash": true}}"#,
      to: "p.json")
    #expect(try Tool.run("run", "p.json", "-q", in: folder).status == 0)
    let lines = Self.jsonLines.split(separator: "\n").map { $0 + "\n" }
    #expect(try folder.text("out-00001.jsonl") == lines[0] && folder.text("out-00002.jsonl") == lines[1])
    #expect(try Programs.run("/usr/bin/env", ["xxhsum", "-c", "out-00001.jsonl.xxh128"], in: folder).status == 0)
    let next = try Tool.run("run", "p.json", in: folder)
    #expect(next.status == 0 && next.text.contains("nothing is new"))
    let verified = try Tool.run(
      "import", "out-00001.jsonl", "--store", "t", "--verify-hash", "--json", in: folder)
    #expect(verified.status == 0, "\(verified.messages)")
    try folder.write(
      #"{"name": "q", "store": "s", "export": {"output": "m.dat", "format": "jsonl", "split": {"month": "date"}}}"#,
      to: "q.json")
    #expect(try Tool.run("run", "q.json", "-q", in: folder).status == 0)
    #expect(try folder.text("m-2014-07.dat") == Self.jsonLines)
    let check = try Tool.run("check", "q.json", in: folder)
    #expect(check.text.contains("m.dat, as JSON Lines"), "\(check.text)")
  }

  @Test(.seeded) func `Random texts and numbers come back as they were, and Python reads the same`() throws {
    let attributes = [
      ("text", "String"), ("whole", "Integer 64"), ("real", "Double"), ("single", "Float"), ("flag", "Boolean"),
      ("amount", "Decimal"), ("day", "Date"), ("data", "Binary"), ("ident", "UUID"),
    ]
    let lines = attributes.map { #"<attribute name="\#($0)" optional="YES" attributeType="\#($1)"/>"# }
    try folder.makeFolder("m.xcdatamodel")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
      <entity name="E" representedClassName="E">\(lines.joined(separator: "\n"))</entity></model>
      """, to: "m.xcdatamodel/contents")
    try Programs.python(Self.makeValues, in: folder)
    func run(_ arguments: String...) throws {
      let output = try Programs.run(
        Tool.url.path, arguments + ["--entity", "E", "--model", "m.xcdatamodel", "-q"], in: folder)
      #expect(output.status == 0, "\(output.messages)\(output.text.prefix(2000))")
    }
    try run("import", "in.jsonl", "--store", "one")
    try run("export", "--store", "one", "-o", "out.jsonl")
    try run("import", "out.jsonl", "--store", "two")
    try run("export", "--store", "two", "-o", "again.jsonl")
    #expect(try folder.data("out.jsonl") == folder.data("again.jsonl"))
    #expect(try Programs.python(Self.compare, in: folder) == "equal 400\n")
  }

  private static let makeValues = #"""
    import base64, json, random, struct, uuid
    random.seed(\#(Randomness.seed))
    parts = [chr(n) for n in range(0x20)] + ["\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\uffff", "é", "🏄🏽‍♀️", '"', "\\", "/", "null", " "]
    def double():
        while True:
            bits = struct.unpack("d", random.randbytes(8))[0]
            if bits == bits and abs(bits) != float("inf"): return bits
    def values():
        return {
            "text": "".join(random.choices(parts, k=random.randrange(8))), "whole": random.randrange(-2**63, 2**63),
            "real": random.choice([double(), 0.1, -0.0, 5e-324, 1e16, random.randrange(100)]),
            "single": struct.unpack("f", struct.pack("f", random.uniform(-1e9, 1e9)))[0], "flag": random.random() < 0.5,
            "amount": random.randrange(-10**9, 10**9) / 100, "day": f"20{random.randrange(10, 40)}-0{random.randrange(1, 10)}-15T07:30:00.25Z",
            "data": base64.b64encode(random.randbytes(random.randrange(1, 20))).decode(), "ident": str(uuid.UUID(int=random.getrandbits(128))).upper()}
    with open("in.jsonl", "w", encoding="utf-8", newline="") as file:
        for _ in range(400):
            entry = {name: None if random.random() < 0.1 else value for name, value in values().items()}
            entry["ident"] = entry["ident"] or str(uuid.UUID(int=random.getrandbits(128))).upper()
            members = list(entry.items())
            random.shuffle(members)
            file.write(json.dumps({k: v for k, v in members if v is not None or random.random() < 0.5}, ensure_ascii=random.random() < 0.5) + "\n")
    """#

  private static let compare = """
    import json, struct
    def single(value): return value if value is None else struct.pack("f", value)
    def read(name):
        data = open(name, "rb").read().decode("utf-8")
        assert data.endswith("\\n")
        return [json.loads(line) for line in data[:-1].split("\\n")]
    def same(a, b):
        return type(a) is type(b) and repr(a) == repr(b) or isinstance(a, (int, float)) and type(a) is not bool and type(b) is not bool and a == b
    before, after = read("in.jsonl"), read("out.jsonl")
    names = sorted(["text", "whole", "real", "single", "flag", "amount", "day", "data", "ident"])
    for old, new in zip(before, after, strict=True):
        assert list(new) == names, new
        assert single(old.get("single")) == single(new["single"])
        for name in names: assert name == "single" or same(old.get(name), new[name]), (name, old.get(name), new[name])
    print("equal", len(after))
    """
}
