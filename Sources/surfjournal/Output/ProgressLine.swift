import Foundation
import Locking
import PipelineEngine

/// A progress line on a terminal, updated at most ten times a second and erased at the end.
final class ProgressLine: Sendable {
  private struct State {
    var shownAt: ContinuousClock.Instant?
    var isShown = false
  }

  private static let interval = Duration.milliseconds(100)
  private static let erasing = "\r\u{1B}[K"
  /// The narrowest terminal in use; a longer line would wrap and could not be erased.
  private static let columnsMax = 79
  private static let barColumns = 20

  private let kind: RunSummary.Kind
  private let state = Locked(State())

  init(_ kind: RunSummary.Kind) { self.kind = kind }

  func show(_ progress: RunProgress) {
    state.withLock { state in
      let now = ContinuousClock.now
      if let last = state.shownAt, now < last + Self.interval { return }
      state.shownAt = now
      state.isShown = true
      Console.control(Self.erasing + VisibleText.lines(Self.text(progress, kind)))
    }
  }

  func erase() {
    state.withLock { state in
      if state.isShown { Console.control(Self.erasing) }
      state.isShown = false
    }
  }

  /// Prints a message above the line.
  func report(_ message: String) {
    erase()
    Console.report(message)
  }

  static func text(_ progress: RunProgress, _ kind: RunSummary.Kind) -> String {
    var parts: [String] = []
    if let total = progress.total, total > 0 {
      let done = kind == .export ? progress.records : progress.bytes
      let share = min(1, Double(done) / Double(total))
      let filled = Int(share * Double(barColumns))
      let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: barColumns - filled)
      parts.append("[\(bar)] \(Int(share * 100)) %")
    }
    parts.append("\(progress.records) records")
    if progress.rejected > 0 { parts.append("\(progress.rejected) rejected") }
    if progress.file != "-" { parts.append(progress.file) }
    return String(parts.joined(separator: "  ").prefix(columnsMax))
  }
}
