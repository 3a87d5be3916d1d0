import DefinitionTestSupport
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The log of a run: one line an event, by level, whole lines even when others write, and never the end of a run.
@Suite struct EventLogTests {
  private let folder: TemporaryFolder
  /// 2026-11-21T06:00:00.123Z
  private static let time = Date(timeIntervalSince1970: 1_795_240_800.123)
  init() throws { folder = try TemporaryFolder() }

  private func log(
    _ level: LogDefinition.Level = .debug, _ format: LogDefinition.Format = .text,
    warn: @escaping @Sendable (String) -> Void = { Issue.record("\($0)") }
  ) throws -> EventLog {
    try EventLog(path: folder.path("run.log"), level: level, format: format, now: { Self.time }, warn: warn)
  }

  private var lines: [String] {
    get throws { try folder.text("run.log").split(separator: "\n").map(String.init) }
  }

  static let issue = RecordIssue(
    .typeError, at: RecordPosition(input: "a.csv", record: 3, line: 4, byte: 90), field: 6, column: "rating",
    value: "six", message: "no number")

  static var summary: RunSummary {
    RunSummary(
      kind: .import, pipeline: "surf-log", startedAt: time, seconds: 1.5,
      counts: RunCounts(read: 3, inserted: 2, rejected: 1))
  }

  static let events: [(event: RunEvent, text: String, json: String)] = [
    (
      .runStarted(kind: .import, pipeline: "surf-log", store: "j.sqlite", inputs: 1),
      "info    import started: pipeline surf-log, 1 input, store j.sqlite",
      #""info","event":"run-started","kind":"import","pipeline":"surf-log","store":"j.sqlite","inputs":1}"#
    ),
    (
      .runEnded(summary), "info    import completed, exit status 0: 3 read, 2 inserted, 1 rejected",
      #""info","event":"run-ended","kind":"import","pipeline":"surf-log","outcome":"completed","exitCode":0,"#
        + #""seconds":1.5,"errors":0,"warnings":0,"read":3,"inserted":2,"updated":0,"unchanged":0,"duplicate":0,"repeated":0,"#
        + #""rejected":1}"#
    ),
    (
      .lockHeld(message: "in use"), "error   in use", #""error","event":"lock-held","message":"in use"}"#
    ),
    (
      .inputOpened("a.csv", bytes: 7), "info    a.csv: opened, 7 bytes",
      #""info","event":"input-opened","input":"a.csv","bytes":7}"#
    ),
    (
      .inputOpened("-", bytes: nil), "info    -: opened", #""info","event":"input-opened","input":"-"}"#
    ),
    (
      .inputKnown("a.csv", importedAt: "2026-11-20T06:00:00Z"),
      "info    a.csv: already imported, on 2026-11-20T06:00:00Z; nothing to do",
      #""info","event":"input-known","input":"a.csv","importedAt":"2026-11-20T06:00:00Z"}"#
    ),
    (
      .inputResumed("a.csv", record: 5, byte: 99), "info    a.csv: resumed after record 5, at byte 99",
      #""info","event":"input-resumed","input":"a.csv","record":5,"byte":99}"#
    ),
    (
      .inputCompleted("a.csv", RunCounts(read: 1, unchanged: 1)), "info    a.csv: completed: 1 read, 1 unchanged",
      #""info","event":"input-completed","input":"a.csv","read":1,"inserted":0,"updated":0,"unchanged":1,"#
        + #""duplicate":0,"repeated":0,"rejected":0}"#
    ),
    (
      .inputFailed("a.csv", code: .sourceError, message: "a.csv: cut off"), "error   a.csv: cut off",
      #""error","event":"input-failed","input":"a.csv","code":"source-error","message":"a.csv: cut off"}"#
    ),
    (
      .inputLeftAlone("a.csv", reason: "it grows"), "debug   a.csv: left alone: it grows",
      #""debug","event":"input-left-alone","input":"a.csv","reason":"it grows"}"#
    ),
    (
      .inputMoved("a.csv", to: "processed/a.csv"), "info    a.csv: moved to processed/a.csv",
      #""info","event":"input-moved","input":"a.csv","to":"processed/a.csv"}"#
    ),
    (
      .inputNotMoved("a.csv", reason: "gone"), "warning a.csv: not moved: gone",
      #""warning","event":"input-not-moved","input":"a.csv","reason":"gone"}"#
    ),
    (
      .chunkSaved("a.csv", record: 10, rows: 9), "debug   a.csv: 9 records saved, up to record 10",
      #""debug","event":"chunk-saved","input":"a.csv","record":10,"rows":9}"#
    ),
    (
      .issue(issue), #"error   a.csv:4: rating "six": type-error: no number"#,
      #""error","event":"issue","input":"a.csv","code":"type-error","record":3,"line":4,"byte":90,"field":6,"#
        + #""column":"rating","value":"six","message":"no number"}"#
    ),
    (
      .outputWritten("o.csv", records: 2, bytes: 30), "info    o.csv: 2 records written, 30 bytes",
      #""info","event":"output-written","output":"o.csv","records":2,"bytes":30}"#
    ),
    (
      .fileRemoved("r.html"), "info    r.html: removed by the pipeline's retention",
      #""info","event":"file-removed","path":"r.html"}"#
    ),
    (
      .notified("notify.ping"), "info    notified: notify.ping",
      #""info","event":"notified","target":"notify.ping"}"#
    ),
    (
      .notNotified("notify.ping", reason: "no answer"), "warning not notified: notify.ping: no answer",
      #""warning","event":"not-notified","target":"notify.ping","reason":"no answer"}"#
    ),
  ]

