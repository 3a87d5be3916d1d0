import Foundation

/// What is said of a run: why, the run's summary, and where its reports are.
struct Notice {
  let event: NotifyDefinition.Event
  /// Everything that has happened, `event` first.
  let events: [NotifyDefinition.Event]
  let summary: RunSummary
  let reports: [String]
  /// The run that failed before this one, where that is over.
  private let failed: RunRecord?
  /// Whether it is sent to try the way out, and nothing has happened.
  var isTest = false

  /// Issues that a message lists.
  private static let issuesMax = 20
  /// A system starts no program with a value of more than 128 KiB, or with more than some MiB of all.
  private static let valueBytesMax = 8 << 10

  /// - Parameter previous: The last run that says how the pipeline was.
  init(_ summary: RunSummary, after previous: RunRecord?, reports: [String]) {
    let events = Self.events(of: summary, after: previous)
    (event, self.events) = (events.first ?? .always, events)
    (self.summary, self.reports) = (summary, reports)
    failed = events.contains(.recovery) ? previous : nil
  }

  /// A test of what would be sent for an event.
  init(testing event: NotifyDefinition.Event, _ summary: RunSummary) {
    (self.event, events, self.summary, reports, failed) = (event, [event], summary, [], nil)
    isTest = true
  }

  /// Whether one of the events has occurred.
  func concerns(_ wanted: [NotifyDefinition.Event]) -> Bool {
    wanted.contains(.always) || wanted.contains { events.contains($0) }
  }

  /// What has happened, the most important first.
  static func events(of summary: RunSummary, after previous: RunRecord?) -> [NotifyDefinition.Event] {
    let record = RunRecord(summary, reports: [])
    guard record.isTelling else { return [] }
    var events: [NotifyDefinition.Event] = record.hasFailed ? [.failure] : []
    if !record.hasFailed, previous?.hasFailed == true { events.append(.recovery) }
    let codes: [IssueCode] = [.headerChanged, .expectationError]
    if codes.contains(where: { summary.issues.counts[$0] ?? 0 > 0 }) { events.append(.drift) }
    return events + (record.hasFailed ? [] : [.success])
  }

  // MARK: Words

  /// One line.
  var subject: String {
    let verdict = summary.verdict.headline
    let text =
      switch event {
      case .recovery: "works again: \(verdict)"
      case .drift: "the data have changed: \(verdict)"
      case .failure, .success, .always: verdict
      }
    return RawText.oneLine("\(isTest ? "Test: " : "")\(summary.subject): \(text)")
  }

  /// What a person reads.
  var text: String {
    var parts: [String] = []
    if isTest {
      parts.append("This is a test of what the pipeline '\(summary.pipeline)' notifies. Nothing has happened.\n")
    }
    if let failed {
      let end = failed.reason.map { ": \($0)" } ?? ""
      parts.append("The run of \(Self.time(failed.startedAt)) had failed (\(failed.headline)\(end)).\n")
    }
    if !isTest { parts.append(summary.text(issuesShownMax: Self.issuesMax)) }
    if !reports.isEmpty { parts.append("Reports:\n" + reports.map { "  \($0)\n" }.joined()) }
    return RawText.lines(parts.joined(separator: "\n"))
  }

  private static func time(_ date: Date) -> String { date.ISO8601Format() }

  /// The first bytes of a text that an environment can have, up to a whole character.
  private static func cut(_ text: String) -> String {
    if text.utf8.count <= valueBytesMax { return text }
    var bytes = 0
    let end = text.unicodeScalars.firstIndex { scalar in
      bytes += UTF8.width(scalar)
      return bytes > valueBytesMax
    }
    return String(text[..<(end ?? text.endIndex)])
  }

  /// Paths, as many of them as an environment can have, separated by colons.
  private static func list(_ paths: [String]) -> String {
    let text = paths.joined(separator: ":")
    let start = cut(text)
    return start == text ? text : start.lastIndex(of: ":").map { String(start[..<$0]) } ?? ""
  }

  // MARK: Data

  /// The report without what is long: the first issues, and no profile.
  private var short: RunSummary {
    var short = summary
    short.profile = nil
    if short.issues.listed.count > Self.issuesMax {
      short.issues.listed = Array(short.issues.listed.prefix(Self.issuesMax))
      short.issues.isTruncated = true
    }
    return short
  }

  /// The object that a webhook gets. It has no character that a terminal acts upon, and no markup, wherever it is shown.
  func json() throws -> [UInt8] {
    var members: [String: JSONValue] = [
      "event": .string(event.rawValue), "events": .array(events.map { .string($0.rawValue) }),
      "program": .string(summary.program), "pipeline": .string(summary.pipeline),
      "kind": .string(summary.kind.rawValue), "outcome": .string(summary.outcome.rawValue),
      "exitCode": .number(Double(summary.exitCode.rawValue)), "subject": .string(subject), "text": .string(text),
      "reports": .array(reports.map(JSONValue.string)), "test": .bool(isTest),
    ]
    members["summary"] = try JSONDecoder().decode(JSONValue.self, from: try short.json())
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = RawText.json(try encoder.encode(JSONValue.object(members)))
    return Array(String(decoding: json, as: UTF8.self).replacing("<", with: "\\u003C").utf8)
  }

  /// The summary in the form that a command asks for.
  func input(_ form: NotifyDefinition.SummaryForm) throws -> [UInt8] {
    switch form {
    case .text: Array(text.utf8)
    case .json: Array(try short.json())
    }
  }

  /// The facts of the run as variables of the environment.
  var variables: [String: String] {
    let counts = summary.counts
    let facts: [(String, String?)] = [
      ("EVENT", event.rawValue), ("EVENTS", events.map(\.rawValue).joined(separator: " ")),
      ("PIPELINE", summary.pipeline), ("KIND", summary.kind.rawValue), ("OUTCOME", summary.outcome.rawValue),
      ("EXIT_CODE", String(summary.exitCode.rawValue)), ("SUBJECT", subject), ("RUN", summary.run),
      ("STARTED_AT", Self.time(summary.startedAt)), ("SECONDS", String(format: "%.3f", summary.seconds)),
      ("STORE", summary.store), ("READ", String(counts.read)), ("INSERTED", String(counts.inserted)),
      ("UPDATED", String(counts.updated)), ("UNCHANGED", String(counts.unchanged)),
      ("DUPLICATE", String(counts.duplicate)), ("REJECTED", String(counts.rejected)),
      ("EXPORTED", String(summary.exported)), ("ERRORS", String(summary.issues.errors)),
      ("WARNINGS", String(summary.issues.warnings)), ("MESSAGE", summary.failure?.message ?? summary.stopReason),
      ("REJECTS", summary.rejects), ("REPORTS", Self.list(reports)), ("TEST", isTest ? "1" : nil),
    ]
    let letters = summary.program.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return Dictionary(
      facts.compactMap { name, value in
        // The environment can't have a zero byte.
        value.map { ("\(String(letters))_\(name)", Self.cut($0.replacingOccurrences(of: "\0", with: ""))) }
      }, uniquingKeysWith: { $1 })
  }
}
