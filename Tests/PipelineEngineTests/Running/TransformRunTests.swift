import DefinitionTestSupport
import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

@Suite("Keys, rules and the store see what the transforms make of a field; reports show what the file has")
struct TransformRunTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private func definition(_ columns: String, _ more: String = "") throws -> PipelineDefinition {
    try PipelineDefinition(data: Data(#"{"name": "n", "columns": \#(columns)\#(more)}"#.utf8), environment: .journal)
  }

  @Test("Texts, numbers and dates are read from what the transforms made, quoted or not")
  func values() async throws {
    let columns = """
      [{"name": "date", "transforms": [{"transform": "replace", "matches": "^on ", "with": ""}]},
       {"name": "height", "transforms": [{"transform": "convert", "from": "ft", "to": "m", "unitShown": true}]},
       {"name": "location", "transforms": ["trim", "collapse", "title"]},
       {"name": "rating", "transforms": ["lower", {"transform": "map", "values": {"good": "4", "bad": "1"}}]}]
      """
    let input = try folder.write(
      "date,height,location,rating\non 2020-01-01,3-5ft,\"  c \"\"x\"\"  STREET \",GOOD\n2020-01-02,Flat,ÉCOLE,bad\n",
      to: "log.csv")
    let summary = try await run(definition(columns), .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 2, inserted: 2))
    #expect(
      try sqlite(store, "SELECT CAST(ZDATE AS INT), ZHEIGHT, ZLOCATION, ZRATING FROM ZJOURNALENTRY")
        == "599529600|0.91-1.52m|C \"X\" Street|4\n599616000|Flat|École|1")
  }

  @Test("Issues show the raw field and speak of the transformed one")
  func issues() async throws {
    let columns = """
      [{"name": "location", "transforms": ["trim", "upper"], "rules": [{"rule": "length", "max": 3},
          {"rule": "oneOf", "values": ["ABC"], "severity": "warning"}]},
       {"name": "height", "transforms": [{"transform": "convert", "from": "ft", "to": "m", "strict": true}]}]
      """
    let input = try folder.write("location,height\n abcd ,1\n xyz ,1\nabc,tall\nabc,\n", to: "log.csv")
    let summary = try await run(definition(columns), .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 4, inserted: 2, rejected: 2))
    #expect(
      summary.issues.listed.map { "\($0.record) \($0.severity) \($0.code) \($0.value ?? "")|\($0.message)" } == [
        "1 error constraint-error  abcd |has 4 characters and must have at most 3",
        "2 warning constraint-error  xyz |must be one of ABC, or leave the field empty",
        "3 error type-error tall|is not a quantity that can be converted to m; write a number or a range such as 3-5, "
          + "alone or followed by ft or m",
      ])
    #expect(try folder.text("log.csv.rejects.csv") == "location,height\n abcd ,1\nabc,tall\n")
  }

  @Test("Keys are compared as they are stored")
  func keys() async throws {
    let columns = #"["date", {"name": "location", "transforms": ["trim", "lower"]}]"#
    let definition = try definition(columns, #", "key": ["date", "location"], "duplicates": "skip""#)
    let first = try folder.write("date,location\n2020-01-01,Rincon\n", to: "first.csv")
    _ = try await run(definition, .import, inputs: [first], store: store)
    let second = try folder.write("date,location\n2020-01-01, RINCON \n2020-01-02,a\n2020-01-02,A\n", to: "second.csv")
    let dry = try await run(definition, .validate, inputs: [second], store: store)
    let summary = try await run(definition, .import, inputs: [second], store: store)
    #expect(summary.counts == RunCounts(read: 3, inserted: 1, duplicate: 1, repeated: 1))
    #expect(dry.counts == summary.counts)
    #expect(try sqlite(store, "SELECT ZLOCATION FROM ZJOURNALENTRY") == "rincon\na")
  }

  @Test("A default fills empty fields, columns that the input lacks and the text for nil; a constant fills all")
  func fills() async throws {
    let columns = """
      [{"name": "date", "rules": ["required"]},
       {"name": "location", "rules": ["required"], "transforms": ["trim", {"transform": "default", "value": "Malibu"}]},
       {"name": "rating", "transforms": [{"transform": "default", "value": "3"}]},
       {"name": "wind", "value": "from the club"}]
      """
    let records = "2020-01-01,A,5\n2020-01-02, ,\n2020-01-03,\"\",\n"
    let full = try folder.write("date,location,rating\n" + records, to: "full.csv")
    let lacking = try folder.write("date\n2020-01-04\n", to: "lacking.csv")
    let labelled = try folder.write("date,wind\n2020-01-05,onshore\n", to: "labelled.csv")
    let rejects = folder.url.appendingPathComponent("rejects")
    try FileManager.default.createDirectory(at: rejects, withIntermediateDirectories: true)
    let summary = try await run(definition(columns), .import, inputs: [full, lacking, labelled], store: store) {
      $0.rejects = rejects.path + "/"
    }
    #expect(summary.counts == RunCounts(read: 5, inserted: 5))
    #expect(
      summary.issues.listed.map { "\($0.code): \($0.message)" } == [
        "extra-label: the pipeline fills this column with a constant; it is ignored"
      ])
    #expect(
      try sqlite(store, "SELECT ZLOCATION, ZRATING, ZWIND FROM ZJOURNALENTRY")
        == "A|5|from the club\n" + Array(repeating: "Malibu|3|from the club", count: 4).joined(separator: "\n"))

    let token = try definition(columns, #", "dialect": {"null": "\\N"}"#)
    let tokens = try folder.write("date,location,rating\n2020-01-06,\\N,\\N\n2020-01-07,\"\\N\",1\n", to: "tokens.csv")
    let other = folder.path("other.sqlite")
    _ = try await run(token, .import, inputs: [tokens], store: other)
    #expect(try sqlite(other, "SELECT ZLOCATION, ZRATING FROM ZJOURNALENTRY") == "Malibu|3\n\\N|1")
  }

  @Test("A rejected record leaves nothing behind, with constants and warnings about records")
  func rejection() async throws {
    let columns = #"["date", {"name": "location", "transforms": ["upper"]}, {"name": "wind", "value": "w"}]"#
    let rules = #", "recordRules": [{"rule": "compare", "left": "location", "operator": "!=", "right": "wind"}]"#
    let input = try folder.write("date,location\nsoon,x\n2020-01-01,a\n2020-01-02,W\n2020-01-03,w,\nx\n", to: "log.csv")
    let summary = try await run(definition(columns, rules), .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 5, inserted: 2, rejected: 3))
    #expect(try sqlite(store, "SELECT ZLOCATION, ZWIND FROM ZJOURNALENTRY") == "A|w\nW|w")
  }
}
