import Foundation
import TestSupport
import Testing

/// Pipelines whose columns lead over a relationship from both ends, against a model in Python: both ends say the same, or
/// the records that contradict each other are rejected.
@Suite(.seeded) struct BothEndsTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  private func run(_ options: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, ["run", "./p.json", "--json"] + options, in: folder)
  }

  private func writePipeline(chunkRows: Int = 5000, sessionsFirst: Bool = false, ifMissing: String = "reject") throws {
    let link = "\"link\": { \"ifMissing\": \"\(ifMissing)\""
    let spots = """
      { "entity": "Spot", "source": ["spots.csv", "spots.jsonl"], "sourceOptional": true,
        "chunkRows": \(chunkRows), "key": "name", "duplicates": "update", "columns": ["name",
          { "name": "sessions", "attribute": "sessions.date", \(link), "separator": ";" } }] }
      """
    let sessions = """
      { "entity": "Session", "source": ["sessions.csv", "sessions.jsonl"], "sourceOptional": true,
        "chunkRows": \(chunkRows), "key": "date", "duplicates": "update", "columns": ["date", { "name": "spot", "attribute": "spot.name", \(link) } },
          { "name": "boards", "attribute": "boards.name", \(link), "separator": ";" } }] }
      """
    let boards = """
      { "entity": "Board", "source": "boards.csv", "sourceOptional": true, "key": "name", "duplicates": "update",
        "columns": ["name", { "name": "sessions", "attribute": "sessions.date", \(link), "separator": ";" } }] }
      """
    let parts = sessionsFirst ? [sessions, spots, boards] : [spots, boards, sessions]
    try folder.write(
      """
      { "name": "ends", "model": "Surfing.xcdatamodeld", "store": "s.sqlite", "missingColumns": "ignore",
        "parts": [\(parts.joined(separator: ",\n"))] }
      """, to: "p.json")
  }

  /// Writes the files, some records of which contradict each other, and prints what the store has in the end.
  private static let play = """
    import csv, random, sys
    random.seed(\(Randomness.seed))
    isWrong = sys.argv[1] == "wrong"
    spots = {f"s{n}": [] for n in range(20)}
    sessions = {f"2024-01-{n:02}": random.choice(list(spots) + [""]) for n in range(1, 29)}
    for date, spot in sessions.items():
        if spot: spots[spot].append(date)
    if isWrong:
        sessions["2024-01-01"] = "s1"
        if "2024-01-01" in spots["s1"]: spots["s1"].remove("2024-01-01")
        for date in random.sample(list(sessions), 3): sessions[date] = random.choice(list(spots) + [""])
        for spot in random.sample(list(spots), 3): spots[spot] = spots[spot][1:] + random.sample(list(sessions), 1)
    for name, header, all in [("spots.csv", ["name", "sessions"], spots), ("sessions.csv", ["date", "spot"], sessions)]:
        with open(name, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(header)
            items = list(all.items())
            random.shuffle(items)
            for key, value in items: out.writerow([key, value if isinstance(value, str) else "; ".join(value)])
    names = {**{spot: set(dates) for spot, dates in spots.items()},
             **{date: {spot} - {""} for date, spot in sessions.items()}}
    good = set(names)
    while True:
        bad = {one for one in good if names[one] - good}
        bad |= {one for one in good - bad if any(one not in names[other] for other in names[one] - bad)}
        while True:
            more = {one for one in good - bad if names[one] & bad}
            if not more: break
            bad |= more
        if not bad: break
        good -= bad
    assert isWrong == (len(good) < len(names))
    for spot in sorted(spots.keys() & good): print(spot)
    for date in sorted(sessions.keys() & good): print(date, sessions[date])
    print(len(names) - len(good))
    """

  private func state() throws -> String {
    try rows(
      """
      SELECT ZNAME FROM ZSPOT ORDER BY 1;
      SELECT strftime('%Y-%m-%d', ZDATE + 978307200, 'unixepoch') || ' ' || coalesce(ZNAME, '')
        FROM ZSESSION s LEFT JOIN ZSPOT p ON p.Z_PK = s.ZSPOT ORDER BY 1
      """)
  }

  @Test(arguments: ["right", "wrong"], [1, 5000])
  func `Both ends say the same, or the records that contradict each other are rejected`(
    _ kind: String, _ chunkRows: Int
  ) throws {
    let expected = try Programs.python(Self.play, kind, in: folder)
    for sessionsFirst in [false, true] {
      try? FileManager.default.removeItem(at: folder.file("s.sqlite"))
      try writePipeline(chunkRows: chunkRows, sessionsFirst: sessionsFirst)
      let dry = try run("--dry-run")
      let output = try run()
      #expect(output.status == (kind == "wrong" ? 65 : 0), "\(output.messages)")
      let summary = try output.json()
      #expect(try state() + "\(summary.counts.rejected)\n" == expected)
      #expect(try dry.json().counts == summary.counts)
      #expect(try LinkedCounts(dry) == LinkedCounts(output))
      #expect(kind == "right" || (summary.issues.counts["different-object"] ?? 0) > 0)
      #expect(try Tool.run("verify", "s.sqlite", in: folder).status == 0)
      let undo = try Tool.run("undo", "s.sqlite", "-y", "--model", "Surfing.xcdatamodeld", in: folder)
      #expect(undo.status == 0, "\(undo.messages)")
      #expect(try rows("SELECT count(*) FROM ZSPOT UNION ALL SELECT count(*) FROM ZSESSION") == "0\n0\n")
    }
  }

  @Test func `The message names the other record, and following it works`() throws {
    try writePipeline()
    try folder.write("name,sessions\nRincon,2024-01-01;2024-01-02\nBells,\n", to: "spots.csv")
    try folder.write("date,spot\n2024-01-01,Rincon\n2024-01-02,Bells\n", to: "sessions.csv")
    let output = try run()
    #expect(output.status == 65)
    let issues = try output.json().issues.listed.filter { $0.code == "different-object" }
    #expect(issues.count == 2, "\(issues)")
    #expect(
      issues.contains {
        $0.record == 1 && $0.column == "sessions"
          && $0.message.contains("whose own record, number 2 of sessions.csv, leads elsewhere over 'spot'")
      }, "\(issues)")
    #expect(
      issues.contains {
        $0.record == 2 && $0.message.contains("number 2 of spots.csv, leads to nothing over 'sessions'")
      },
      "\(issues)")
    try folder.write("name,sessions\nRincon,2024-01-01\nBells,2024-01-02\n", to: "spots.csv")
    let corrected = try run("--again")
    #expect(corrected.status == 0, "\(corrected.messages)\(corrected.text)")
    #expect(try state() == "Bells\nRincon\n2024-01-01 Rincon\n2024-01-02 Bells\n")
  }

  @Test func `Many lead to many from both ends, and entries of earlier runs may be named by one end only`() throws {
    try writePipeline()
    try folder.write("name,sessions\nRincon,2024-01-01\n", to: "spots.csv")
    try folder.write("name,sessions\nFish,2024-01-01;2024-01-02\nLog,2024-01-02\n", to: "boards.csv")
    try folder.write("date,spot,boards\n2024-01-01,Rincon,Fish\n2024-01-02,,Log;Fish\n", to: "sessions.csv")
    let output = try run()
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    let join =
      "SELECT group_concat(ZNAME) FROM (SELECT ZNAME, Z_2SESSIONS FROM Z_1SESSIONS JOIN ZBOARD ON Z_PK = Z_1BOARDS "
      + "ORDER BY 2, 1) GROUP BY Z_2SESSIONS"
    #expect(try rows(join) == "Fish\nFish,Log\n")
    // No record says anything about the sessions.
    try folder.write("name,sessions\nPico,2024-01-02\n", to: "spots.csv")
    let later = try run()
    #expect(later.status == 0, "\(later.messages)\(later.text)")
    #expect(try state() == "Pico\nRincon\n2024-01-01 Rincon\n2024-01-02 Pico\n")
    try folder.write("date,spot,boards\n2024-01-01,Rincon,Log\n", to: "sessions.csv")
    try folder.write("name,sessions\nLog,2024-01-02\n", to: "boards.csv")
    let wrong = try run()
    #expect(wrong.status == 65)
    #expect(try rows(join) == "Fish\nFish,Log\n")
  }

  @Test func `What a record of JSON Lines does not state contradicts nothing, and nothing is created from both ends`()
    throws
  {
    try writePipeline()
    try folder.write("{\"name\": \"Rincon\"}\n{\"name\": \"Bells\", \"sessions\": \"2024-01-02\"}\n", to: "spots.jsonl")
    try folder.write(
      "{\"date\": \"2024-01-01\", \"spot\": \"Rincon\"}\n{\"date\": \"2024-01-02\"}\n", to: "sessions.jsonl")
    let output = try run()
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    #expect(try state() == "Bells\nRincon\n2024-01-01 Rincon\n2024-01-02 Bells\n")
    try writePipeline(ifMissing: "create")
    let refused = try run()
    #expect(refused.status == 78 && refused.messages.contains("from both ends"), "\(refused.messages)")
  }
}
