import Testing

@testable import PipelineDefinition

/// The dates of a column decide in which order day and month are read, and are refused where they can't.
@Suite struct DateSurveyTests {
  private func verdict(_ formats: [String], _ texts: [String]) throws -> DateSurvey.Verdict {
    let parsed = try formats.map { try DateFormat($0, named: ["journal-app": "M/d/yy"]) }
    var survey = try #require(DateSurvey(parsed))
    for (index, text) in texts.enumerated() {
      let bytes = Array(text.utf8)
      survey.add(bytes.span, line: index + 2)
    }
    return survey.verdict(column: "date")
  }

  @Test(arguments: [["iso8601"], ["seconds"], ["yyyy-MM-dd", "iso8601"], ["yyyy/MM/dd HH:mm"], []])
  func `Formats that leave no doubt need no survey`(formats: [String]) throws {
    #expect(DateSurvey(try formats.map { try DateFormat($0) }) == nil)
  }

  @Test func `If two orders are declared, the one that all dates fit is used, and the reason is given`() throws {
    let verdict = try verdict(["iso8601", "M/d/yy", "d/M/yy"], ["3/4/14", "2014-01-01", "14/3/14", "x", "5/5/14"])
    #expect(verdict.excluded.map(\.text) == ["M/d/yy"])
    #expect(verdict.notes == ["date is read as d/M/yy: 1 of 3 can't be M/d/yy"])
    #expect(verdict.refusal == nil && verdict.warning == nil)
  }

  @Test func `Where nothing decides between two declared orders the column is refused`() throws {
    let verdict = try verdict(["M/d/yy", "d/M/yyyy"], ["3/4/14", "5/6/2014"])
    #expect(
      verdict.refusal?.message.hasPrefix("all 2 can be M/d/yy or d/M/yy, and nothing in the file decides") == true)
    #expect(verdict.refusal?.message.contains("--date-format d/M/yy") == true)
  }

  @Test func `Where nothing decides the only declared order is used without a word`() throws {
    #expect(try verdict(["iso8601", "d.M.yyyy"], ["3.4.2014", "5.6.2014"]) == DateSurvey.Verdict())
    #expect(try verdict(["M/d/yy"], ["3/4/14", "3/14/14"]) == DateSurvey.Verdict())
  }

  @Test func `Dates that contradict the only declared order refuse the column with the evidence`() throws {
    let texts = (1...28).map { "\($0 % 12 + 1)/3/14" } + (13...24).map { "\($0)/3/14" }
    let refusal = try verdict(["journal-app"], texts).refusal
    #expect(
      refusal?.message
        == "12 of 40 can't be M/d/yy (13/3/14 in line 30); all 40 can be d/M/yy: declare d/M/yy instead, in the "
        + "column's \"formats\" or with --date-format")
    #expect(refusal?.line == 30)
    // The advice reads the dates.
    #expect(try verdict(["d/M/yy"], texts) == DateSurvey.Verdict())
  }

  @Test func `The advice has the years as the file has them`() throws {
    let refusal = try verdict(["M/d/yy"], ["14/3/2014", "3/4/2014"]).refusal
    #expect(refusal?.message.contains("declare d/M/yyyy") == true)
  }

  @Test func `A column of both orders is refused, a single mistake is not`() throws {
    let american = (13...28).map { "3/\($0)/14" }
    let mixed = try verdict(["M/d/yy"], american + ["14/3/14"])
    #expect(mixed.refusal?.message.contains("so the file mixes both") == true)
    let single = try verdict(["M/d/yy"], american + american + ["14/3/14"])
    #expect(single.refusal == nil)
    #expect(single.warning?.message.contains("14/3/14 in line 34") == true)
    // A day that no order has decides nothing.
    #expect(try verdict(["M/d/yy"], ["3/14/14", "31/31/14"]) == DateSurvey.Verdict())
  }
}
