import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The digest of a pipeline is the same for what reads every record alike, and another for what does not.
@Suite struct PipelineDigestTests {
  private func digest(_ members: String) throws -> String {
    let text = #"{"name": "p", "columns": ["date", "location", "rating"]\#(members)}"#
    return try PipelineDefinition(data: Data(text.utf8), environment: .journal).digest.hex
  }

  private func digest(location: String) throws -> String {
    let text = #"{"name": "p", "columns": ["date", {"name": "location"\#(location)}, "rating"]}"#
    return try PipelineDefinition(data: Data(text.utf8), environment: .journal).digest.hex
  }

  static let same = [
    #", "description": "x""#, #", "chunkRows": 7"#, #", "recordRules": []"#, #", "key": []"#, #", "atomic": false"#,
    #", "store": "s", "report": "r.html", "timeoutSeconds": 9, "dryRun": true, "appendOnly": true"#,
    #", "errorBudget": {"errors": 3}, "limits": {"issuesListedMax": 3}, "charts": ["date"]"#,
    #", "dialect": "rfc4180""#, #", "dialect": {"trailingComma": false}"#, #", "entity": "JournalEntry""#,
  ]

  @Test(arguments: same)
  func `What does not change which entries a record makes does not count`(members: String) throws {
    #expect(try digest(members) == digest(""))
  }

  @Test func `Keys that say nothing may be left out, so that a program that knows more keys gives the same digest`()
    throws
  {
    #expect(try digest(location: #", "transforms": [], "rules": [], "required": false"#) == digest(location: ""))
    // Written down when the first ledger was: a change here makes every known input unknown.
    #expect(try digest("") == "6809742409cd13f0b3e9b78daf89f0a2")
  }

  static let others = [
    #", "dialect": {"delimiter": ";"}"#, #", "key": ["date"]"#, #", "key": ["date", "location"]"#,
    #", "key": ["date"], "duplicates": "skip""#, #", "key": ["date"], "duplicates": "update""#,
    #", "recordRules": [{"rule": "anyOf", "columns": ["location", "rating"]}]"#,
    #", "recordRules": [{"rule": "when", "if": {"column": "location", "is": ""}, "then": {"column": "rating", "is": 1}}]"#,
    #", "recordRules": [{"rule": "when", "if": {"column": "location", "is": "A"}, "then": {"column": "rating", "is": 1}}]"#,
  ]

  @Test func `What does counts, each in its own way`() throws {
    let locations = [
      #", "synonyms": ["spot"]"#, #", "required": true"#, #", "rules": ["required"]"#,
      #", "rules": [{"rule": "oneOf", "values": ["A"]}]"#, #", "rules": [{"rule": "oneOf", "values": ["A", "B"]}]"#,
      #", "transforms": ["trim"]"#, #", "transforms": ["trim", "upper"]"#,
      #", "transforms": [{"transform": "map", "values": {"b": "x"}}]"#,
      #", "transforms": [{"transform": "map", "values": {"n/a": "", "b": "x"}}]"#,
      #", "transforms": [{"transform": "replace", "matches": "x", "with": ""}]"#,
      #", "transforms": [{"transform": "replace", "matches": "x", "with": "y"}]"#, #", "value": "Rincon""#,
    ]
    let digests = try [digest("")] + Self.others.map { try digest($0) } + locations.map { try digest(location: $0) }
    #expect(Set(digests).count == digests.count)
  }
}
