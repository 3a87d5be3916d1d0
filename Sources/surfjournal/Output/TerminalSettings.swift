import Foundation
import SystemSupport

/// What is known of the terminal that the program writes to.
enum TerminalSettings {
  /// When colours are used: `--color`.
  enum ColorChoice: String, CaseIterable { case auto, always, never }

  private static let choice = Locked(ColorChoice.auto)

  static func choose(_ value: ColorChoice) { choice.withLock { $0 = value } }

  /// Whether text for `descriptor` has colours. By itself it has them on a terminal that knows them, unless the variable
  /// NO_COLOR is set (https://no-color.org).
  static func hasColours(_ descriptor: Int32) -> Bool {
    switch choice.withLock({ $0 }) {
    case .always: return true
    case .never: return false
    case .auto:
      let environment = ProcessInfo.processInfo.environment
      let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
      return isatty(descriptor) == 1 && !isRefused && environment["TERM"] != "dumb"
    }
  }

  /// The columns and lines of the terminal at `descriptor`; nil if it is none.
  static func size(_ descriptor: Int32) -> (columns: Int, lines: Int)? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
    func known(_ value: UInt16, or variable: String, default usual: Int) -> Int {
      if isKnown, value > 0 { return Int(value) }
      return ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? usual
    }
    return (known(size.ws_col, or: "COLUMNS", default: 80), known(size.ws_row, or: "LINES", default: 24))
  }

  /// The columns of standard output; nil if it is not a terminal.
  static var outputColumns: Int? { size(STDOUT_FILENO)?.columns }
}
