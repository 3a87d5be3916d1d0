import Foundation
import TestSupport
import Testing

/// Records that contradict the related objects that they name, against a model of the rules in Python: nothing that a
/// record says of an object is ignored silently.
@Suite(.seeded) struct LinkedDifferenceTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  private func importing(_ file: String, _ options: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["import", file, "--pipeline", "p.json", "--store", "s.sqlite", "--json"] + options, in: folder)
  }

  /// Writes two logs, and prints what becomes of them: the sessions with their spots, the spots, and the records that are
  /// rejected. The argument is the policy.
  private static let model = """
    import csv, random, sys
    random.seed(\(Randomness.seed))
    keeps, updates, matches = sys.argv[1] == "keep", sys.argv[1] == "update", sys.argv[2] == "match"
    spots, sessions, day = {}, {}, 0
    for name in ["a.csv", "b.csv"]:
        rejected, changed = [], 0
        with open(name, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["date", "spot", "country", "boards"])
            days = random.sample(range(1, 60), 40)
            for number, day in enumerate(days, 1):
                date = f"2024-{day // 28 + 1:02}-{day % 28 + 1:02}"
                spot = random.choice(["Rincon", "Bells", "Pico", "Jeffreys", "Log", "Log 2", ""])
                country = random.choice(["", "", "US", "US", "AU"])
                out.writerow([date, spot, country, ""])
                if not spot:
                    if country: rejected.append(number)
                    else: sessions[date] = ""
                    continue
                present = spots.get(spot)
                if present is not None and country and country != present and not keeps:
                    if not updates:
                        rejected.append(number)
                        continue
                    spots[spot] = country
                    changed += 1
                if present is None: spots[spot] = country
                sessions[date] = spot
        print(name, rejected, changed)
    for name in sorted(spots): print(name, spots[name])
    for date in sorted(sessions): print(date, sessions[date])
    """

  private func state() throws -> String {
    try Programs.python(
      """
      import datetime, sqlite3
      base = sqlite3.connect("s.sqlite")
      start = datetime.datetime(2001, 1, 1)
      for name, country in sorted(base.execute("SELECT ZNAME, coalesce(ZCOUNTRY, '') FROM ZSPOT")): print(name, country)
      for date, name in base.execute("SELECT ZDATE, coalesce(ZNAME, '') FROM ZSESSION s LEFT JOIN ZSPOT p "
                                     "ON p.Z_PK = s.ZSPOT ORDER BY 1"):
          print((start + datetime.timedelta(seconds=date)).strftime("%Y-%m-%d"), name)
      """, in: folder)
  }

  @Test(arguments: ["reject", "keep", "update"], [1, 7, 5000])
  func `A record that contradicts an object is rejected, linked or changes it, as is declared`(
    _ policy: String, _ chunkRows: Int
  ) throws {
    let expected = try Programs.python(Self.model, policy, "reject", in: folder)
    try folder.write(
      LinkedSample.pipeline(chunkRows: chunkRows, key: true, more: ", \"ifDifferent\": \"\(policy)\""), to: "p.json")
    var (lines, before) = ("", "")
    for name in ["a.csv", "b.csv"] {
      let dry = try Tool.run("validate", name, "--pipeline", "p.json", "--store", "s.sqlite", "--json", in: folder)
      let output = try importing(name)
      let summary = try output.json()
      #expect(try dry.json().counts == summary.counts)
      #expect(try LinkedCounts(dry) == LinkedCounts(output))
      #expect(summary.counts.isConserved)
      let issues = summary.issues.listed.filter { ["different-object", "missing-object"].contains($0.code) }
      #expect(summary.counts.rejected == issues.count)
      let changed = try LinkedCounts(output).updated("Spot")
      #expect(policy == "update" ? changed > 0 : changed == 0)
      lines += "\(name) [\(issues.map { "\($0.record)" }.joined(separator: ", "))] \(changed)\n"
      if name == "a.csv" { before = try rows(Self.known) }
    }
    #expect(try lines + state() == expected)
    #expect(try Tool.run("verify", "s.sqlite", in: folder).status == 0)
    let undo = try Tool.run("undo", "s.sqlite", "b.csv", "-y", "--model", "Surfing.xcdatamodeld", in: folder)
    #expect(undo.status == 0, "\(undo.messages)")
    // Objects that the second import has created stay.
    #expect(try rows(Self.known).hasPrefix(before))
    #expect(try Tool.run("verify", "s.sqlite", in: folder).status == 0)
  }

  /// Sessions, and then spots in the order of their creation.
  private static let known = """
    SELECT ZDATE, ZSPOT FROM ZSESSION ORDER BY 1; SELECT Z_PK, ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY 1;
    """

  @Test func `The last record decides, however records are imported, and an edit since then keeps the undo from it`()
    throws
  {
    try folder.write(LinkedSample.pipeline(more: ", \"ifDifferent\": \"update\""), to: "p.json")
    try folder.write("date,spot,country\n2024-01-01,Rincon,US\n2024-01-02,Bells,AU\n", to: "a.csv")
    #expect(try importing("a.csv").status == 0)
    try folder.write(
      "date,spot,country\n2024-02-01,Rincon,MX\n2024-02-02,Rincon,\n2024-02-03,Rincon,PR\n2024-02-04,Bells,AU\n",
      to: "b.csv")
    let output = try importing("b.csv")
    #expect(try LinkedCounts(output).updated("Spot") == 2)
    #expect(try rows("SELECT ZCOUNTRY, Z_OPT FROM ZSPOT ORDER BY Z_PK") == "PR|2\nAU|2\n")
    // A record that the store has says it as well.
    try folder.write("date,spot,country\n2024-02-01,Rincon,MX\n", to: "c.csv")
    let again = try importing("c.csv", "--only-new")
    #expect(try again.json().counts == Summary.Counts(read: 1, unchanged: 1))
    #expect(try rows("SELECT ZCOUNTRY, Z_OPT FROM ZSPOT ORDER BY Z_PK") == "MX|3\nAU|2\n")
    func undo(_ input: String) throws -> ProgramOutput {
      try Tool.run("undo", "s.sqlite", input, "-y", "--model", "Surfing.xcdatamodeld", in: folder)
    }
    let early = try undo("b.csv")
    #expect(early.status == 65 && early.messages.contains("1 entry was changed since: Spot 1"), "\(early.messages)")
    #expect(try undo("c.csv").text.contains("1 entry that it updated was set back"))
    #expect(try rows("SELECT ZCOUNTRY FROM ZSPOT ORDER BY Z_PK") == "PR\nAU\n")
    _ = try rows("UPDATE ZSPOT SET ZCOUNTRY = 'XX', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
    #expect(try undo("b.csv").status == 65)
    let kept = try Tool.run(
      "undo", "s.sqlite", "b.csv", "-y", "--keep-changed", "--model", "Surfing.xcdatamodeld", in: folder)
    #expect(kept.status == 0, "\(kept.messages)")
    #expect(try rows("SELECT ZCOUNTRY FROM ZSPOT ORDER BY Z_PK; SELECT count(*) FROM ZSESSION") == "XX\nAU\n2\n")
  }

  @Test func `The message names both values, and following it works`() throws {
    try folder.write(LinkedSample.pipeline(more: ""), to: "p.json")
    try folder.write("date,spot,country\n2024-01-01,Rincon,US\n2024-01-02,Rincon,AU\n2024-01-03,Bells,\n", to: "a.csv")
    let output = try importing("a.csv")
    #expect(output.status == 65)
    let issue = try #require(try output.json().issues.listed.first)
    #expect((issue.code, issue.record, issue.line, issue.column) == ("different-object", 2, 3, "spot"))
    #expect(
      issue.message.contains("'AU' as country of the Spot with name Rincon, which has 'US'"), "\(issue.message)")
    try folder.write("date,spot,country\n2024-02-01,Bells,AU\n", to: "b.csv")
    let second = try importing("b.csv")
    #expect(try second.json().issues.listed.first?.message.contains("which has none") == true)
    try folder.write(LinkedSample.pipeline(), to: "p.json")
    #expect(try importing("b.csv", "--again").status == 0)
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY 1") == "Bells|\nRincon|US\n")
  }

  @Test func `An object that only a part of its key names is refused unless that is declared`() throws {
    let file = "date,spot,country\n2024-01-01,Rincon,\n2024-01-02,Rincon,US\n2024-01-03,,US\n2024-01-04,,\n"
    try folder.write(file, to: "a.csv")
    try folder.write(LinkedSample.pipeline(by: ["name", "country"]), to: "p.json")
    let refused = try importing("a.csv")
    #expect(try refused.json().issues.counts == ["missing-object": 2])
    #expect(
      try refused.json().issues.listed.first?.message.contains("spot.country is empty; fill it in, or set") == true)
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT") == "Rincon|US\n")
    #expect(try rows("SELECT count(*), count(ZSPOT) FROM ZSESSION") == "2|1\n")
    try folder.write(
      LinkedSample.pipeline(by: ["name", "country"], more: ", \"ifIncomplete\": \"match\""), to: "p.json")
    try folder.write("date,spot,country\n2024-02-01,Rincon,\n2024-02-02,Rincon,US\n", to: "b.csv")
    #expect(try importing("b.csv").status == 0)
    #expect(try rows("SELECT ZNAME, ZCOUNTRY FROM ZSPOT ORDER BY Z_PK") == "Rincon|US\nRincon|\n")
  }
}
