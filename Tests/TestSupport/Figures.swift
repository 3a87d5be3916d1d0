import Foundation

/// What suites have counted: steps, kills, fault points, executions. `make reliability` adds them up for the page on
/// reliability.
///
/// Figures are appended to the file that `SURFJOURNAL_FIGURES` names, one line of JSON for each, in one write, so that
/// several processes can share the file:
///
/// ```json
/// {"count":1200,"figure":"steps","suite":"SimulatorTests"}
/// ```
package enum Figures {
  private struct Line: Encodable {
    let suite: String
    let figure: String
    let count: Int
  }

  /// Adds to a figure of a suite. Without the variable nothing is written.
  ///
  /// - Parameters:
  ///   - figure: What was counted, in the plural: "steps", "kills", "fault points".
  ///   - count: How many more there are.
  ///   - suite: The suite that counted them.
  package static func add(_ figure: String, _ count: Int, suite: String) {
    guard count > 0, let path = Setting.text("SURFJOURNAL_FIGURES") else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard var line = try? encoder.encode(Line(suite: suite, figure: figure, count: count)) else { return }
    line.append(0x0A)
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    defer { close(file) }
    // Lines are far shorter than a block: the system appends each as a whole.
    let bytes = Array(line)
    _ = write(file, bytes, bytes.count)
  }

  /// Adds to a figure of a suite, which is named by its type.
  package static func add(_ figure: String, _ count: Int, suite: Any.Type) {
    add(figure, count, suite: "\(suite)")
  }
}
