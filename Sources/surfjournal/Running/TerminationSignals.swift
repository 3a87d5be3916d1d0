import Dispatch
import Foundation
import Locking
import PipelineEngine

/// Handles SIGINT and SIGTERM: the first signal requests a regular end, the second ends the process at once.
final class TerminationSignals {
  private let sources: [any DispatchSourceSignal]
  /// The signals that are in `active` because of this one.
  private let taken: [Int32]

  /// - Parameters:
  ///   - numbers: The signals to handle.
  ///   - whenFirst: Receives the number of the first signal.
  init(_ numbers: [Int32] = [SIGINT, SIGTERM], whenFirst: @escaping @Sendable (Int32) -> Void) {
    let queue = DispatchQueue(label: "signals")
    let count = SignalCount()
    taken = numbers
    Self.active.withLock { $0.formUnion(numbers) }
    sources = numbers.map { number in
      // The default action would end the process before the source is notified.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        if count.next() > 1 { Self.endProcess(by: number) } else { whenFirst(number) }
      }
      source.activate()
      return source
    }
  }

  /// The signals that a command handles itself now.
  private static let active = Locked(Set<Int32>())

  /// Gives the signals back: the next one ends the process, also while it waits for the reader of a result.
  func end() {
    for source in sources { source.cancel() }
    Self.active.withLock { $0.subtract(taken) }
  }

  /// Makes the signals remove the process's copies of stores before they end it, except while a command handles them
  /// itself.
  static func removeCopies() -> TerminationSignals {
    let numbers = [SIGINT, SIGTERM, SIGHUP]
    // nohup(1) makes a process ignore SIGHUP.
    var old = sigaction()
    let heeded = numbers.filter { sigaction($0, nil, &old) == 0 && old.__sigaction_handler.sa_handler == nil }
    return TerminationSignals(always: heeded) { number in
      if !active.withLock({ $0.contains(number) }) { endProcess(by: number) }
    }
  }

  private init(always numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
    let queue = DispatchQueue(label: "ending signals")
    taken = []
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { handler(number) }
      source.activate()
      return source
    }
  }

  /// Ends the process with the signal's default action, so that the parent sees which signal it was.
  static func endProcess(by number: Int32) {
    PrivateCopies.removeAll()
    signal(number, SIG_DFL)
    // Threads of a queue block signals, and the parent process may have blocked them in all threads.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
  }

  deinit { end() }
}

/// The number of signals received, of any kind.
private final class SignalCount: Sendable {
  private let value = Locked(0)

  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
