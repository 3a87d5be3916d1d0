import CSV
import Foundation
import Locking

/// The log of a run: one line per event, each in one write, so that runs that share a file don't mix their lines.
///
/// A log that can't be written any more does not end the run; it is told once, and later lines are tried all the same.
final class EventLog: Sendable {
  /// For a run without a log; costs nothing.
  static let off = EventLog()

  private let level: LogDefinition.Level?
  private let format: LogDefinition.Format
  private let name: String
  private let now: @Sendable () -> Date
  private let warn: @Sendable (String) -> Void
  private let state: Locked<State>

  private struct State {
    var descriptor: Int32
    /// Set once a line could not be written, or not wholly.
    var hasFailed = false
    /// Set while the file ends in the middle of a line.
    var isTorn = false
  }

  private init() {
    level = nil
    format = .text
    name = ""
    now = { Date() }
    warn = { _ in }
    state = Locked(State(descriptor: -1))
  }

  /// - Parameters:
  ///   - path: The file, made if there is none, in a folder that is there; nil for standard error.
  ///   - warn: Is told once that lines are missing.
  /// - Throws: 77, 73 or 74 where the file can't be opened.
  init(
    path: String?, level: LogDefinition.Level, format: LogDefinition.Format,
    now: @escaping @Sendable () -> Date = { Date() }, warn: @escaping @Sendable (String) -> Void
  ) throws(RunFailure) {
    self.level = level
    self.format = format
    self.now = now
    self.warn = warn
    name = path ?? "standard error"
    var descriptor = STDERR_FILENO
    if let path {
      descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o644)
      guard descriptor >= 0 else { throw RunFailure(path, "can't be opened for the log", errno: errno) }
    }
    state = Locked(State(descriptor: descriptor))
  }

  deinit {
    state.withLock { state in
      if state.descriptor > STDERR_FILENO { close(state.descriptor) }
    }
  }

  /// The log that a run was asked for; ``off`` where nobody asked.
  static func of(_ definition: PipelineDefinition, _ options: RunOptions) throws(RunFailure) -> EventLog {
    guard let place = Place(definition, options) else { return .off }
    return try EventLog(
      path: place.path, level: place.level, format: place.format, now: options.now, warn: options.warn)
  }

  /// What the definition and the options together ask for.
  struct Place: Equatable {
    /// Nil for standard error.
    let path: String?
    let level: LogDefinition.Level
    let format: LogDefinition.Format

    /// Nil where no log is asked for.
    init?(_ definition: PipelineDefinition, _ options: RunOptions) {
      guard definition.log != nil || options.logFile != nil || options.logLevel != nil || options.logFormat != nil
      else { return nil }
      let log = definition.log ?? LogDefinition()
      let path = options.logFile.map { $0 == "-" ? $0 : URL(fileURLWithPath: $0).path } ?? log.file.map(definition.path)
      self.path = path == "-" ? nil : path
      format = options.logFormat ?? log.format
      let wish = options.logLevel ?? log.level
      // A quiet run has nothing to say on standard error unless something is wrong.
      level = options.isQuiet && self.path == nil ? min(wish, .warning) : wish
    }
  }

  /// Refuses to log into a file that the run reads.
  static func checkPlace(
    _ definition: PipelineDefinition, _ options: RunOptions, isNoneOf others: [String]
  ) throws(PipelineError) {
    guard let path = Place(definition, options)?.path else { return }
    try OutputPlace.check(path, key: "log", isNoneOf: others)
  }

  /// Whether events of a level are written; for what is costly to find out.
  func takes(_ level: LogDefinition.Level) -> Bool { self.level.map { level <= $0 } ?? false }

  /// Writes the event if its level is one of the log's.
  func log(_ event: @autoclosure () -> RunEvent) {
    guard let level else { return }
    let event = event()
    guard event.level <= level else { return }
    write(format == .json ? LogLine.json(event, at: now()) : LogLine.text(event, at: now()))
  }

  private func write(_ line: [UInt8]) {
    let failure: Int32? = state.withLock { state in
      let bytes = state.isTorn ? [0x0A] + line : line
      var count: Int
      repeat {
        count = Foundation.write(state.descriptor, bytes, bytes.count)
      } while count < 0 && (errno == EINTR || errno == EAGAIN && Self.waitForRoom(state.descriptor))
      if count == bytes.count {
        state.isTorn = false
        return nil
      }
      let code = count < 0 ? errno : ENOSPC
      if count > 0 { state.isTorn = true }
      guard !state.hasFailed else { return nil }
      state.hasFailed = true
      return code
    }
    if let failure { warn("the log can't be written: \(name): \(systemMessage(failure)); the run goes on without") }
  }

  /// False where there will never be any.
  private static func waitForRoom(_ descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, -1) > 0 && request.revents & Int16(POLLOUT) != 0
  }
}

/// An event as a line.
enum LogLine {
  /// `2026-11-21T06:00:00.123Z info    import started: …`
  static func text(_ event: RunEvent, at time: Date) -> [UInt8] {
    let level = event.level.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
    return Array("\(stamp(time)) \(level) \(RawText.oneLine(event.description))\n".utf8)
  }

  static func json(_ event: RunEvent, at time: Date) -> [UInt8] {
    let head: [RunEvent.Field] = [
      ("time", .text(stamp(time))), ("level", .text(event.level.rawValue)), ("event", .text(event.name)),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let members = (head + event.fields).compactMap { name, value -> String? in
      // With that strategy there is no number and no text that can't be encoded.
      guard let value, let data = try? encoder.encode(value) else { return nil }
      return "\"\(name)\":\(String(decoding: data, as: UTF8.self))"
    }
    return Array("{\(members.joined(separator: ","))}\n".utf8)
  }

  /// ISO 8601 in UTC with milliseconds.
  static func stamp(_ time: Date) -> String {
    let milliseconds = Int((time.timeIntervalSinceReferenceDate * 1000).rounded())
    let fraction = (milliseconds % 1000 + 1000) % 1000
    let seconds = DateText.iso8601(Double((milliseconds - fraction) / 1000)) ?? ""
    return seconds.dropLast() + String(format: ".%03dZ", fraction)
  }
}
