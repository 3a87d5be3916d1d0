import Foundation
import PipelineEngine

/// Prints a result that may be longer than the terminal: the user's pager shows it then.
///
/// What is printed is kept until it has more lines than the terminal. Only then is the pager started, so that a short
/// result stays where it is. Where standard output is not a terminal, or the caller wants no pager, all is printed at once.
struct PagedOutput {
  private var held = ""
  private var heldLines = 0
  private let linesMax: Int
  /// The shell command of the pager; nil if none is used.
  private var command: String?
  private var pager: Pager?

  init(_ arguments: Arguments) {
    let size = TerminalSettings.size(STDOUT_FILENO)
    linesMax = (size?.lines ?? 0) - 1
    command = size == nil || arguments.has("no-pager") ? nil : Pager.command
  }

  /// Prints a result that is known as a whole.
  static func show(_ text: String, _ arguments: Arguments) throws(CommandFailure) {
    var output = PagedOutput(arguments)
    try output.print(text)
    try output.end()
  }

  mutating func print(_ text: StyledText) throws(CommandFailure) {
    try add(text.shown(inColour: TerminalSettings.hasColours(STDOUT_FILENO)))
  }

  mutating func print(_ text: String) throws(CommandFailure) { try print(StyledText(text)) }

  private mutating func add(_ text: String) throws(CommandFailure) {
    guard let command else { return try Console.printRaw(text) }
    if let pager { return try pager.write(text) }
    held += text
    heldLines += text.count { $0.isNewline }
    if heldLines <= linesMax { return }
    pager = Pager(command)
    // Without a pager the result is printed as it is.
    if pager == nil { self.command = nil }
    let all = held
    held = ""
    if let pager { try pager.write(all) } else { try Console.printRaw(all) }
  }

  /// Prints what is kept, or waits until the user has left the pager.
  mutating func end() throws(CommandFailure) {
    if let pager { return try pager.wait() }
    let rest = held
    held = ""
    if !rest.isEmpty { try Console.printRaw(rest) }
  }
}

/// A running pager.
private final class Pager {
  /// The user's pager, or less; nil if there is none, or if the user wants none.
  static var command: String? {
    let environment = ProcessInfo.processInfo.environment
    if let own = environment["PAGER"] { return own.isEmpty || own == "cat" ? nil : own }
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    return folders.contains { access("\($0)/less", X_OK) == 0 } ? "less" : nil
  }

  private let send: (String) -> Bool
  private let close: () -> Int32
  private let command: String
  private var isClosed = false
  /// The keys that interrupt are the pager's while it runs.
  private let signals = TerminationSignals(leaving: [SIGINT])

  init?(_ command: String) {
    // Unless the user has chosen otherwise: colours, short lines whole, and no clearing at the end.
    guard let stream = popen("LESS=${LESS-FRX} \(command)", "w") else { return nil }
    send = { text in fputs(text, stream) >= 0 && fflush(stream) == 0 }
    close = { pclose(stream) }
    self.command = command
  }

  /// After a failure the result is not printed to its end: the user still reads what there is of it.
  deinit { try? wait() }

  /// A pager that the user has left reads no further; no message is needed.
  func write(_ text: String) throws(CommandFailure) {
    if send(text) { return }
    try wait()
    throw CommandFailure(nil, .ok)
  }

  func wait() throws(CommandFailure) {
    if isClosed { return }
    isClosed = true
    // How the shell says that there is no such program, or that it can't be started.
    let status = close() >> 8 & 0xFF
    signals.end()
    if [126, 127].contains(status) {
      throw CommandFailure(
        "the pager '\(command)' can't be started; set PAGER to one that can, or add --no-pager", .unavailable)
    }
  }
}
