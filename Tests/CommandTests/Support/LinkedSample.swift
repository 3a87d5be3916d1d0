import Foundation
import TestSupport

/// Sessions that lead to spots and boards: the model of the sample, pipelines, and Python's reading of both sides.
enum LinkedSample {
  /// Puts the model into the folder.
  static func prepare(_ folder: TemporaryFolder) throws {
    try FileManager.default.copyItem(
      at: Repository.file("SampleData/Surfing.xcdatamodeld"), to: folder.file("Surfing.xcdatamodeld"))
  }

  /// - Parameter key: Whether the date is the key, and later records update.
  static func pipeline(
    chunkRows: Int = 5000, ifMissing: String = "create", by: [String] = ["name"], key: Bool = false,
    more: String = ", \"ifDifferent\": \"keep\""
  ) -> String {
    """
    {
      "name": "sessions", "model": "Surfing.xcdatamodeld", "entity": "Session", "chunkRows": \(chunkRows),
      "missingColumns": "ignore",\(key ? "\n  \"key\": \"date\", \"duplicates\": \"update\"," : "")
      "columns": [
        "date", "rating",
        {
          "name": "spot", "attribute": "spot.name",
          "link": { "by": [\(by.map { "\"\($0)\"" }.joined(separator: ", "))], "ifMissing": "\(ifMissing)"\(more) }
        },
        { "name": "country", "attribute": "spot.country" },
        {
          "name": "boards", "attribute": "boards.name",
          "link": { "ifMissing": "\(ifMissing)", "separator": ";" }
        }
      ]
    }
    """
  }

  /// Writes a log of some records: the arguments are its name and their number.
  static let makeLog = """
    import csv, random, sys
    random.seed(\(Randomness.seed))
    spots = ["Rincon", "Bells, Torquay", 'The "Box"', "Jeffreys", "Pico Alto", "Ériceira"] + [f"Spot {n}" for n in range(20)]
    boards = ["Fish", "Log", "Gun", "Mini \\"Simmons\\""]
    with open(sys.argv[1], "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["date", "spot", "country", "boards", "rating"])
        for n in range(int(sys.argv[2])):
            spot = random.choice(spots + [""])
            named = random.choices(boards, k=random.randrange(4))
            separator = random.choice([";", "; ", " ;"])
            country = random.choice(["US", "AU", "FR", ""]) if spot else ""
            out.writerow([f"20{n // 336 % 90 + 10}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}", spot, country,
                          separator.join(named), random.choice(["", 1, 2, 3, 4, 5])])
    """

  private static let read = """
    import csv, sys
    spots, boards, sessions, links = {}, {}, [], {"Spot": 0, "Board": 0}
    for row in csv.DictReader(open(sys.argv[1], newline="")):
        named = []
        for name in row["boards"].split(";"):
            if name.strip() and name.strip() not in named: named.append(name.strip())
        if row["spot"]:
            spots.setdefault(row["spot"], row["country"])
            links["Spot"] += 1
        for name in named:
            boards.setdefault(name, name)
            links["Board"] += 1
        sessions.append((row["date"], row["rating"], row["spot"], spots.get(row["spot"], ""), sorted(named)))
    """

  /// Prints the graph that a log describes: the argument is its name.
  static let expected =
    read + """

      for date, rating, spot, country, named in sessions:
          print("|".join([date, rating, spot, country]))
          for name in named: print("  " + name)
      """

  /// Prints the counts of created and linked objects that a log leads to.
  static let expectedCounts =
    read + """

      print("Board", len(boards), links["Board"], 0)
      print("Spot", len(spots), links["Spot"], 0)
      """

  /// The graph of a store in the same form, and that every row of it is reached.
  static func graph(of store: String, in folder: TemporaryFolder) throws -> String {
    try Programs.python(
      """
      import datetime, sqlite3, sys
      base = sqlite3.connect(sys.argv[1])
      def text(value): return "" if value is None else str(value)
      start = datetime.datetime(2001, 1, 1)
      for key, date, rating, spot, country in base.execute(
          "SELECT s.Z_PK, ZDATE, ZRATING, ZNAME, ZCOUNTRY FROM ZSESSION s LEFT JOIN ZSPOT p ON p.Z_PK = s.ZSPOT "
          "ORDER BY s.Z_PK"):
          day = (start + datetime.timedelta(seconds=date)).strftime("%Y-%m-%d")
          print("|".join([day, text(rating), text(spot), text(country)]))
          names = base.execute("SELECT b.ZNAME FROM Z_1SESSIONS j JOIN ZBOARD b ON b.Z_PK = j.Z_1BOARDS "
                               "WHERE j.Z_2SESSIONS = ?", (key,))
          for name in sorted(row[0] for row in names): print("  " + name)
      """, store, in: folder)
  }
}

/// The counts of a JSON report with those of the related objects.
struct LinkedCounts: Decodable, Equatable {
  private struct Link: Decodable, Equatable {
    let entity: String
    let created: Int
    let linked: Int
    let leftOut: Int
    let updated: Int
  }

  private let report: Report

  private struct Report: Decodable, Equatable {
    let counts: Summary.Counts
    let links: [Link]?
  }

  init(_ output: ProgramOutput) throws { report = try JSONDecoder().decode(Report.self, from: output.bytes) }

  /// How often records have changed objects of an entity.
  func updated(_ entity: String) -> Int { report.links?.first { $0.entity == entity }?.updated ?? 0 }

  /// A line for each entity: its name, and what was created, linked and left out.
  var links: String {
    (report.links ?? []).map { "\($0.entity) \($0.created) \($0.linked) \($0.leftOut)\n" }.joined()
  }
}
