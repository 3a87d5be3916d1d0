import Foundation
import TestSupport
import Testing

/// `surfjournal diff` of files whose columns lead over relationships, with a store and with a file, against a model in
/// Python.
@Suite(.seeded) struct LinkedDiffTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
  }

  private static let model = """
    import collections, csv, json, random, sys
    COUNTRIES = {"Rincon": "US", "Bells": "AU", "Pico": "PE", "": ""}
    NAMES = ["date", "rating", "spot", "country", "boards"]
    def write(name, rows, header):
        with open(name, "w", newline="") as file:
            out = csv.DictWriter(file, header, extrasaction="ignore")
            out.writeheader()
            for row in rows: out.writerow({**row, "boards": random.choice([";", " ; "]).join(row["boards"])})
    def make():
        random.seed(\(Randomness.seed))
        def said(row):
            row["spot"] = random.choice(list(COUNTRIES))
            row["country"] = COUNTRIES[row["spot"]]
            row["boards"] = random.sample(["Fish", "Log", "Gun"], random.randrange(4))
        old = []
        for number in range(60):
            row = {"date": f"2024-{number // 28 + 1:02}-{number % 28 + 1:02}", "rating": random.choice(["", "1", "2"])}
            said(row)
            old.append(row)
        new = []
        for row in old:
            row, fate = dict(row), random.random()
            if fate < 0.1: continue
            if fate < 0.3: said(row)
            if fate > 0.8: row["rating"] = random.choice(["", "3"])
            if 0.4 < fate < 0.6: row["boards"] = row["boards"][::-1] + row["boards"][:1]
            if row["spot"] and random.random() < 0.3: row["country"] = random.choice(["", "XX"])
            new.append(row)
        # Canaries: another spot, another board, another country.
        base = {"rating": "", "spot": "Rincon", "country": "US", "boards": ["Fish"]}
        for number, change in enumerate([{"spot": "Bells", "country": "AU"}, {"boards": ["Log"]}, {"country": "MX"}], 1):
            row = {**base, "date": f"2025-01-{number:02}"}
            old.append(row)
            new.append({**row, **change})
        random.shuffle(new)
        write("old.csv", old, NAMES)
        write("new.csv", new, NAMES)
    def read(name):
        for row in csv.DictReader(open(name, newline="")):
            names = sorted({text.strip() for text in row["boards"].split(";")} - {""})
            yield {"date": row["date"] + "T00:00:00Z", "rating": int(row["rating"]) if row["rating"] else None,
                   "spot.name": row["spot"] or None, "spot.country": row["country"] or None,
                   "boards.name": ";".join(names) or None}
    def check(path, isKeyed):
        lines = [json.loads(line) for line in open(path)]
        found = [line for line in lines if line["kind"] in ("changed", "added", "missing")]
        old, new = list(read("old.csv")), list(read("new.csv"))
        if not isKeyed:
            def whole(row): return json.dumps({k: v for k, v in row.items() if k != "spot.country"}, sort_keys=True)
            olds, news = collections.Counter(map(whole, old)), collections.Counter(map(whole, new))
            for kind, wanted, side in [("added", news - olds, "new"), ("missing", olds - news, "old")]:
                listed = collections.Counter(json.dumps(line[side], sort_keys=True) for line in found if line["kind"] == kind)
                if listed != wanted: print(kind, "wanted", wanted - listed, "found", listed - wanted)
            assert news - olds
            return
        before = {row["date"]: row for row in old}
        wanted = {}
        for row in new:
            one = before.pop(row["date"])
            differing = [name for name in row if row[name] != one[name]]
            if row["spot.name"] and row["spot.country"] is None and "spot.country" in differing:
                differing.remove("spot.country")
            if differing:
                wanted[row["date"]] = ({name: one[name] for name in differing}, {name: row[name] for name in differing})
        listed = {line["key"]["date"]: (line["old"], line["new"]) for line in found if line["kind"] == "changed"}
        for date in wanted.keys() | listed.keys():
            if wanted.get(date) != listed.get(date): print(date, "wanted", wanted.get(date), "found", listed.get(date))
        missing = {line["key"]["date"] for line in found if line["kind"] == "missing"}
        if missing != set(before): print("missing", missing ^ set(before))
        assert {name for pair in wanted.values() for name in pair[1]} >= {"spot.name", "boards.name", "spot.country"}
    if sys.argv[1] == "make": make()
    else: check(sys.argv[1], sys.argv[2] == "keyed")
    """

  @Test(arguments: [false, true])
  func `Every difference of what records lead to is the model's, between files and with a store`(
    _ isKeyed: Bool
  ) throws {
    _ = try Programs.python(Self.model, "make", in: folder)
    try folder.write(LinkedSample.pipeline(chunkRows: 7, key: isKeyed), to: "p.json")
    let imported = try Tool.run("import", "old.csv", "--pipeline", "p.json", "--store", "s", "-q", in: folder)
    #expect(imported.status == 0, "\(imported.messages)")
    let before = try Data(contentsOf: folder.file("s"))
    for (name, arguments) in [("file", ["old.csv", "new.csv"]), ("store", ["new.csv", "--store", "s"])] {
      let output = try Programs.run(
        Tool.url.path, ["diff"] + arguments + ["--pipeline", "p.json", "--json"], in: folder)
      #expect(output.status == 0, "\(output.messages)")
      try output.bytes.write(to: folder.file("\(name).jsonl"))
      let mistakes = try Programs.python(Self.model, "\(name).jsonl", isKeyed ? "keyed" : "whole", in: folder)
      #expect(mistakes.isEmpty, "\(name): \(mistakes)")
    }
    #expect(try Data(contentsOf: folder.file("s")) == before)
  }

  @Test func `The text shows what entries lead to, and names of records are refused`() throws {
    try folder.write(LinkedSample.pipeline(key: true), to: "p.json")
    try folder.write("date,spot,country,boards\n2024-01-01,Rincon,US,Fish;Log\n2024-01-02,,,\n", to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", "-q", in: folder).status == 0)
    try folder.write("date,spot,country,boards\n2024-01-01,Bells,,Log; Fish\n2024-01-02,Rincon,,\n", to: "b.csv")
    let output = try Tool.run("diff", "b.csv", "--store", "s", "--pipeline", "p.json", in: folder)
    #expect(output.text.contains("spot.name: Rincon → Bells"), "\(output.text)\(output.messages)")
    #expect(output.text.contains("spot.name: (none) → Rincon") && !output.text.contains("boards.name: "))
    let same = try Tool.run("diff", "a.csv", "--store", "s", "--pipeline", "p.json", "--exit-code", in: folder)
    #expect(same.status == 0, "\(same.text)")
    try folder.write(
      """
      { "name": "p", "model": "Surfing.xcdatamodeld", "entity": "Session", "columns": ["date",
        { "name": "spot", "attribute": "spot.@record", "link": {} }] }
      """, to: "r.json")
    let refused = try Tool.run("diff", "a.csv", "--store", "s", "--pipeline", "r.json", in: folder)
    #expect(refused.status == 78 && refused.messages.contains("names records in the files of one run only"))
  }
}
