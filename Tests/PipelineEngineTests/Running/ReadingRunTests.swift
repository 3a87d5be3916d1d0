import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

/// What a dialect says of records and values is what a run does.
@Suite struct ReadingRunTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Runs a definition over a text; the rows of the store, attribute by attribute, nil as `∅`.
  private func rows(
    _ text: String, _ kind: RunSummary.Kind = .import, change: (inout PipelineDefinition) -> Void
  ) async throws -> (rows: [String], summary: RunSummary) {
    let input = try folder.write(text, to: "log.csv")
    let store = folder.path(UUID().uuidString)
    let summary = try await run(.plain(change), kind, inputs: [input], store: store)
    guard FileManager.default.fileExists(atPath: store) else { return ([], summary) }
    let rows = try sqlite(
      store,
      """
      SELECT ifnull(datetime(ZDATE + 978307200, 'unixepoch'), '∅') || '|' || ifnull(ZLOCATION, '∅') || '|'
      || ifnull(ZRATING, '∅') FROM ZJOURNALENTRY ORDER BY Z_PK
      """)
    return (rows.split(separator: "\n").map(String.init), summary)
  }

  @Test func `A date and a time of two columns are one date`() async throws {
    let text = "Datum,Spot,Uhrzeit\n14.7.2014,A, 07:30\n15.7.2014,B,\n,C,07:30\n"
    let (rows, summary) = try await rows(text) {
      $0.columns = [
        ColumnDefinition("date", from: ["Datum", "Uhrzeit"], formats: ["d.M.yyyy HH:mm", "d.M.yyyy"]),
        ColumnDefinition("Spot", attribute: "location"),
      ]
    }
    #expect(rows == ["2014-07-14 07:30:00|A|∅", "2014-07-15 00:00:00|B|∅"])
    #expect(summary.issues.counts == [.typeError: 1])
    #expect(summary.issues.listed[0].value == "07:30")
  }

  @Test func `A part that the header lacks is reported, and the others are read`() async throws {
    let (rows, summary) = try await rows("Datum,location\n14.7.2014,A\n") {
      $0.columns = [
        ColumnDefinition("date", from: ["Datum", "Uhrzeit"], formats: ["d.M.yyyy"]), ColumnDefinition("location"),
      ]
    }
    #expect(rows == ["2014-07-14 00:00:00|A|∅"])
    #expect(summary.issues.listed.map(\.message).first?.contains("no 'Uhrzeit', which is left out") == true)
  }

  @Test func `Several texts stand for nil, and an empty field if it is one of them`() async throws {
    let text = "date,location,rating\n2014-01-01,NA,-\n2014-01-02,,3\n2014-01-03,\"NA\",\n"
    let some = try await rows(text) { $0.dialect.nullSequences = ["NA", "-"] }
    #expect(some.rows == ["2014-01-01 00:00:00|∅|∅", "2014-01-02 00:00:00||3", "2014-01-03 00:00:00|NA|∅"])
    let all = try await rows(text) { $0.dialect.nullSequences = ["", "NA", "-"] }
    #expect(all.rows == ["2014-01-01 00:00:00|∅|∅", "2014-01-02 00:00:00|∅|3", "2014-01-03 00:00:00|NA|∅"])
  }

  static let ragged = "date,location,rating\n2014-01-01,A\n2014-01-02,B,2,x,y\n2014-01-03,C,3\n2014-01-04,D,4,\n"

  @Test func `Records of other lengths are errors unless a policy is declared`() async throws {
    let (rows, summary) = try await rows(Self.ragged) { _ in }
    #expect(rows == ["2014-01-03 00:00:00|C|3"])
    #expect(summary.issues.counts == [.missingCell: 1, .extraCell: 3])
    #expect(summary.issues.listed.last?.message.contains("declare \"trailingComma\": true") == true)
  }

  @Test func `Padded and truncated records are entries, and each repair is a warning`() async throws {
    let (rows, summary) = try await rows(Self.ragged) { $0.dialect.raggedRows = [.pad, .truncate] }
    #expect(
      rows == [
        "2014-01-01 00:00:00|A|∅", "2014-01-02 00:00:00|B|2", "2014-01-03 00:00:00|C|3", "2014-01-04 00:00:00|D|4",
      ])
    #expect(summary.exitCode == .ok)
    #expect(summary.issues.warningCounts == [.missingCell: 1, .extraCell: 3])
  }

  @Test func `A padded field that is required is missed`() async throws {
    let (rows, summary) = try await rows("location,date\nA\nB,2014-01-01\n") { $0.dialect.raggedRows = [.pad] }
    #expect(rows == ["2014-01-01 00:00:00|B|∅"])
    #expect(summary.issues.counts == [.missingCell: 1, .constraintError: 1, .missingLabel: 1])
    #expect(summary.counts.rejected == 1)
  }

  @Test func `Surplus fields are joined to the last as they were written`() async throws {
    let (rows, _) = try await rows("date,rating,location\n2014-01-01,4,Malibu, \"First\" Point\n") {
      $0.dialect.raggedRows = [.joinLast]
      $0.dialect.quote = nil
    }
    #expect(rows == ["2014-01-01 00:00:00|Malibu, \"First\" Point|4"])
  }

  @Test func `Blank records are skipped where that is declared, and are not records at all`() async throws {
    let text = "date,location,rating\n2014-01-01,A,1\n,,\n\n\"\",\"\",\"\"\n2014-01-02,B,2\n\n"
    let (rows, summary) = try await rows(text) { $0.dialect.skipBlankRows = true }
    #expect(rows.count == 2)
    #expect(summary.counts == RunCounts(read: 2, inserted: 2))
    #expect(summary.exitCode == .ok)
    let strict = try await self.rows(text) { _ in }
    #expect(strict.summary.issues.counts == [.blankRow: 4])
    let withNull = try await self.rows(text) {
      $0.dialect.skipBlankRows = true
      $0.dialect.null = "\\N"
    }
    #expect(withNull.rows.count == 2)
  }

  @Test func `A record of nothing but delimiters is blank, also with a delimiter at its end`() async throws {
    let (rows, summary) = try await rows("date,location,rating,\n2014-01-01,A,1,\n,,,\n") {
      $0.dialect.trailingComma = true
      $0.columns[0].rules = []
      $0.columns[0].required = false
    }
    #expect(rows == ["2014-01-01 00:00:00|A|1"])
    #expect(summary.issues.counts == [.blankRow: 1])
  }

  @Test func `A surplus field is never tolerated without being declared, and its reject has a reason`() async throws {
    // 3,9 has shifted the rest by a column; the empty rating at the end must not hide that.
    let (rows, summary) = try await rows("2014-01-01,3,9,\n2014-01-02,\"4\",\"2\",\"\"\n") {
      $0.dialect.header = false
      $0.dialect.columns = ["date", "location", "rating"]
    }
    #expect(rows.isEmpty)
    #expect(summary.counts == RunCounts(read: 2, rejected: 2))
    #expect(summary.issues.counts == [.extraCell: 2])
    let quoted = try await self.rows("date,location,rating,\n2014-01-01,A,1,\"\"\n") { $0.dialect.trailingComma = true }
    #expect(quoted.summary.issues.counts == [.extraCell: 1])
  }

  @Test func `A lenient dialect repairs what has one reading, and lists each repair as a warning`() async throws {
    let text = "date,location,rating\n2014-01-01,Ri\"con,4\n2014-01-03,A\n2014-01-05,B,1,\n2014-01-06,C,1,x\n"
    let (rows, summary) = try await rows(text) { $0.dialect.mode = .lenient }
    #expect(rows == ["2014-01-01 00:00:00|Ri\"con|4", "2014-01-03 00:00:00|A|∅", "2014-01-05 00:00:00|B|1"])
    #expect(summary.issues.warningCounts == [.strayQuote: 1, .missingCell: 1, .extraCell: 1])
    #expect(summary.counts == RunCounts(read: 4, inserted: 3, rejected: 1))
  }

  @Test func `Every problem of a record is reported`() async throws {
    let (_, summary) = try await rows("date,location,rating\n2014-01-01,a\"b\u{0}c,1\n") { _ in }
    #expect(summary.issues.counts == [.nulByte: 1, .strayQuote: 1])
    #expect(summary.counts.rejected == 1)
  }

  static let headers: [(bytes: [UInt8], code: IssueCode)] = [
    (Array("date,location,h".utf8) + [0xF6] + Array("he\n2014-01-01,A,1\n".utf8), .encodingError),
    (Array("date,location,a\"b\n2014-01-01,A,1\n".utf8), .strayQuote),
    (Array("date,location,\"rating\n2014-01-01,A,1\n".utf8), .unterminatedQuote),
    (Array("date,location,x\0\n2014-01-01,A,1\n".utf8), .nulByte),
  ]

  @Test(arguments: headers)
  func `A label that is not valid text is an error of the header`(bytes: [UInt8], code: IssueCode) async throws {
    let input = folder.path("log.csv")
    try Data(bytes).write(to: URL(fileURLWithPath: input))
    let summary = try await run(.plain(), .import, inputs: [input], store: folder.path("s"))
    #expect(summary.exitCode == .dataError)
    #expect(summary.counts == RunCounts())
    #expect(summary.issues.counts[code] == 1)
    #expect(summary.failure?.code == code)
  }

  @Test func `A policy decides on labels that no column has and on columns without a label`() async throws {
    let text = "date,location,tide\n2014-01-01,A,low\n"
    let warned = try await rows(text) { _ in }
    #expect(warned.summary.issues.warningCounts == [.extraLabel: 1, .missingLabel: 1])
    let silent = try await rows(text) { ($0.extraColumns, $0.missingColumns) = (.ignore, .ignore) }
    #expect(silent.summary.issues == RunSummary.Issues())
    #expect(silent.rows == warned.rows)
    for change in [{ $0.extraColumns = .error }, { $0.missingColumns = .error }] as [(inout PipelineDefinition) -> Void]
    {
      let refused = try await rows(text, change: change)
      #expect(refused.rows.isEmpty)
      #expect(refused.summary.exitCode == .dataError)
    }
  }

  static let matches: [(match: DialectDefinition.FieldsMatch, header: String, isUsable: Bool)] = [
    (.exact, "date,location,rating", true), (.exact, "location,date,rating", false), (.exact, "date,location", false),
    (.equal, "rating,location,date", true), (.equal, "date,location", false), (.equal, "date,location,rating,x", false),
    (.subset, "x,date,location,rating", true), (.subset, "date,location", false),
    (.superset, "date,location", true), (.superset, "date,x", false),
  ]

  @Test(arguments: matches)
  func `fieldsMatch says which labels a header has`(
    match: DialectDefinition.FieldsMatch, header: String, isUsable: Bool
  ) async throws {
    let (_, summary) = try await rows(header + "\n", .validate) { $0.dialect.fieldsMatch = match }
    #expect((summary.outcome == .completed) == isUsable)
    #expect((summary.issues == RunSummary.Issues()) == isUsable)
  }
}
