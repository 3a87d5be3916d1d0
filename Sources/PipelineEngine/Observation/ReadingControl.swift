import SystemSupport
import PersistentStores

/// The caller's side of reading files: it shows progress and ends the reading early.
package final class ReadingControl: Sendable {
  private let cancellation = CancellationFlag()
  private let report: @Sendable (RunProgress) -> Void

  /// - Parameter report: Receives the progress at chunk boundaries, on the thread that reads.
  package init(report: @escaping @Sendable (RunProgress) -> Void = { _ in }) {
    self.report = report
  }

  /// Ends the reading at the next chunk.
  package func cancel() { cancellation.cancel() }

  var isCancelled: Bool { cancellation.isCancelled }

  func monitor(_ deadline: Deadline) -> RunMonitor {
    RunMonitor(isCancelled: { self.isCancelled || deadline.hasPassed() }, report: report, log: .off)
  }
}
