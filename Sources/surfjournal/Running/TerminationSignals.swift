import Dispatch
import Foundation
import SystemSupport
import PipelineEngine

/// Handles SIGINT and SIGTERM: the first signal requests a regular end, the second ends the process at once.
///
/// A signal has one source, which stays until the process ends; what its handler does changes. On Linux, Dispatch takes
/// a signal by a handler of its own, which it installs with the first source only: a disposition that is set afterwards
/// would take the signal away from every source.
final class TerminationSignals: Sendable {
  private let numbers: [Int32]
  private let identity: UInt64

  /// - Parameters:
  ///   - numbers: The signals to handle.
  ///   - whenFirst: Receives the number of the first signal.
  init(_ numbers: [Int32] = [SIGINT, SIGTERM], whenFirst: @escaping @Sendable (Int32) -> Void) {
    self.numbers = numbers
    let count = SignalCount()
    identity = Self.table.withLock { table in
      table.lastIdentity += 1
      for number in numbers {
        table.handlers[number, default: []].append(
          (table.lastIdentity, { if count.next() > 1 { Self.endProcess(by: number) } else { whenFirst(number) } }))
        table.watch(number)
      }
      return table.lastIdentity
    }
  }

  /// Leaves the signals to another program that has the terminal, until `end()`.
  init(leaving numbers: [Int32]) {
    self.numbers = numbers
    identity = Self.table.withLock { table in
      table.lastIdentity += 1
      for number in numbers {
        table.handlers[number, default: []].append((table.lastIdentity, {}))
        table.watch(number)
      }
      return table.lastIdentity
    }
  }

  /// Gives the signals back: the next one ends the process, also while it waits for the reader of a result.
  func end() {
    Self.table.withLock { table in
      for number in numbers { table.handlers[number]?.removeAll { $0.identity == identity } }
    }
  }

  deinit { end() }

  /// Makes the signals remove the process's copies of stores before they end it, except while a command handles them
  /// itself.
  static func removeCopies() {
    // nohup(1) makes a process ignore SIGHUP.
    var old = sigaction()
    let handled = [SIGINT, SIGTERM, SIGHUP].filter {
      sigaction($0, nil, &old) == 0 && old.__sigaction_handler.sa_handler == nil
    }
    table.withLock { table in
      for number in handled {
        table.ending.insert(number)
        table.watch(number)
      }
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

  // MARK: Sources

  private static let table = Locked(Table())

  private struct Table {
    /// What each signal does; the last one added counts.
    var handlers: [Int32: [(identity: UInt64, body: @Sendable () -> Void)]] = [:]
    /// The signals that end the process when no handler is there.
    var ending: Set<Int32> = []
    var lastIdentity: UInt64 = 0
    var isReceived = false
    private var sources: [Int32: any DispatchSourceSignal] = [:]
    private let queue = DispatchQueue(label: "signals")

    mutating func watch(_ number: Int32) {
      guard sources[number] == nil else { return }
      #if !os(Linux)
        // The default action would end the process before the source is notified.
        signal(number, SIG_IGN)
      #endif
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { TerminationSignals.handle(number) }
      sources[number] = source
      source.activate()
    }
  }

  /// Whether the process was asked to end.
  static var areReceived: Bool { table.withLock { $0.isReceived } }

  private static func handle(_ number: Int32) {
    let (body, ends) = table.withLock { table in
      table.isReceived = true
      return (table.handlers[number]?.last?.body, table.ending.contains(number))
    }
    if let body { body() } else if ends { endProcess(by: number) }
  }
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
