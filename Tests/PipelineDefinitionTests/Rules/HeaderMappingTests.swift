import DefinitionTestSupport
import Testing

@testable import PipelineDefinition

/// The header decides which field is which; what is wrong with it is reported once, before any record.
@Suite struct HeaderMappingTests {
  static let columns = [
    ColumnDefinition("date", synonyms: ["day", "session date"], rules: [ValueRule(.required)]),
    ColumnDefinition("location", synonyms: ["spot"], required: true),
    ColumnDefinition("rating"),
  ]

  private static func map(
    _ labels: [String], _ columns: [ColumnDefinition] = columns, missing: PipelineDefinition.ColumnPolicy = .warn
  ) -> HeaderMapping {
    var policy = HeaderPolicy()
    policy.missing = missing
    return HeaderMapping(
      labels: labels, columns: columns, policy: policy,
      at: RecordPosition(input: "log.csv", record: 0, line: 1, byte: 0))
  }

  static let usable: [(labels: [String], fields: [Int?])] = [
    (["date", "location", "rating"], [0, 1, 2]),
    (["rating", "date", "location"], [1, 2, 0]),
    (["Rating", "DATE", " Location "], [1, 2, 0]),
    (["Session Date", "SPOT"], [0, 1, nil]),
    (["day", "location"], [0, 1, nil]),
  ]

  @Test(arguments: usable)
  func `Labels match in any order and letter case, by name or synonym`(labels: [String], fields: [Int?]) {
    let mapping = Self.map(labels, missing: .ignore)
    #expect(mapping.fieldOfColumn == fields)
    #expect(mapping.issues.isEmpty)
    #expect(mapping.isUsable)
    #expect(mapping.fieldCount == labels.count)
    for (column, field) in fields.enumerated() {
      if let field { #expect(mapping.columnOfField[field] == column) }
    }
  }

  private static let stays =
    "the header has no 'rating', which stays empty; add the column, declare its label as a synonym, or "
    + "\"missingColumns\": \"ignore\""

  static let issues: [(labels: [String], told: [String], usable: Bool)] = [
    (
      ["date", "spot", "ratign"],
      [
        "3 - extra-label: no column of the pipeline has this label; it is ignored; did you mean 'rating'?",
        "- rating missing-label: \(stays); is it 'ratign'?",
      ], true
    ),
    (
      ["date", "spot", "tide"],
      [
        "3 - extra-label: no column of the pipeline has this label; it is ignored", "- rating missing-label: \(stays)",
      ], true
    ),
    (
      ["date", "spot", " "],
      [
        "3 - blank-label: this field has no label and is ignored; name it or remove it",
        "- rating missing-label: \(stays)",
      ], true
    ),
    (
      ["date", "spot", "Day"],
      [
        "3 date duplicate-label: field 1 is column 'date' already; rename or remove one of the two",
        "- rating missing-label: \(stays)",
      ], false
    ),
    (
      ["date", "rating"],
      [
        "- location missing-label: the header has no 'location' (or spot); add the column, or declare its label as a "
          + "synonym"
      ], false
    ),
    (
      ["location"],
      [
        "- date missing-label: the header has no 'date' (or day, session date); add the column, or declare its label "
          + "as a synonym", "- rating missing-label: \(stays)",
      ], false
    ),
    (["", " ", ""], ["- - blank-header: the header is empty; write the columns' names in line 1"], false),
    ([""], ["- - blank-header: the header is empty; write the columns' names in line 1"], false),
  ]

  @Test(arguments: issues)
  func `What is wrong with a header is said with its field and its remedy`(
    labels: [String], told: [String], usable: Bool
  ) {
    let mapping = Self.map(labels)
    let lines = mapping.issues.map { issue in
      "\(issue.field.map(String.init) ?? "-") \(issue.column ?? "-") \(issue.code): \(issue.message)"
    }
    #expect(lines == told)
    #expect(mapping.isUsable == usable)
    #expect(mapping.issues.allSatisfy { $0.record == 0 && $0.line == 1 && $0.input == "log.csv" })
  }

  @Test func `A file without any known label is suspected to have no header`() {
    let mapping = Self.map(["7/14/14", "C Street"])
    let missing = mapping.issues.filter { $0.code == .missingLabel && $0.severity == .error }
    #expect(missing.count == 2)
    let hint = "If the file has no header, name its columns in the pipeline's dialect"
    #expect(missing.allSatisfy { $0.message.hasSuffix(hint) })
  }

  @Test func `A column whose required rule only warns may be absent`() {
    let soft = [ColumnDefinition("date"), ColumnDefinition("wind", rules: [ValueRule(.required, severity: .warning)])]
    #expect(Self.map(["date"], soft).isUsable)
    #expect(Self.map(["date"], soft, missing: .ignore).issues.isEmpty)
  }

  @Test func `Columns whose names differ in letter case only are distinguished by it`() {
    let mapping = Self.map(["A", "a"], [ColumnDefinition("a"), ColumnDefinition("A")])
    #expect(mapping.fieldOfColumn == [1, 0])
    #expect(mapping.issues.isEmpty)
  }

  static let journal = DialectDefinition.journalApp
  static let ragged: [(labels: [String], found: Int, lastIsEmpty: Bool, dialect: DialectDefinition, told: [String])] = [
    (["date", "location", "rating"], 3, false, .rfc4180, []),
    (["date", "location", "rating"], 3, true, .rfc4180, []),
    (
      ["date", "location", "rating"], 5, false, .rfc4180,
      [
        "4 - extra-cell: the record has 5 fields and the header 3; put quotes around a value that contains a ',', or "
          + "remove the additional fields",
        "5 - extra-cell: the record has 5 fields and the header 3; put quotes around a value that contains a ',', or "
          + "remove the additional fields",
      ]
    ),
    (
      ["date", "location", "rating"], 4, true, .rfc4180,
      [
        "4 - extra-cell: the record has 4 fields and the header 3; remove the delimiter at its end, or, if every record "
          + "ends with one, declare \"trailingComma\": true"
      ]
    ),
    (
      ["date", "location", "rating"], 4, false, journal,
      [
        "4 - extra-cell: the record has 4 fields and the dialect 3; put quotes around a value that contains a ',', or "
          + "remove the additional fields"
      ]
    ),
    (
      ["date", "location", "rating"], 1, false, .rfc4180,
      [
        "2 location missing-cell: the record has 1 fields and the header 3; write a ',' for each empty field",
        "3 rating missing-cell: the record has 1 fields and the header 3; write a ',' for each empty field",
      ]
    ),
    (
      ["date", "location", "tide"], 2, false, .rfc4180,
      ["3 - missing-cell: the record has 2 fields and the header 3; write a ',' for each empty field"]
    ),
  ]

  @Test(arguments: ragged)
  func `A record of another length is reported field by field`(
    labels: [String], found: Int, lastIsEmpty: Bool, dialect: DialectDefinition, told: [String]
  ) {
    let issues = Self.map(labels).raggedIssues(
      fieldCount: found, lastIsEmpty: lastIsEmpty, dialect: dialect, columns: Self.columns,
      at: RecordPosition(input: "log.csv", record: 7, line: 9, byte: 200))
    let lines = issues.map { issue in
      "\(issue.field.map(String.init) ?? "-") \(issue.column ?? "-") \(issue.code): \(issue.message)"
    }
    #expect(lines == told)
    #expect(issues.allSatisfy { $0.severity == .error && $0.record == 7 && $0.line == 9 && $0.byte == 200 })
  }
}
