import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Names of outputs: what stands for their placeholders, and where a split export's goes that has none.
@Suite struct OutputTemplateTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let template: String
    let split: ExportDefinition.Split?
    let path: String
    let mark: String
    var testDescription: String { "\(template) \(split?.placeholder.rawValue ?? "")" }

    init(_ template: String, _ split: ExportDefinition.Split? = nil, path: String, mark: String) {
      self.template = template
      self.split = split
      self.path = path
      self.mark = mark
    }
  }

  static let cases = [
    Case("out/log.csv", path: "out/log.csv", mark: "out/log.csv.mark.json"),
    Case("log.csv", .rows(5), path: "log-00012.csv", mark: "log.csv.mark.json"),
    Case("log.csv.gz", .rows(5), path: "log-00012.csv.gz", mark: "log.csv.gz.mark.json"),
    Case("a.b/log", .month("date"), path: "a.b/log-2014-07", mark: "a.b/log.mark.json"),
    Case(".log", .rows(1), path: ".log-00012", mark: ".log.mark.json"),
    Case("surf.2014.csv", .rows(1), path: "surf.2014-00012.csv", mark: "surf.2014.csv.mark.json"),
    Case("log.GZ", .rows(1), path: "log-00012.GZ", mark: "log.GZ.mark.json"),
    Case("{part} of log.csv", .rows(1), path: "00012 of log.csv", mark: "of log.csv.mark.json"),
    Case("log_{date}_{time}.csv", path: "log_2014-07-14_073005.csv", mark: "log.csv.mark.json"),
    Case("{month}-{date}.csv", .month("date"), path: "2014-07-2014-07-14.csv", mark: "csv.mark.json"),
    Case("log-{date}", .rows(2), path: "log-2014-07-14-00012", mark: "log.mark.json"),
    Case("{date}", path: "2014-07-14", mark: "export.mark.json"),
    Case("a{B}{}{ {1}.csv", path: "a{B}{}{ {1}.csv", mark: "a{B}{}{ {1}.csv.mark.json"),
  ]

  @Test(arguments: cases)
  func `A template gives paths`(_ test: Case) throws {
    let template = try OutputTemplate(test.template, split: test.split)
    let start = Date(timeIntervalSinceReferenceDate: 427_015_805.9)
    #expect(template.path(.init(part: 12, month: "2014-07", start: start)) == test.path)
    #expect(template.markPath == test.mark)
  }

  @Test func `Numbers of parts grow when five digits do not suffice`() throws {
    let template = try OutputTemplate("a.csv", split: .rows(1))
    #expect(template.path(.init(part: 123_456, start: Date())) == "a-123456.csv")
  }

  static let mistakes: [(template: String, split: ExportDefinition.Split?, message: String)] = [
    ("a-{parts}.csv", .rows(1), "the placeholder {parts} is unknown; known are 'part', 'month', 'date', 'time'; did"),
    (
      "a-{part}.csv", nil, "the name has {part}, and the export is not split by rows; add \"split\": {\"rows\": 100000}"
    ),
    (
      "a-{month}.csv", .rows(1), "the name has {month}, and the export is not split by month; add \"split\": {\"month\""
    ),
    ("{date}/a.csv", nil, "{date} is in a folder's name; placeholders are for the file's name"),
  ]

  @Test(arguments: mistakes)
  func `A template that can't be meant is refused`(
    template: String, split: ExportDefinition.Split?, message: String
  ) throws {
    let error = #expect(throws: PipelineError.self) { try OutputTemplate(template, split: split) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }
}
