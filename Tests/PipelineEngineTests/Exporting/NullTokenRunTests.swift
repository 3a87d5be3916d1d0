import Foundation
import PipelineEngine
import TestSupport
import Testing

/// With a token for nil, an import tells nil from the empty text, and an export writes them apart.
@Suite struct NullTokenRunTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static var definition: PipelineDefinition {
    .plain {
      $0.columns = [ColumnDefinition("date"), ColumnDefinition("location"), ColumnDefinition("rating")]
      $0.dialect.null = "NULL"
      $0.export = ExportDefinition(
        columns: [.init("date"), .init("location"), .init("rating")], dialect: $0.dialect)
    }
  }

  @Test func `The bare token is nil, the quoted one a text, an empty field the empty text or nil`() async throws {
    let text = """
      date,location,rating
      NULL,NULL,NULL
      ,"NULL",
      2020-01-01,,0
      "2020-01-02","",3
      2020-01-03,NULLS,4

      """
    let store = folder.path("s")
    let summary = try await run(Self.definition, .import, inputs: [try folder.write(text, to: "in.csv")], store: store)
    #expect(summary.counts.inserted == 5, "\(summary.text())")
    let rows = try sqlite(
      store, "SELECT typeof(ZDATE), quote(ZLOCATION), quote(ZRATING) FROM ZJOURNALENTRY ORDER BY Z_PK")
    #expect(
      rows == """
        null|NULL|NULL
        null|'NULL'|NULL
        integer|''|0
        integer|''|3
        integer|'NULLS'|4
        """)
    let exported = try await run(Self.definition, .export, store: store) { $0.output = folder.path("out.csv") }
    #expect(exported.exported == 5)
    #expect(
      try folder.text("out.csv") == """
        date,location,rating
        NULL,NULL,NULL
        NULL,"NULL",NULL
        2020-01-01T00:00:00Z,,0
        2020-01-02T00:00:00Z,,3
        2020-01-03T00:00:00Z,NULLS,4

        """)
  }

  @Test func `A quoted token in a column of numbers is not a number`() async throws {
    let input = try folder.write("date,location,rating\n2020-01-01,a,\"NULL\"\n", to: "in.csv")
    let summary = try await run(Self.definition, .import, inputs: [input], store: folder.path("s"))
    #expect(summary.issues.counts == [.typeError: 1])
  }

  @Test func `A required column refuses the token and the empty text alike; other rules see the empty text`()
    async throws
  {
    var definition = Self.definition
    definition.columns[1].rules = [ValueRule(.required)]
    let text = "date,location,rating\n,NULL,1\n,,2\n,x,3\n"
    let required = try await run(definition, .validate, inputs: [try folder.write(text, to: "in.csv")], store: nil)
    #expect(required.counts.rejected == 2)
    #expect(required.issues.counts == [.constraintError: 2])
    definition.columns[1].rules = [ValueRule(.length(min: 1, max: 9))]
    let length = try await run(definition, .validate, inputs: [folder.path("in.csv")], store: nil)
    #expect(length.counts.rejected == 1)
    #expect(length.issues.listed.first?.line == 3)
  }

  @Test func `NUL bytes are refused, or kept where the dialect says so`() async throws {
    let input = try folder.write("date,location,rating\n,a\0b,1\n", to: "in.csv")
    var definition = Self.definition
    let refused = try await run(definition, .import, inputs: [input], store: folder.path("a"))
    #expect(refused.issues.counts == [.nulByte: 1])
    definition.dialect.nulBytes = .keep
    let kept = try await run(definition, .import, inputs: [input], store: folder.path("b"))
    #expect(kept.counts.inserted == 1)
    #expect(try sqlite(folder.path("b"), "SELECT hex(ZLOCATION) FROM ZJOURNALENTRY") == "610062")
  }

  @Test func `Of several date formats each date takes the first that loses nothing`() async throws {
    let text = "date,location,rating\n2020-01-01,,1\n2020-01-02T06:30:00Z,,2\n2020-01-03T06:30:00.25Z,,3\n"
    var definition = Self.definition
    _ = try await run(definition, .import, inputs: [try folder.write(text, to: "in.csv")], store: folder.path("s"))
    definition.export?.columns = [.init("date"), .init("day", attribute: "date", format: ["yyyy-MM-dd"])]
    definition.export?.dateFormat = ["yyyy-MM-dd", "dd.MM.yyyy HH:mm"]
    let summary = try await run(definition, .export, store: folder.path("s")) { $0.output = folder.path("out.csv") }
    #expect(try folder.text("out.csv") == "date,day\n2020-01-01,2020-01-01\n02.01.2020 06:30,2020-01-02\n")
    #expect(summary.issues.counts == [.unwritableValue: 1])
    #expect(summary.issues.listed.first?.column == "date")
  }
}
