import Foundation
import PipelineEngine

/// Standard output and standard error, unbuffered, so that a failed write is detected where it occurs.
enum Console {
  /// What a text is, which decides how characters are written that a terminal would act upon.
  enum Form {
    /// For people: `\u{1B}`.
    case text
    /// For programs, which read the same value: `\u001B`.
    case json
    /// Bytes that programs must get as they are.
    case data
  }

  /// Writes a result to standard output. If its reader is closed, the failure has no message.
  static func print(_ text: String, as form: Form = .text) throws(CommandFailure) {
    let shown =
      switch form {
      case .text: VisibleText.lines(text)
      case .json: VisibleText.json(text)
      case .data: text
      }
    try printRaw(shown)
  }

  /// Writes a text for people, with its colours if standard output has them.
  static func print(_ text: StyledText) throws(CommandFailure) {
    try printRaw(text.shown(inColour: TerminalSettings.hasColours(STDOUT_FILENO)))
  }

  /// Writes what is safe for a terminal already.
  static func printRaw(_ text: String) throws(CommandFailure) {
    let code = write(text, to: STDOUT_FILENO)
    if code == EPIPE { throw CommandFailure(nil, .ioError) }
    if code != 0 {
      throw CommandFailure(
        "standard output can't be written: \(String(cString: strerror(code))); the result is lost", .ioError)
    }
  }

  /// The value as JSON for other programs: sorted keys, indented, with a final line break.
  static func json(_ value: some Encodable) throws(CommandFailure) -> String {
    try json(value, formatting: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
  }

  /// The value as a line of JSON Lines.
  static func jsonLine(_ value: some Encodable) throws(CommandFailure) -> String {
    try json(value, formatting: [.sortedKeys, .withoutEscapingSlashes])
  }

  private static func json(
    _ value: some Encodable, formatting: JSONEncoder.OutputFormatting
  ) throws(CommandFailure) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    } catch {
      throw CommandFailure("the result can't be written as JSON: \(error). This is a fault of the program", .software)
    }
  }

  /// Writes a message to standard error, on one line: what it quotes can't begin another one, and has no password.
  static func report(_ message: String) { _ = write("surfjournal: \(line(message))\n", to: STDERR_FILENO) }

  private static func line(_ message: String) -> String {
    RawText.oneLine(StoreLocation.withoutPasswordsOfArguments(message))
  }

  /// Writes a message of several lines to standard error.
  static func report(lines: [String]) {
    guard let first = lines.first else { return }
    report(first)
    for other in lines.dropFirst() { _ = write(line(other) + "\n", to: STDERR_FILENO) }
  }

  /// Writes text to standard error.
  static func show(_ text: String) { _ = write(VisibleText.lines(text), to: STDERR_FILENO) }

  /// Writes text to standard error, with its colours if that has them.
  static func show(_ text: StyledText) {
    _ = write(text.shown(inColour: TerminalSettings.hasColours(STDERR_FILENO)), to: STDERR_FILENO)
  }

  /// Writes to standard error what controls the terminal.
  static func control(_ text: String) { _ = write(text, to: STDERR_FILENO) }

  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }
  static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Asks on standard error. `y` or `yes` means yes; any other answer and the end of the input mean no.
  static func ask(_ question: String) -> Bool {
    show(question)
    guard let answer = readLine() else {
      show("\n")
      return false
    }
    return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
  }

  /// Whether standard output is a pipe or socket without a reader.
  static var isOutputClosed: Bool {
    var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLERR) != 0
  }

  /// Writes all bytes; returns the system's error number, 0 for none.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var rest = Array(text.utf8)
    while !rest.isEmpty {
      let count = Foundation.write(descriptor, rest, rest.count)
      if count >= 0 {
        rest.removeFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
      default: return errno
      }
    }
    return 0
  }
}
