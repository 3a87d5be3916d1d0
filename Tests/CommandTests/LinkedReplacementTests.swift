import Foundation
import TestSupport
import Testing

/// `--replace` and `--only-new` where records lead to related objects: what a record leads to is part of it. Python has
/// the rules, and reads the stores.
@Suite(.seeded) struct LinkedReplacementTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  private func tool(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  private func importing(_ file: String, _ options: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["import", file, "--pipeline", "p.json", "--store", "s.sqlite", "--json"] + options, in: folder)
  }

  private func undo() throws -> ProgramOutput {
    try tool("undo", "s.sqlite", "-y", "--model", "Surfing.xcdatamodeld")
  }

  /// A log `a.csv`, its later content `next.csv` and another log `b.csv`, which share records or nearly do. Prints the
  /// records that the store has after the imports of a, b and the next content of a, with their number.
  private static let model = """
    import collections, csv, random, sys
    random.seed(\(Randomness.seed))
    replaces, isBlind = sys.argv[1] == "replace", sys.argv[2] == "blind"
    def record():
        return (f"2024-01-{random.randrange(1, 4):02}", random.choice(["", "3"]),
                random.choice(["Rincon", "Bells", ""]), tuple(random.sample(["Fish", "Log", "Gun"], random.randrange(3))))
    def same(record):
        # The order and repetition of boards say nothing.
        return record[:2] if isBlind else record[:3] + (tuple(sorted(set(record[3]))),)
    def write(name, records):
        with open(name, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["date", "rating", "spot", "boards"])
            for date, rating, spot, boards in records:
                out.writerow([date, rating, spot, random.choice([";", "; "]).join(boards)])
    # Canary: this day differs if what records lead to is not compared.
    a, b = [record() for _ in range(40)], [record() for _ in range(20)] + [("2024-02-01", "", "Rincon", ())]
    following = [one if random.random() < 0.7 else record() for one in a if random.random() < 0.9]
    following = [one[:3] + (one[3] + one[3][:1],) if random.random() < 0.3 else one for one in following]
    following.append(("2024-02-01", "", "Bells", ()))
    for name, records in [("a.csv", a), ("b.csv", b), ("next.csv", following)]: write(name, records)
    count = lambda records: collections.Counter(map(same, records))
    old, new, others = count(a), count(following), count(b)
    store = {}
    for one in old.keys() | new.keys() | others.keys():
        replaced, stored = (old[one], others[one]) if replaces else (0, old[one] + others[one])
        store[one] = stored + min(new[one], replaced) + max(0, new[one] - replaced - stored)
    if isBlind: print(store[("2024-02-01", "")])
    else:
        lines = (f"{'|'.join(one[:3])}|{','.join(one[3])} {store[one]}" for one in store if store[one])
        print("\\n".join(sorted(lines)))
    """

  private func state() throws -> String {
    try Programs.python(
      """
      import collections, datetime, sqlite3
      base = sqlite3.connect("s.sqlite")
      start, found = datetime.datetime(2001, 1, 1), collections.Counter()
      for key, date, rating, spot in base.execute(
          "SELECT s.Z_PK, ZDATE, ZRATING, ZNAME FROM ZSESSION s LEFT JOIN ZSPOT p ON p.Z_PK = s.ZSPOT"):
          day = (start + datetime.timedelta(seconds=date)).strftime("%Y-%m-%d")
          names = base.execute("SELECT b.ZNAME FROM Z_1SESSIONS j JOIN ZBOARD b ON b.Z_PK = j.Z_1BOARDS "
                               "WHERE j.Z_2SESSIONS = ? ORDER BY 1", (key,))
          found[f"{day}|{rating or ''}|{spot or ''}|{','.join(row[0] for row in names)}"] += 1
      print("\\n".join(sorted(f"{one} {count}" for one, count in found.items())))
      """, in: folder)
  }

  @Test(arguments: ["replace", "only-new"], [1, 7, 5000])
  func `A changed input replaces its entries, or adds what is new, by what its records lead to`(
    _ option: String, _ chunkRows: Int
  ) throws {
    let expected = try Programs.python(Self.model, option, "", in: folder)
    try folder.write(LinkedSample.pipeline(chunkRows: chunkRows), to: "p.json")
    #expect(try importing("a.csv").status == 0)
    #expect(try importing("b.csv", "--again").status == 0)
    try folder.write(try folder.text("next.csv"), to: "a.csv")
    let before = try Data(contentsOf: folder.file("s.sqlite"))
    let dry = try tool(
      "validate", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--json", "--\(option)")
    #expect(try Data(contentsOf: folder.file("s.sqlite")) == before)
    let output = try importing("a.csv", "--\(option)")
    #expect(output.status == 0, "\(output.messages)")
    #expect(try state() == expected)
    #expect(try LinkedCounts(dry) == LinkedCounts(output))
    #expect(try output.json().counts.isConserved)
    #expect(try tool("verify", "s.sqlite").status == 0)
    #expect(try Programs.python(Self.model, option, "blind", in: folder) == "1\n")
    #expect(expected.contains("2024-02-01||Bells| 1\n2024-02-01||Rincon| 1"))
    let count = try rows("SELECT count(*) FROM ZSESSION")
    // It is known now, and the undo takes back what it inserted.
    let inserted = try output.json().counts.inserted
    #expect(try importing("a.csv").json().counts.read == 0)
    let taken = try undo()
    #expect(taken.status == 0, "\(taken.messages)")
    #expect(try rows("SELECT \(count.dropLast()) - count(*) FROM ZSESSION") == "\(inserted)\n")
    #expect(try tool("verify", "s.sqlite").status == 0)
  }

  @Test func `Objects that only the replaced input created stay, and the report says so`() throws {
    try folder.write(LinkedSample.pipeline(), to: "p.json")
    try folder.write("date,spot,boards\n2024-01-01,Rincno,Fish;Log\n", to: "a.csv")
    #expect(try importing("a.csv").status == 0)
    try folder.write("date,spot,boards\n2024-01-01,Rincon,Fish\n", to: "a.csv")
    let dry = try tool("validate", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--replace")
    #expect(
      dry.text.contains(
        "1 entry that a.csv had inserted would be replaced; 2 Board and 1 Spot that it had created would stay"),
      "\(dry.text)")
    let output = try tool("import", "a.csv", "--pipeline", "p.json", "--store", "s.sqlite", "--replace")
    #expect(output.status == 0, "\(output.messages)")
    #expect(
      output.text.contains("1 entry that a.csv had inserted was replaced; 2 Board and 1 Spot that it had created stay"))
    #expect(
      try rows("SELECT group_concat(ZNAME) FROM ZSPOT; SELECT count(*) FROM ZBOARD; SELECT ZSPOT FROM ZSESSION")
        == "Rincno,Rincon\n2\n2\n")
    #expect(try rows("SELECT count(*) FROM Z_1SESSIONS") == "1\n")
  }

  @Test func `A name that is left out does not make a record new`() throws {
    try folder.write(LinkedSample.pipeline(ifMissing: "leave"), to: "p.json")
    try folder.write("date,spot,boards\n2024-01-01,Nowhere,None\n2024-01-02,,\n", to: "a.csv")
    #expect(try importing("a.csv").status == 0)
    try folder.write("date,spot,boards\n2024-01-01,Elsewhere,\n2024-01-02,,\n2024-01-03,,\n", to: "a.csv")
    let output = try importing("a.csv", "--only-new")
    #expect(try output.json().counts == Summary.Counts(read: 3, inserted: 1, unchanged: 2))
  }

  @Test func `A record that equals an entry and contradicts its object is rejected`() throws {
    try folder.write(LinkedSample.pipeline(more: ""), to: "p.json")
    try folder.write("date,spot,country\n2024-01-01,Rincon,US\n2024-01-02,Rincon,US\n", to: "a.csv")
    #expect(try importing("a.csv").status == 0)
    try folder.write("date,spot,country\n2024-01-01,Rincon,\n2024-01-02,Rincon,MX\n", to: "a.csv")
    let output = try importing("a.csv", "--only-new")
    #expect(try output.json().counts == Summary.Counts(read: 2, unchanged: 1, rejected: 1))
    #expect(try output.json().issues.counts == ["different-object": 1])
  }

  // MARK: Parts

  private func writeParts(spotKey: String = #""key": "name", "duplicates": "update","#, members: String = "") throws {
    try folder.write(
      """
      { "name": "surfing", "model": "Surfing.xcdatamodeld", "store": "s.sqlite", \(members) "parts": [
        { "entity": "Spot", "source": "spots.csv", \(spotKey) "columns": ["name", "country"] },
        { "entity": "Session", "source": "a.csv", "chunkRows": 2, "columns": ["date", "rating",
          { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject" } }] }] }
      """, to: "parts.json")
  }

  private func writeFirst() throws {
    try folder.write("name,country\nRincon,US\nBells,AU\n", to: "spots.csv")
    try folder.write("date,rating,spot\n2024-01-01,1,Rincon\n2024-01-02,2,Bells\n2024-01-03,3,Bells\n", to: "a.csv")
  }

  private let sessions =
    "SELECT ZRATING, ZNAME, ZCOUNTRY FROM ZSESSION s JOIN ZSPOT p ON p.Z_PK = s.ZSPOT ORDER BY ZDATE, 1"

  @Test(arguments: [false, true])
  func `Parts without a key are replaced, those with a key are updated, in one run`(_ isDeclared: Bool) throws {
    try writeParts(members: isDeclared ? #""changedInputs": "replace", "# : "")
    try writeFirst()
    #expect(try tool("run", "./parts.json").status == 0)
    try folder.write("name,country\nRincon,US\nBells,NZ\nPico,PE\n", to: "spots.csv")
    try folder.write("date,rating,spot\n2024-01-01,1,Pico\n2024-01-02,2,Bells\n", to: "a.csv")
    let option = isDeclared ? [] : ["--replace"]
    func run(_ more: String...) throws -> ProgramOutput {
      try Programs.run(Tool.url.path, ["run", "./parts.json", "--json"] + option + more, in: folder)
    }
    let dry = try run("--dry-run")
    let output = try run()
    #expect(output.status == 0, "\(output.messages)")
    #expect(try LinkedCounts(dry) == LinkedCounts(output))
    #expect(
      try output.json().counts == Summary.Counts(read: 5, inserted: 3, updated: 1, unchanged: 1))
    #expect(try rows(sessions) == "1|Pico|PE\n2|Bells|NZ\n")
    #expect(try rows("SELECT sum(s.Z_PK IN (SELECT Z_PK FROM ZSESSION)) FROM ZSESSION s") == "2\n")
    #expect(try tool("verify", "s.sqlite").status == 0)
    let taken = try undo()
    #expect(taken.status == 0, "\(taken.messages)")
    #expect(try rows("SELECT count(*) FROM ZSESSION; SELECT ZNAME, ZCOUNTRY FROM ZSPOT") == "0\nRincon|US\nBells|AU\n")
  }

  @Test func `Only new records of each part without a key are added`() throws {
    try writeParts(spotKey: "")
    try writeFirst()
    #expect(try tool("run", "./parts.json").status == 0)
    try folder.write("name,country\nBells,AU\nPico,PE\n", to: "spots.csv")
    try folder.write("date,rating,spot\n2024-01-02,2,Pico\n2024-01-03,3,Bells\n2024-01-01,1,Rincon\n", to: "a.csv")
    let dry = try tool("run", "./parts.json", "--json", "--only-new", "--dry-run")
    let output = try tool("run", "./parts.json", "--json", "--only-new")
    #expect(output.status == 0, "\(output.messages)")
    #expect(try LinkedCounts(dry) == LinkedCounts(output))
    #expect(try output.json().counts == Summary.Counts(read: 5, inserted: 2, unchanged: 3))
    #expect(try rows(sessions) == "1|Rincon|US\n2|Bells|AU\n2|Pico|PE\n3|Bells|AU\n")
  }

  @Test func `Entries that others lead to are not replaced, and the advice works`() throws {
    try writeParts(spotKey: "")
    try writeFirst()
    #expect(try tool("run", "./parts.json").status == 0)
    let before = try rows(sessions)
    try folder.write("name,country\nRincon,MX\nBells,AU\n", to: "spots.csv")
    let output = try tool("run", "./parts.json", "--replace")
    #expect(output.status == 65)
    #expect(
      output.messages.contains("a.csv, imported on")
        && output.messages.contains("leads to entries that would be deleted"),
      "\(output.messages)")
    #expect(output.messages.contains("give Spot a key with \"duplicates\": \"update\""), "\(output.messages)")
    #expect(try rows(sessions) == before)
    try writeParts()
    let keyed = try tool("run", "./parts.json")
    #expect(keyed.status == 0, "\(keyed.messages)")
    #expect(try rows(sessions) == before.replacingOccurrences(of: "US", with: "MX"))
  }

  @Test func `Where all parts have keys, or links wait for the end of the run, comparisons are refused by name`() throws
  {
    try writeParts()
    let text = try folder.text("parts.json").replacingOccurrences(
      of: #""source": "a.csv","#, with: #""source": "a.csv", "key": "date","#)
    try folder.write(text, to: "keys.json")
    let keyed = try tool("run", "./keys.json", "--replace")
    #expect(keyed.status == 78 && keyed.messages.contains("each part has a key"), "\(keyed.messages)")
    try writeFirst()
    let reversed = text.replacingOccurrences(of: #""key": "name", "duplicates": "update","#, with: "")
      .replacingOccurrences(
        of: #""columns": ["name", "country"]"#,
        with: #""columns": ["name", { "name": "rating", "attribute": "sessions.rating", "#
          + #""link": { "separator": ";" } }]"#)
    try folder.write(reversed, to: "late.json")
    let late = try tool("run", "./late.json", "--only-new")
    #expect(
      late.status == 78 && late.messages.contains("what 'rating' leads to may come later in the run"),
      "\(late.messages)")
  }
}
