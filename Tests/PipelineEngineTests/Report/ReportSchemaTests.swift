import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The JSON report is what its published schema says, checked by an independent validator.
@Suite struct ReportSchemaTests {
  /// The mistakes that python3-jsonschema finds in each report, a line each; nothing for a report that fits.
  private func mistakes(_ reports: [String]) throws -> String {
    let schema = try String(contentsOf: Repository.file("Pipelines/report.schema.json"), encoding: .utf8)
    let input = "{\"schema\": \(schema), \"reports\": [\(reports.joined(separator: ","))]}"
    return try python(
      """
      import json, jsonschema, sys
      given = json.load(sys.stdin)
      jsonschema.Draft202012Validator.check_schema(given["schema"])
      validator = jsonschema.Draft202012Validator(given["schema"])
      for index, report in enumerate(given["reports"]):
          for mistake in validator.iter_errors(report):
              print(index, mistake.json_path, mistake.validator)
      """, input: input)
  }

  private static func json(_ summary: RunSummary) throws -> String {
    String(decoding: try summary.json(), as: UTF8.self)
  }

  @Test func `Reports of every kind of run fit the schema`() throws {
    var reports = try [
      ReportSample.clean(), ReportSample.dirty(), ReportSample.failed(), ReportSample.hostileEverywhere(),
      ReportSample.full(), ReportSample.exported(),
    ]
    var reported = try ReportSample.clean()
    (reported.stopReason, reported.note, reported.run) = ("it was enough", "look here", "run-1")
    for state in [RunSummary.InputState.imported, .known, .resumed, .grown] {
      reported.inputs[0].state = state
      reported.inputs[0].contentHash = "0123456789abcdef0123456789abcdef"
      (reported.inputs[0].firstRecord, reported.inputs[0].importedAt) = (7, Date())
      reports.append(reported)
    }
    for kind in [RunSummary.Kind.import, .validate, .export] {
      for outcome in [RunSummary.Outcome.completed, .stopped, .cancelled, .failed] {
        reports.append(RunSummary(kind: kind, pipeline: "p", outcome: outcome, startedAt: Date(), seconds: 0))
      }
    }
    #expect(try mistakes(reports.map(Self.json)) == "")
  }

  @Test func `A key that the schema does not know, a missing one and a wrong value are found`() throws {
    let report = try Self.json(ReportSample.clean())
    let wrong = [
      report.replacingOccurrences(of: "\"exported\"", with: "\"exportd\""),
      report.replacingOccurrences(of: "\"months\"", with: "\"weeks\""),
      report.replacingOccurrences(of: "\"read\" : 4000", with: "\"read\" : -1"),
    ]
    #expect(
      try mistakes(wrong).split(separator: "\n").map(String.init).sorted() == [
        "0 $ additionalProperties", "0 $ required", "1 $.profile.charts[0].kind enum", "2 $.counts.read minimum",
      ])
  }

  @Test func `Every key of the schema is in the documentation`() throws {
    let schema = try Data(contentsOf: Repository.file("Pipelines/report.schema.json"))
    let article = try String(
      contentsOf: Repository.file("docs/manual/reference/reports.md"),
      encoding: .utf8)
    let keys = try python(
      """
      import json, sys
      def keys(node):
          if isinstance(node, dict):
              yield from node.get("properties", {})
              for child in node.values():
                  yield from keys(child)
      print(*sorted(set(keys(json.load(sys.stdin)))))
      """, input: String(decoding: schema, as: UTF8.self)
    ).split(whereSeparator: \.isWhitespace)
    #expect(keys.count > 30)
    #expect(keys.filter { !article.contains("`\($0)`") } == [])
  }
}
