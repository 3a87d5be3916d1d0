import CSV
import Foundation
import SystemSupport

/// The event log of a run: one line per event, each in one write, so that runs that share a file don't mix their lines.
///
/// An event log that can't be written any more does not end the run; `warn` is called once, and later lines are still
/// tried.
final class EventLog: Sendable {
  /// For a run without an event log; costs nothing.
  static let off = EventLog()

  private let level: LogDefinition.Level?
  private let format: LogDefinition.Format
  private let name: String
  private let now: @Sendable () -> Date
  private let warn: @Sendable (String) -> Void
  /// Ends a wait for the reader of a FIFO.
  private let isCancelled: @Sendable () -> Bool
  private let state: Locked<State>

  private struct State {
    var descriptor: Int32
    /// Set once a line could not be written completely.
    var hasFailed = false
    /// Set while the file ends in the middle of a line.
    var isTorn = false
    /// Lines that wait; nil while lines are written at once.
    var held: [[UInt8]]?
  }

  private init() {
    level = nil
    format = .text
    name = ""
    now = { Date() }
    warn = { _ in }
    isCancelled = { false }
    state = Locked(State(descriptor: -1))
  }

  /// - Parameters:
  ///   - path: The file, created if there is none, in an existing folder; nil for standard error.
  ///   - permissions: Those of a new file, less the umask.
  ///   - isCancelled: Ends the wait for the reader of a FIFO.
  ///   - warn: Called once when lines are missing.
  /// - Throws: 77, 73 or 74 where the file can't be opened, 75 where the wait was cancelled.
  init(
    path: String?, level: LogDefinition.Level, format: LogDefinition.Format,
    permissions: UInt32 = ByteSink.permissionsMax, now: @escaping @Sendable () -> Date = { Date() },
    unless isCancelled: @escaping @Sendable () -> Bool = { false },
    warn: @escaping @Sendable (String) -> Void
  ) throws(RunFailure) {
    self.level = level
    self.format = format
    self.now = now
    self.warn = warn
    self.isCancelled = isCancelled
    name = path ?? "standard error"
    var descriptor = STDERR_FILENO
    if let path { descriptor = try Self.openChecked(path, permissions: permissions, unless: isCancelled) }
    state = Locked(State(descriptor: descriptor))
  }

