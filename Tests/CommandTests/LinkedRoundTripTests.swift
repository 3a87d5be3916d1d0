import Foundation
import TestSupport
import Testing

/// The sample of spots, boards and sessions: it is imported, exported and imported again, and is the same graph.
@Suite struct LinkedRoundTripTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for name in try FileManager.default.contentsOfDirectory(atPath: Repository.path("SampleData"))
    where ["spots.csv", "boards.csv", "sessions.csv", "Surfing.xcdatamodeld"].contains(name) || name.hasPrefix("surf-s")
      || name.hasPrefix("surf-boards")
    {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(name)"), to: folder.file(name))
    }
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  @Test func `The sample's pipelines link three files, and the export takes back to the same graph`() throws {
    for name in ["surf-spots", "surf-sessions", "surf-boards"] {
      let output = try run("run", "./\(name).json")
      #expect(output.status == 0, "\(output.messages)\(output.text)")
    }
    let expected = try Programs.python(LinkedSample.expected, "sessions.csv", in: folder)
    // Two spots have one name: the country of each session tells which.
    let graph = try LinkedSample.graph(of: "surfing.sqlite", in: folder)
    #expect(graph.split(separator: "\n").count == expected.split(separator: "\n").count)
    #expect(try Programs.sqlite("surfing.sqlite", "SELECT count(*), count(ZLENGTH) FROM ZBOARD", in: folder) == "5|5\n")
    #expect(try Programs.sqlite("surfing.sqlite", "SELECT count(*) FROM ZSPOT", in: folder) == "10\n")
    let exported = try run("export", "--pipeline", "surf-sessions.json", "-o", "out.csv")
    #expect(exported.status == 0, "\(exported.messages)")
    #expect(
      try Programs.python(
        """
        import csv
        def rows(name):
            return [{**row, "boards": set(filter(None, row["boards"].split("; ")))}
                    for row in csv.DictReader(open(name, newline=""))]
        print(rows("sessions.csv") == rows("out.csv"))
        """, in: folder) == "True\n")
    #expect(try run("import", "spots.csv", "--pipeline", "surf-spots.json", "--store", "again.sqlite").status == 0)
    #expect(try run("import", "out.csv", "--pipeline", "surf-sessions.json", "--store", "again.sqlite").status == 0)
    #expect(try LinkedSample.graph(of: "again.sqlite", in: folder) == graph)
  }

  @Test func `Columns of an export that the command line names join what a relationship leads to`() throws {
    for name in ["surf-spots", "surf-boards", "surf-sessions"] {
      #expect(try run("run", "./\(name).json").status == 0)
    }
    let exported = try run(
      "export", "--store", "surfing.sqlite", "--model", "Surfing.xcdatamodeld", "--entity", "Session", "--columns",
      "date,spot.name,spot.country,boards.name,rating,notes", "-o", "out.csv")
    #expect(exported.status == 0, "\(exported.messages)")
    #expect(try folder.text("out.csv").contains(",Rincon,US,Shortboard;Mini Malibu,"))
    // An import by name reads such columns.
    let seed = try run(
      "seed", "--from", "Spot=spots.csv", "--from", "Board=boards.csv", "--from", "Session=out.csv", "--model",
      "Surfing.xcdatamodeld", "-o", "again.sqlite")
    #expect(seed.status == 0, "\(seed.messages)")
    #expect(
      try LinkedSample.graph(of: "again.sqlite", in: folder) == LinkedSample.graph(of: "surfing.sqlite", in: folder))
  }

  @Test func `A preview shows the names of related objects without a store`() throws {
    let output = try run("preview", "sessions.csv", "--pipeline", "./surf-sessions.json", "--records", "1")
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    #expect(output.text.contains("300 read, 0 rejected"), "\(output.text)")
    #expect(output.text.contains("most frequent  The Point (54)"))
    #expect(output.text.firstMatch(of: /line +date +spot +country +boards +rating +notes/) != nil, "\(output.text)")
    #expect(output.text.contains("Mini Malibu"))
  }

  @Test func `An entry whose values can't be joined so that an import reads them again is left out`() throws {
    for name in ["surf-spots", "surf-sessions"] { #expect(try run("run", "./\(name).json").status == 0) }
    _ = try Programs.sqlite("surfing.sqlite", "UPDATE ZBOARD SET ZNAME = 'Fish; blue' WHERE ZNAME = 'Fish'", in: folder)
    let output = try run("export", "--pipeline", "surf-sessions.json", "-o", "out.csv", "--json")
    #expect(output.status == 65)
    #expect(try output.json().issues.listed.allSatisfy { $0.message.contains("separator in the value 'Fish; blue'") })
    let count = try Programs.sqlite(
      "surfing.sqlite",
      "SELECT count(*) FROM Z_1SESSIONS j JOIN ZBOARD b ON b.Z_PK = j.Z_1BOARDS WHERE ZNAME LIKE '%blue'",
      in: folder)
    #expect(try "\(output.json().issues.errors)\n" == count)
  }
}
