import Foundation
import TestSupport
import Testing

/// Random nights over a store in PostgreSQL and over a SQLite file: after each command both have the same entries, counts
/// and history.
@Suite(.seeded, .enabled(if: PostgreSQLServer.isThere, serverComment)) struct ServerNightsTests {
  static let steps = 10

  private static func line(_ number: Int, _ random: inout SeededGenerator) -> String {
    let day = number % 28 + 1
    let rating = Int.random(in: 0..<9, using: &random) == 0 ? 9 : number % 5 + 1
    return "2020-01-\(day < 10 ? "0" : "")\(day),P\(number),\(rating),\(Int.random(in: 1...2, using: &random))\n"
  }

  @Test(arguments: Randomness.seeds(1, long: 20))
  func `The same nights give the same entries, counts and history`(seed: UInt64) throws {
    let journal = try ServerJournal()
    var random = SeededGenerator(seed: seed)
    let policy =
      ["", "\"reject\"", "\"skip\"", "\"update\"", #"{"policy": "keepNewest", "by": "rating"}"#]
      .randomElement(using: &random) ?? ""
    let isKeyed = !policy.isEmpty
    let key = isKeyed ? ", \"key\": [\"date\", \"location\"], \"duplicates\": \(policy)" : ""
    try journal.folder.write(
      """
      {"name": "p", "columns": [
        {"name": "date"}, "location", {"name": "rating", "rules": [{"rule": "range", "min": 1, "max": 5}]}, "height"
      ], "chunkRows": \(Int.random(in: 3...20, using: &random))\(key)}
      """, to: "p.json")
    let files = ["a.csv", "b.csv", "c.csv"]
    for step in 0..<Self.steps {
      for file in files where step == 0 || Int.random(in: 0..<3, using: &random) == 0 {
        let first = Int.random(in: 0..<40, using: &random)
        let numbers = (0..<Int.random(in: 1...40, using: &random)).map { _ in
          first + Int.random(in: 0..<40, using: &random)
        }
        try journal.folder.write(
          "date,location,rating,height\n" + numbers.map { Self.line($0, &random) }.joined(), to: file)
      }
      let chosen = files.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
      let name = ["--pipeline", "p.json", "--store", "STORE"]
      let extra =
        isKeyed
        ? [[], ["--again"], ["--atomic"], ["--max-errors", "2"]] : [[], ["--again"], ["--replace"], ["--only-new"]]
      let command = ["import", "import", "import", "validate", "undo", "compact"].randomElement(using: &random) ?? ""
      switch command {
      case "undo": try journal.onBoth(["undo", "STORE", "--yes"])
      case "compact": try journal.onBoth(["ledger", "compact", "STORE", "--keep", "1"])
      default: try journal.onBoth([command] + chosen + name + (extra.randomElement(using: &random) ?? []))
      }
    }
  }
}