  private static func openChecked(
    _ path: String, permissions: UInt32, unless isCancelled: () -> Bool
  ) throws(RunFailure) -> Int32 {
    try OutputPath.checkOwner(of: path)
    let descriptor = try open(path, permissions: permissions, unless: isCancelled)
    do throws(RunFailure) {
      // Another user may have made it meanwhile.
      try OutputPath.checkOwner(ofOpen: descriptor, path)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Opens the file, or a FIFO when it has a reader. Without O_NONBLOCK the system would wait for the reader, and later
  /// for one that does not read on, whatever signal comes.
  private static func open(
    _ path: String, permissions: UInt32, unless isCancelled: () -> Bool
  ) throws(RunFailure) -> Int32 {
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    while true {
      let descriptor = uninterrupted { Foundation.open(path, flags, mode_t(permissions)) }
      if descriptor >= 0 { return descriptor }
      let code = errno
      guard code == ENXIO, stat.of(path)?.type == S_IFIFO else {
        throw RunFailure(path, "can't be opened for the log", errno: code)
      }
      if isCancelled() {
        throw RunFailure(
          code: nil, exitCode: .temporaryFailure, message: "\(path) was not opened for the log: it has no reader")
      }
      usleep(UInt32(millisecondsPerWait) * 1000)
    }
  }

  deinit {
    state.withLock { state in
      if state.descriptor > STDERR_FILENO { close(state.descriptor) }
    }
  }

  /// The event log that was requested; ``off`` if none was.
  static func of(
    _ definition: PipelineDefinition, _ options: RunOptions, unless isCancelled: @escaping @Sendable () -> Bool
  ) throws(RunFailure) -> EventLog {
    guard let destination = Destination(definition, options) else { return .off }
    let permissions = FileRights.ofFile(destination.path ?? "", near: definition.storeLocation(options)?.path)
    return try EventLog(
      path: destination.path, level: destination.level, format: destination.format, permissions: permissions,
      now: options.now, unless: isCancelled, warn: options.warn)
  }

  /// What the definition and the options together request.
  struct Destination: Equatable {
    /// Nil for standard error.
    let path: String?
    let level: LogDefinition.Level
    let format: LogDefinition.Format

    /// Nil where no event log is requested.
    init?(_ definition: PipelineDefinition, _ options: RunOptions) {
      guard definition.log != nil || options.logFile != nil || options.logLevel != nil || options.logFormat != nil
      else { return nil }
      let log = definition.log ?? LogDefinition()
      let path = options.logFile.map { $0 == "-" ? $0 : URL(fileURLWithPath: $0).path } ?? log.file.map(definition.path)
      self.path = path == "-" ? nil : path
      format = options.logFormat ?? log.format
      let requested = options.logLevel ?? log.level
      // A quiet run writes to standard error only what is wrong.
      level = options.isQuiet && self.path == nil ? min(requested, .warning) : requested
    }
  }

  /// Refuses to write the event log into a file that the run reads, or into one of its store.
  static func checkPath(
    _ definition: PipelineDefinition, _ options: RunOptions, filesRead others: [String], store: String?
  ) throws(PipelineError) {
    guard let path = Destination(definition, options)?.path else { return }
    try OutputPath.check([path], key: "log", filesRead: others, store: store)
  }

  /// Whether events of a level are written; to avoid work that only they need.
  func takes(_ level: LogDefinition.Level) -> Bool { self.level.map { level <= $0 } ?? false }

  /// Writes the event if its level is enabled.
  func log(_ event: @autoclosure () -> RunEvent) {
    guard let level else { return }
    let event = event()
    guard event.level <= level else { return }
    write(format == .json ? LogLine.json(event, at: now()) : LogLine.text(event, at: now()))
  }

  /// Keeps lines until `release` writes them or `drop` forgets them: a run that may begin again reports only what stays.
  func hold() {
    if level != nil { state.withLock { $0.held = [] } }
  }

  /// Writes the lines that are held, with the times of their events, and later ones at once.
  func release() { for line in takeHeld() { write(line) } }

  /// Forgets the lines that are held.
  func drop() { _ = takeHeld() }

  private func takeHeld() -> [[UInt8]] {
    state.withLock { state in
      defer { state.held = nil }
      return state.held ?? []
    }
  }

  private func write(_ line: [UInt8]) {
    let failure: Int32? = state.withLock { state in
      if state.held != nil {
        state.held?.append(line)
        return nil
      }
      let bytes = state.isTorn ? [0x0A] + line : line
      let (count, code) = written(bytes, to: state.descriptor)
      if count == bytes.count {
        state.isTorn = false
        return nil
      }
      if count > 0 { state.isTorn = true }
      guard !state.hasFailed else { return nil }
      state.hasFailed = true
      return code
    }
    if let failure { warn("the log can't be written: \(name): \(systemMessage(failure)); the run continues") }
  }

  /// - Returns: How many bytes were written, and why not all of them.
  private func written(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, code: Int32) {
    var count = 0
    while count < bytes.count {
      let rest = Array(bytes[count...])
      let added = Foundation.write(descriptor, rest, rest.count)
      if added > 0 {
        count += added
        continue
      }
      let code = added < 0 ? errno : ENOSPC
      if code == EINTR || code == EAGAIN && waitUntilWritable(descriptor) { continue }
      return (count, code)
    }
    return (count, 0)
  }

  private static let millisecondsPerWait: Int32 = 50

  /// False where it will never take more, and where the wait is cancelled.
  private func waitUntilWritable(_ descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let count = poll(&request, 1, Self.millisecondsPerWait)
      if count > 0 { return request.revents & Int16(POLLOUT) != 0 }
      if count < 0 && errno != EINTR || isCancelled() { return false }
    }
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
      // With that strategy every number and text can be encoded.
      guard let value, let data = try? encoder.encode(value) else { return nil }
      return "\"\(name)\":\(RawText.json(String(decoding: data, as: UTF8.self)))"
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
