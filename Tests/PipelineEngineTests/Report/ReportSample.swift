import Foundation
import OpenCoreData
import TestSupport

@testable import PipelineDefinition
@testable import PipelineEngine

/// Summaries as runs make them, and some worse than any run would.
enum ReportSample {
  static let entity = RunModel.make().entitiesByName["JournalEntry"] ?? NSEntityDescription()

  static let definition = PipelineDefinition.plain { $0.charts = ["date", "rating", "location"] }

  struct Session {
    var date: Double?
    var rating: Int64?
    var place: String?
  }

  static func batch(_ sessions: [Session]) -> ObjectBatch {
    var batch = ObjectBatch(entity: entity, rowCapacity: sessions.count)
    let (date, rating, place) = (
      entity.slot(named: "date") ?? 0, entity.slot(named: "rating") ?? 0, entity.slot(named: "location") ?? 0
    )
    for session in sessions {
      batch.appendRow()
      if let value = session.date { batch.setReal(value, at: date) }
      if let value = session.rating { batch.setInteger(value, at: rating) }
      if let value = session.place { batch.setText(value, at: place) }
    }
    return batch
  }

  static func profile(_ sessions: [Session]) throws -> EntryProfile {
    var profiler = try EntryProfiler(definition, entity: entity)
    profiler.add(batch(sessions))
    return profiler.profile
  }

  /// Eight years of sessions, more in summer, at places of which some are more popular.
  static func sessions(_ count: Int, places: [String] = places) -> [Session] {
    var random = SeededGenerator(seed: 7)
    return (0..<count).map { index in
      let day = Double(index) / Double(count) * 8 * 365.25
      let isSummer = (day / 365.25).truncatingRemainder(dividingBy: 1) > 0.45
      let shifted = isSummer ? day : day + Double.random(in: 0...120, using: &random)
      let place = places[
        min(Int.random(in: 0..<places.count, using: &random), Int.random(in: 0..<places.count, using: &random))]
      let rating = Int64(Int.random(in: 1...5, using: &random) + Int.random(in: 1...5, using: &random)) / 2
      return Session(
        date: 353_000_000 + shifted * 86_400, rating: index % 40 == 0 ? nil : rating,
        place: index % 97 == 0 ? nil : place)
    }
  }

  static let places = [
    "Steamer Lane, Santa Cruz", "Rincon", "Ocean Beach, San Francisco", "Malibu, First Point", "Pleasure Point",
    "Ditch Plains, \"the Ditch\", Montauk", "El Porto", "Mavericks", "Lahinch", "Huntington Beach Pier",
    "Praia do Norte",
    "Taghazout", "Hossegor", "湘南・鵠沼海岸", "Trestles", "Swami's", "Todos Santos, \"Killers\"",
  ]

  static func clean() throws -> RunSummary {
    var summary = RunSummary(
      kind: .import, pipeline: "surf-log", startedAt: Date(timeIntervalSinceReferenceDate: 427_015_800),
      seconds: 0.043, inputs: [.init(path: "inbox/surf-log.csv.gz", bytes: 61_234, records: 4000)],
      store: "journal.sqlite", counts: RunCounts(read: 4000, inserted: 4000), memoryPeakBytes: 34_567_890,
      program: "surfjournal")
    summary.profile = try profile(sessions(4000))
    return summary
  }

  /// Many issues of many kinds, more than are listed.
  static func dirty(listedMax: Int = 1000) throws -> RunSummary {
    var log = IssueLog(listedMax: listedMax)
    var random = SeededGenerator(seed: 3)
    let codes: [(IssueCode, String?, String?, String)] = [
      (.typeError, "rating", "five stars", "is not a whole number; write digits only, or leave the field empty"),
      (.constraintError, "date", "2999-01-01T00:00:00Z", "lies in the future; correct the date, or check the clock"),
      (.missingCell, nil, nil, "the record has 5 fields and the header 6; write a ',' for each empty field"),
      (.primaryKey, nil, "2014-07-14,Rincon", "has the key of line 17; remove one of the two"),
      (.strayQuote, nil, "6\\\" board", "a quote stands in a field without quotes"),
      (.blankRow, nil, nil, "the line is empty; remove it, or fill it in"),
    ]
    for index in 0..<1234 {
      let (code, column, value, message) = codes[
        min(Int.random(in: 0..<6, using: &random), Int.random(in: 0..<6, using: &random))]
      let position = RecordPosition(
        input: "club.csv", record: UInt64(index * 7 + 1), line: UInt64(index * 7 + 2), byte: UInt64(index * 300))
      log.add(
        RecordIssue(code, at: position, field: column == nil ? nil : 6, column: column, value: value, message: message))
    }
    let header = RecordPosition(input: "club.csv", record: 0, line: 1, byte: 0)
    log.add(
      RecordIssue(.extraLabel, severity: .warning, at: header, field: 7, value: "tide", message: "no column knows it"))
    var summary = try clean()
    summary.inputs = [.init(path: "club.csv", bytes: 1_234_567, records: 12_345)]
    summary.counts = RunCounts(
      read: 12_345, inserted: 9876, updated: 321, unchanged: 914, duplicate: 205, rejected: 1029)
    summary.issues = .init(log)
    summary.rejects = "reports/club.csv.rejects.csv"
    return summary
  }

  static func failed() throws -> RunSummary {
    var summary = try clean()
    summary.outcome = .failed
    summary.failure = .init(
      code: .compressionError,
      message: "inbox/surf-log.csv.gz: the gzip data end in the middle, at byte 61234; fetch the file again",
      exitCode: .dataError)
    summary.counts = RunCounts(read: 1500, inserted: 1500)
    summary.profile = try profile(sessions(1500))
    return summary
  }

  /// Values that try to be markup, to break lines, to turn the text round.
  static let hostile = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "' onmouseover='alert(3)", "]]>", "&amp;", "a & b",
    "</style><script>alert(4)</script>", "<!-- ", "\u{202E}evil\u{202C}", "\u{1B}[31mred\u{7}", "javascript:alert(5)",
    String(repeating: "verylongword", count: 20), "\\u{0}", "http://example.invalid/x.png",
  ]

  /// Every text of the summary is hostile.
  static func hostileEverywhere() throws -> RunSummary {
    var log = IssueLog(listedMax: 100)
    for (index, text) in hostile.enumerated() {
      let position = RecordPosition(input: hostile[index % 3], record: UInt64(index), line: UInt64(index + 1), byte: 0)
      log.add(
        RecordIssue(
          IssueCode(rawValue: text), severity: index % 4 == 3 ? .warning : .error, at: position, field: 1, column: text,
          value: text, message: text))
    }
    var summary = RunSummary(
      kind: .import, pipeline: hostile.joined(separator: " "), outcome: .failed,
      failure: .init(
        code: IssueCode(rawValue: hostile[1]), message: hostile.joined(separator: " "), exitCode: .ioError),
      startedAt: Date(timeIntervalSinceReferenceDate: 0), seconds: 4000,
      inputs: hostile.map { .init(path: $0, bytes: 1, records: 1) },
      outputs: hostile.map { .init(path: $0, bytes: 1, records: 1) }, store: hostile[0],
      counts: RunCounts(read: 14, inserted: 14), issues: log, rejects: hostile[1])
    var profile = try profile(sessions(2000, places: hostile))
    for index in profile.charts.indices { profile.charts[index].attribute = hostile[index] }
    summary.profile = profile
    addHostile(to: &summary)
    return summary
  }
}
