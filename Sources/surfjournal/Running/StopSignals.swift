import Dispatch
import Foundation
import Locking

/// SIGINT and SIGTERM: the first asks the run to end cleanly, the second ends the process at once.
final class StopSignals {
  private let sources: [any DispatchSourceSignal]

  init(whenFirst: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "signals")
    let count = SignalCount()
    sources = [SIGINT, SIGTERM].map { number in
      // The default action would come before the source is asked.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        guard count.next() > 1 else { return whenFirst() }
        // With its default action, so that the parent sees which signal it was.
        signal(number, SIG_DFL)
        kill(getpid(), number)
      }
      source.activate()
      return source
    }
  }

  deinit { for source in sources { source.cancel() } }
}

/// How many signals have come, of either kind.
private final class SignalCount: Sendable {
  private let value = Locked(0)

  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
