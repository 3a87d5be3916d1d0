import DefinitionTestSupport
import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Which records break which rule, found by real dry runs.
@Suite struct RecordRuleTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let columns = ["date", "height", "location", "period", "rating", "wind"]

  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let rule: String
    /// Records of date, height, location, period, rating and wind; marked with `!` in front where they break the rule.
    let records: [String]
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "compare texts by bytes",
      rule: #"{"rule": "compare", "left": "height", "operator": "<=", "right": "period"}"#,
      records: [",a,,b,,", ",a,,a,,", "!,b,,a,,", "!,ab,,a,,", ",Z,,a,,", ",é,,ü,,", ",,,a,,", ",a,,,,", ",,x,,,"]),
    Case(
      name: "compare texts as numbers",
      rule: #"{"rule": "compare", "left": "height", "operator": "<", "right": "period", "as": "number"}"#,
      records: [",9,,10,,", "!,10,,9,,", "!,10,,10.0,,", "!,tall,,9,,", "!,9,,long,,", ", ,,9,,", ", 1 ,,9,,"]),
    Case(
      name: "compare a text as a number with a number",
      rule: #"{"rule": "compare", "left": "rating", "operator": "=", "right": "height", "as": "number"}"#,
      records: [",3.0,,,3,", "!,3.1,,,3,", ",,,,3,", ",3,,,,"]),
    Case(
      name: "compare, with empty sides refused",
      rule: #"{"rule": "compare", "left": "height", "operator": "!=", "right": "wind", "emptyFails": true}"#,
      records: [",a,,,,b", "!,a,,,,a", "!,,,,,a", "!,a,,,,", "!,,x,,,"]),
    Case(
      name: "where a number is high, a text must be there",
      rule: #"{"rule": "when", "if": {"column": "rating", ">=": 4}, "then": {"column": "wind", "isNotEmpty": true}}"#,
      records: [",,,,4,offshore", "!,,,,4,", "!,,,,5,  ", ",,,,3,", ",,x,,,"]),
    Case(
      name: "where a text is one of some, a number must be within bounds",
      rule: """
        {"rule": "when", "if": {"column": "height", "oneOf": ["Flat", "Ankle"]},
          "then": {"column": "rating", "<=": 2, ">": 0}}
        """,
      records: [",Flat,,,2,", "!,Flat,,,3,", "!,Ankle,,,0,", ",Big,,,5,", "!,Flat,,,,", ",,,,5,"]),
    Case(
      name: "all, any and not",
      rule: """
        {"rule": "when",
          "if": {"any": [{"column": "location", "is": "A"}, {"column": "location", "is": "B"}]},
          "then": [{"not": {"column": "wind", "is": "onshore"}},
            {"all": [{"column": "rating", "isNot": 1}, {"column": "date", "<": "2020-01-02"}]}]}
        """,
      records: [
        "2020-01-01,,A,,2,", "!2020-01-01,,A,,2,onshore", "!2020-01-01,,B,,1,", "!2020-01-02,,B,,2,",
        "2020-01-05,,C,,1,onshore", "2020-01-01T23:59:59Z,,A,,,", "!,,A,,2,",
      ]),
    Case(
      name: "another column in a condition",
      rule: """
        {"rule": "when", "if": {"column": "height", "is": {"column": "period"}},
          "then": {"column": "height", "isEmpty": true}}
        """,
      records: ["!,a,,a,,", ",a,,b,,", ",,x,,,"]),
    Case(
      name: "at least one of some columns",
      rule: #"{"rule": "anyOf", "columns": ["height", "period", "rating"]}"#,
      records: [",a,,,,", ",,,a,,", ",,,,0,", "!,,x,,,x", "!, ,x,,,x"]),
  ]

  private func definition(_ rules: String) throws -> PipelineDefinition {
    let names = Self.columns.map { "\"\($0)\"" }.joined(separator: ", ")
    return try PipelineDefinition(
      data: Data(#"{"name": "n", "columns": [\#(names)], "recordRules": \#(rules)}"#.utf8), environment: .journal)
  }

  @Test(arguments: cases)
  func `A record in which a rule does not hold is rejected`(of test: Case) async throws {
    let records = test.records.map { $0.hasPrefix("!") ? String($0.dropFirst()) : $0 }
    let lines = [Self.columns.joined(separator: ",")] + records
    let input = try folder.write(lines.joined(separator: "\n") + "\n", to: "log.csv")
    let summary = try await run(definition("[\(test.rule)]"), .validate, inputs: [input], store: nil)
    let broken = test.records.indices.filter { test.records[$0].hasPrefix("!") }.map { UInt64($0 + 1) }
    #expect(summary.issues.listed.map(\.record) == broken, "\(summary.issues.listed.map(\.message))")
    #expect(summary.issues.listed.allSatisfy { $0.code == .rowConstraint && $0.severity == .error })
    #expect(
      summary.counts == RunCounts(read: records.count, inserted: records.count - broken.count, rejected: broken.count))
  }

  @Test func `Errors reject and warnings only tell, each in the rule's words or the author's`() async throws {
    let rules = """
      [{"rule": "compare", "left": "height", "operator": "<=", "right": "period", "as": "number"},
       {"rule": "when", "if": {"column": "rating", ">=": 4}, "then": {"column": "wind", "isNotEmpty": true},
        "name": "good days", "message": "say how the wind was", "severity": "warning"},
       {"rule": "anyOf", "columns": ["date", "location"], "severity": "warning"},
       {"rule": "when", "if": {"any": [{"column": "wind", "oneOf": ["onshore", "storm"]}, {"column": "wind", "is": "x"}]},
        "then": {"not": {"column": "rating", ">": 4, "isNotEmpty": true}}, "severity": "warning"}]
      """
    let text = """
      date,height,location,period,rating,wind
      2020-01-01,"12 ",A,9,4,
      2020-01-02,1,B,9,5,
      ,1,,9,5,storm
      2020-01-04,1,B,9,3,
      2020-01-05,1,B,9,six,

      """
    let store = folder.path("store.sqlite")
    let input = try folder.write(text, to: "log.csv")
    let summary = try await run(definition(rules), .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 5, inserted: 3, rejected: 2))
    let reported = summary.issues.listed.map { "\($0.record) \($0.severity) \($0.code) \($0.field ?? 0) \($0.message)" }
    #expect(
      reported == [
        "1 error row-constraint 0 height must be <= period; correct one of the two (height \"12 \", period \"9\")",
        "1 warning row-constraint 0 good days: say how the wind was (rating \"4\", wind \"\")",
        "2 warning row-constraint 0 good days: say how the wind was (rating \"5\", wind \"\")",
        "3 warning row-constraint 0 one of date, location must not be empty; fill one in (date \"\", location \"\")",
        "3 warning row-constraint 0 where wind is one of 'onshore', 'storm' or wind = 'x', this must hold: not "
          + "(rating is not empty and rating > 4); correct the record (wind \"storm\", rating \"5\")",
        "5 error type-error 5 is not a whole number; write digits only, or leave the field empty",
      ])
    #expect(summary.issues.listed[0].value == "2020-01-01,\\\"12 \\\",A,9,4,")
    #expect(try sqlite(store, "SELECT ZLOCATION FROM ZJOURNALENTRY") == "B\n\nB")
    #expect(try folder.text("log.csv.rejects.csv").contains("2020-01-01,\"12 \",A,9,4,\n"))
  }

  @Test func `A column that the input lacks is empty, and goes by its attribute as well`() async throws {
    let json = """
      {"name": "n", "columns": ["date", {"name": "spot", "attribute": "location"}, "wind"], "missingColumns": "ignore",
       "recordRules": [{"rule": "anyOf", "columns": ["location", "wind"]}]}
      """
    let definition = try PipelineDefinition(data: Data(json.utf8), environment: .journal)
    let input = try folder.write("date,spot\n2020-01-01,A\n2020-01-02,\n", to: "log.csv")
    let summary = try await run(definition, .validate, inputs: [input], store: nil)
    #expect(
      summary.issues.listed.map(\.message) == [
        "one of location, wind must not be empty; fill one in (spot \"\", no wind)"
      ])
  }
}