  @Test(arguments: events)
  func `Each event has a sentence, and a name with fields that stay`(
    event: RunEvent, text: String, json: String
  ) throws {
    try log(.debug, .text).log(event)
    try log(.debug, .json).log(event)
    #expect(
      try lines == [
        "2026-11-21T06:00:00.123Z \(text)", #"{"time":"2026-11-21T06:00:00.123Z","level":\#(json)"#,
      ])
  }

  @Test func `Another program reads every line of JSON, whatever is in the names`() throws {
    let names = ["quote\".csv", "line\nbreak.csv", "back\\slash", "tab\t", "\u{202E}vsc", "brändung🏄.csv", "\u{1}"]
    let log = try log(.debug, .json)
    for name in names { log.log(.inputOpened(name, bytes: nil)) }
    let script = """
      import json
      for line in open("\(folder.path("run.log"))", encoding="utf-8", newline="\\n"):
          print(json.dumps(json.loads(line)["input"]))
      """
    let read = try python(script).split(separator: "\n").map {
      try JSONDecoder().decode(String.self, from: Data($0.utf8))
    }
    #expect(read == names)
  }

  @Test func `A name can't forge a line of text`() throws {
    try log().log(.inputOpened("a\n2026-11-21T06:00:00.123Z info b\u{202E}", bytes: nil))
    #expect(
      try lines == [
        #"2026-11-21T06:00:00.123Z info    a\u{0A}2026-11-21T06:00:00.123Z info b\u{202E}: opened"#
      ])
  }

  @Test(arguments: [
    (LogDefinition.Level.error, 1), (.warning, 2), (.info, 3), (.debug, 4),
  ])
  func `A log takes its own level and the graver ones`(level: LogDefinition.Level, count: Int) throws {
    let log = try log(level)
    let events: [RunEvent] = [
      .lockHeld(message: "m"), .inputNotMoved("a", reason: "r"), .inputOpened("a", bytes: 1),
      .chunkSaved("a", record: 1, rows: 1),
    ]
    for event in events { log.log(event) }
    #expect(try lines.count == count)
    #expect(LogDefinition.Level.allCases.filter(log.takes).count == count)
  }

  @Test func `Without a log nothing is even made to be logged`() {
    func event() -> RunEvent {
      Issue.record("made for nobody")
      return .lockHeld(message: "")
    }
    EventLog.off.log(event())
    #expect(!EventLog.off.takes(.error))
  }

  @Test func `Lines are added, to a new file that others may read`() throws {
    let before = umask(0o022)
    defer { umask(before) }
    try log().log(.lockHeld(message: "first"))
    try log().log(.lockHeld(message: "second"))
    #expect(try lines.count == 2)
    #expect(stat.of(folder.path("run.log")).map { $0.st_mode & 0o777 } == 0o644)
  }

  @Test func `Held lines are written when they are released, and never when they are dropped`() throws {
    let log = try log()
    for (number, end) in [(1, log.drop), (2, log.release)] {
      log.hold()
      log.log(.lockHeld(message: "\(number) a"))
      log.log(.lockHeld(message: "\(number) b"))
      #expect(try lines.isEmpty)
      end()
    }
    log.log(.lockHeld(message: "c"))
    #expect(try lines.map { $0.suffix(3) } == ["2 a", "2 b", "  c"])
  }

  @Test func `Writers of one file don't mix their lines`() throws {
    let logs = try (0..<4).map { _ in try log() }
    let text = String(repeating: "x", count: 3000)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<100 { logs[thread % 4].log(.lockHeld(message: "\(thread) \(number) \(text)")) }
    }
    let expected = (0..<8).flatMap { thread in
      (0..<100).map { "2026-11-21T06:00:00.123Z error   \(thread) \($0) \(text)" }
    }
    #expect(try lines.sorted() == expected.sorted())
  }

  @Test func `After a cut by a rotation lines begin at the file's start`() throws {
    let log = try log()
    log.log(.lockHeld(message: "before"))
    #expect(truncate(folder.path("run.log"), 0) == 0)
    log.log(.lockHeld(message: "after"))
    #expect(try folder.text("run.log") == "2026-11-21T06:00:00.123Z error   after\n")
  }

  @Test func `A full disk is reported once and ends nothing`() throws {
    let reported = Locked<[String]>([])
    let log = try EventLog(path: "/dev/full", level: .info, format: .text) { text in
      reported.withLock { $0.append(text) }
    }
    for _ in 0..<3 { log.log(.lockHeld(message: "m")) }
    let messages = reported.withLock { $0 }
    #expect(messages.count == 1)
    #expect(messages.first?.hasPrefix("the log can't be written: /dev/full: No space left on device") == true)
  }

  @Test func `A place that can't be is a clear error`() throws {
    for (place, code) in [("no/folder/run.log", ExitCode.cannotCreate), (".", .cannotCreate)] {
      do {
        _ = try EventLog(path: folder.path(place), level: .info, format: .text) { _ in }
        Issue.record("\(place) was opened")
      } catch {
        #expect(error.exitCode == code)
        #expect(error.message.hasPrefix("\(folder.path(place)) can't be opened for the log: "))
      }
    }
  }

  // MARK: What is asked for

  @Test func `Options change the definition's log, and any of them asks for one`() throws {
    var definition = PipelineDefinition(
      name: "p", baseDirectory: URL(fileURLWithPath: "/base", isDirectory: true), vocabulary: .journal)
    var options = RunOptions()
    #expect(EventLog.Destination(definition, options) == nil)
    #expect(try EventLog.of(definition, options, unless: { false }) === EventLog.off)
    options.logLevel = .debug
    let place = try #require(EventLog.Destination(definition, options))
    #expect((place.path, place.level, place.format) == (nil, .debug, .text))
    definition.log = LogDefinition(file: "run.log", level: .error, format: .json)
    #expect(EventLog.Destination(definition, options)?.path == "/base/run.log")
    #expect(EventLog.Destination(definition, options)?.level == .debug)
    #expect(EventLog.Destination(definition, options)?.format == .json)
    options.logFile = "-"
    #expect(EventLog.Destination(definition, options)?.path == nil)
    options.logFile = "here.log"
    #expect(EventLog.Destination(definition, options)?.path == FileManager.default.currentDirectoryPath + "/here.log")
  }

  @Test func `A quiet run tells on standard error only what is wrong`() throws {
    var options = RunOptions()
    options.isQuiet = true
    options.logLevel = .debug
    let definition = PipelineDefinition(name: "p", vocabulary: .journal)
    #expect(EventLog.Destination(definition, options)?.level == .warning)
    options.logLevel = .error
    #expect(EventLog.Destination(definition, options)?.level == .error)
    options.logLevel = .debug
    options.logFile = "run.log"
    #expect(EventLog.Destination(definition, options)?.level == .debug)
  }
}

