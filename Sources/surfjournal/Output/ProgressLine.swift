import Foundation
import SystemSupport
import PipelineEngine

/// A progress line on a terminal, updated at most ten times a second and erased at the end.
final class ProgressLine: Sendable {
  private struct State {
    var shownAt: ContinuousClock.Instant?
    var isShown = false
    var pace = ProgressPace()
  }

  private static let interval = Duration.milliseconds(100)
  private static let erasing = "\r\u{1B}[K"
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
      let share = Self.share(progress, kind)
      state.pace.note(progress, share: share, at: now)
      // A line as wide as the terminal would wrap, and could not be erased.
      let columns = (TerminalSettings.size(STDERR_FILENO)?.columns ?? 80) - 1
      let text = VisibleText.lines(Self.text(progress, share: share, state.pace))
      Console.control(Self.erasing + DisplayWidth.cut(text, to: columns))
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

  /// The part of the file that is done; nil where its size is not known.
  private static func share(_ progress: RunProgress, _ kind: RunSummary.Kind) -> Double? {
    guard let total = progress.total, total > 0 else { return nil }
    return min(1, Double(kind == .export ? progress.records : progress.bytes) / Double(total))
  }

  private static func text(_ progress: RunProgress, share: Double?, _ pace: ProgressPace) -> String {
    var parts: [String] = []
    if let share {
      let filled = Int(share * Double(barColumns))
      let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: barColumns - filled)
      parts.append("[\(bar)] \(Int(share * 100)) %")
    }
    parts.append("\(progress.records.grouped) records")
    if let rate = pace.recordsPerSecond { parts.append("\(rate.grouped)/s") }
    if let left = pace.left { parts.append("\(left) left") }
    if progress.rejected > 0 { parts.append("\(progress.rejected.grouped) rejected") }
    if progress.file != "-" { parts.append(progress.file) }
    return parts.joined(separator: "  ")
  }
}

/// How fast a run is, and how long its present file will take at that pace.
struct ProgressPace {
  private struct Mark {
    let time: ContinuousClock.Instant
    let records: Int
    let share: Double?
  }

  private var start: Mark?
  /// Where the present file was first seen.
  private var fileStart: Mark?
  private var file: String?
  private var now: Mark?

  mutating func note(_ progress: RunProgress, share: Double?, at time: ContinuousClock.Instant) {
    let mark = Mark(time: time, records: progress.records, share: share)
    if start == nil { start = mark }
    if file != progress.file { (file, fileStart) = (progress.file, mark) }
    now = mark
  }

  /// Nil for the first state, which says nothing about the pace.
  var recordsPerSecond: Int? {
    guard let start, let now, now.records > start.records else { return nil }
    return Int(Double(now.records - start.records) / (start.time.duration(to: now.time) / .seconds(1)))
  }

  /// The time for the rest of the file, as `1:05` or `2:03:00`.
  var left: String? {
    guard let from = fileStart, let now, let begun = from.share, let done = now.share, done > begun else { return nil }
    let seconds = (from.time.duration(to: now.time) / .seconds(1)) * (1 - done) / (done - begun)
    guard seconds < 100 * 3600 else { return nil }
    let whole = Int(seconds.rounded(.up))
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    let rest = "\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
    return hours == 0 ? "\(minutes):\(rest)" : "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(rest)"
  }
}
