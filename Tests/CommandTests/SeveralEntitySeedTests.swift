import Foundation
import TestSupport
import Testing

/// Seeds of several entities, by a pipeline with parts and by the names of entities.
@Suite(.seeded) struct SeveralEntitySeedTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for name in ["surfing.json", "spots.csv", "boards.csv", "sessions.csv"] {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(name)"), to: folder.file(name))
    }
    try LinkedSample.prepare(folder)
  }

  private func rows(_ query: String, of store: String) throws -> String {
    try Programs.sqlite(store, query, in: folder)
  }

  @Test func `A pipeline with parts makes a seed, the same for the same files`() throws {
    for name in ["a.sqlite", "b.sqlite"] {
      let output = try Tool.run(
        "seed", "--pipeline", "./surfing.json", "-o", name, "--single-file", in: folder)
      #expect(output.status == 0, "\(output.messages)")
    }
    #expect(try folder.data("a.sqlite") == folder.data("b.sqlite"))
    #expect(
      try rows("SELECT count(*) FROM ZSPOT; SELECT count(*), count(ZSPOT) FROM ZSESSION", of: "a.sqlite")
        == "10\n300|291\n")
    #expect(try rows("SELECT count(*) FROM sqlite_master WHERE name LIKE 'SJ_%'", of: "a.sqlite") == "0\n")
    try folder.write("name,country\nRincon,US\n", to: "few.csv")
    let few = try Tool.run(
      "seed", "--pipeline", "./surfing.json", "--from", "Spot=few.csv", "-o", "c.sqlite", "-q", in: folder)
    #expect(few.status == 65)
    #expect(try rows("SELECT count(*) FROM ZSPOT", of: "c.sqlite") == "1\n")
  }

  @Test func `Columns named by paths lead to the entities that were named before`() throws {
    try folder.write("name,country\nRincon,US\nRincon,PR\nBells,AU\n", to: "s.csv")
    try folder.write("name,length\nFish,5.6\nLog,9\n", to: "b.csv")
    try folder.write(
      """
      date,rating,spot.country,spot.name,boards.name
      2024-01-01T00:00:00Z,4,PR,Rincon,Log; Fish
      2024-01-02T00:00:00Z,,AU,Bells,
      2024-01-03T00:00:00Z,,,,

      """, to: "log.csv")
    let output = try Tool.run(
      "seed", "--from", "Spot=s.csv", "--from", "Board=b.csv", "--from", "Session=log.csv", "--model",
      "Surfing.xcdatamodeld", "-o", "seed.sqlite", in: folder)
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    #expect(
      try LinkedSample.graph(of: "seed.sqlite", in: folder)
        == "2024-01-01|4|Rincon|PR\n  Fish\n  Log\n2024-01-02||Bells|AU\n2024-01-03|||\n")
    #expect(try Tool.run("verify", "seed.sqlite", in: folder).status == 0)
    // What does not exist is refused by name, and no entity is guessed.
    let early = try Tool.run(
      "seed", "--from", "Session=log.csv", "--from", "Spot=s.csv", "--model", "Surfing.xcdatamodeld", "-o",
      "early.sqlite", in: folder)
    #expect(early.status == 65 && early.text.contains("missing-object"), "\(early.messages)\(early.text)")
    let unknown = try Tool.run(
      "seed", "--from", "Spit=s.csv", "--model", "Surfing.xcdatamodeld", "-o", "x.sqlite", in: folder)
    #expect(unknown.status == 78 && unknown.messages.contains("Spit"), "\(unknown.messages)")
  }
}
