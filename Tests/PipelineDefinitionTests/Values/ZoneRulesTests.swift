import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// Times without a zone are those of the declared one; Python's zoneinfo is the reference.
@Suite struct ZoneRulesTests {
  static let zones = [
    "Europe/Berlin", "America/Los_Angeles", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu",
    "America/Sao_Paulo", "UTC",
  ]

  @Test(.seeded, arguments: zones)
  func `An offset is that of an independent implementation, also where clocks are set`(zone: String) throws {
    let rules = try #require(ZoneRules(zone))
    var seeded = Randomness.generator()
    var seconds = (0..<400).map { _ in Int.random(in: -1_600_000_000..<1_200_000_000, using: &seeded) }
    // Every half hour around two changes of most zones: 30 March and 26 October 2014.
    for start in [417_657_600, 435_801_600] { seconds += (0..<96).map { start - 86_400 + $0 * 1800 } }
    let answers = try pythonLines(
      """
      import sys, datetime, zoneinfo
      zone = zoneinfo.ZoneInfo("\(zone)")
      base = datetime.datetime(2001, 1, 1)
      for line in sys.stdin:
          local = base + datetime.timedelta(seconds=int(line))
          print(int(local.replace(tzinfo=zone).utcoffset().total_seconds()))
      """, seconds.map(String.init))
    for (local, answer) in zip(seconds, answers) { #expect("\(rules.offset(atLocal: local))" == answer, "\(local)") }
  }

  @Test(arguments: ["Europe/Berln", "CEST", "GMT+2", "", "Mars/Olympus"])
  func `A name that is not of the time zone database is refused`(name: String) {
    #expect(ZoneRules(name) == nil)
  }

  static let texts: [(text: String, formats: [String], utc: String)] = [
    ("2014-07-14 07:30", ["iso8601"], "2014-07-14T05:30:00Z"),
    ("2014-01-14T07:30:00", ["iso8601"], "2014-01-14T06:30:00Z"),
    ("2014-07-14T07:30:00Z", ["iso8601"], "2014-07-14T07:30:00Z"),
    ("2014-07-14T07:30+09:00", ["iso8601"], "2014-07-13T22:30:00Z"),
    ("2014-07-14", ["iso8601"], "2014-07-13T22:00:00Z"),
    ("14.7.2014 07:30", ["d.M.yyyy HH:mm"], "2014-07-14T05:30:00Z"),
    ("14.7.2014", ["d.M.yyyy"], "2014-07-13T22:00:00Z"),
  ]

  @Test(arguments: texts)
  func `A column reads times without a zone in the pipeline's, and others as they say`(
    text: String, formats: [String], utc: String
  ) throws {
    var definition = PipelineDefinition(
      name: "p", columns: [ColumnDefinition("date", formats: formats)], entity: "E", vocabulary: .journal)
    definition.timeZone = "Europe/Berlin"
    let parser = try #require(try ColumnSet(definition, types: ["date": .date]).parsers.first)
    #expect(parser.parse(text: text).value == .real(try #require(DateFormat.iso8601.seconds(text: utc))))
    if case .date = parser.kernel { Issue.record("the fast path knows no zones") }
  }
}