/// When a run has to end by itself.
@Suite struct DeadlineTests {
  @Test func `It passes when the seconds are over, not before`() {
    let start = ContinuousClock.now
    let deadline = Deadline(timeoutSeconds: 1.5, from: start)
    #expect(!deadline.hasPassed(at: start))
    #expect(!deadline.hasPassed(at: start + .seconds(1.49)))
    #expect(deadline.hasPassed(at: start + .seconds(1.5)))
    #expect(deadline.message?.contains("the timeout of 1.5 s ended it") == true)
  }

  @Test(arguments: [nil, 0.0])
  func `Without a timeout it never does`(_ seconds: Double?) {
    let deadline = Deadline(timeoutSeconds: seconds)
    #expect(!deadline.hasPassed(at: .now + .seconds(1_000_000)))
    #expect(deadline.message == nil)
  }

  @Test func `An option goes before the definition, also one that lifts it`() {
    let definition = PipelineDefinition(name: "p", timeoutSeconds: 60, vocabulary: .journal)
    var options = RunOptions()
    #expect(Deadline(definition, options).timeoutSeconds == 60)
    options.timeoutSeconds = 5
    #expect(Deadline(definition, options).timeoutSeconds == 5)
    options.timeoutSeconds = 0
    #expect(Deadline(definition, options).timeoutSeconds == nil)
  }
}
