import Dispatch
import Synchronization

/// A queue between threads with a bounded capacity: a producer that is ahead waits, so memory stays bounded. Several
/// threads may receive: each value goes to one of them, and so does each `finish()`.
package final class BoundedQueue<Element: Sendable>: Sendable {
  private let waiting = Locked<[Element?]>([])
  private let isAbandoned = Atomic<Bool>(false)
  private let freeSlots: DispatchSemaphore
  private let content = DispatchSemaphore(value: 0)
  private let capacity: Int

  package init(capacity: Int) {
    self.capacity = capacity
    freeSlots = DispatchSemaphore(value: capacity)
  }

  deinit {
    // A semaphore must not be destroyed below its initial value.
    for _ in 0..<capacity { freeSlots.signal() }
  }

  /// Sends a value, waiting for capacity. False if the receiver has abandoned the queue.
  package func send(_ element: Element) -> Bool { put(element) }

  /// Sends the end marker.
  package func finish() { _ = put(nil) }

  private func put(_ element: Element?) -> Bool {
    freeSlots.wait()
    guard !isAbandoned.load(ordering: .acquiring) else {
      freeSlots.signal()
      return false
    }
    waiting.withLock { $0.append(element) }
    content.signal()
    return true
  }

  /// Waits until there is something to receive, including the end; false if `isCancelled` returns true first.
  package func waitForContent(unless isCancelled: () -> Bool) -> Bool {
    while content.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      if isCancelled() { return false }
    }
    content.signal()
    return true
  }

  /// The next value; nil at the end.
  package func receive() -> Element? {
    content.wait()
    let element = waiting.withLock { $0.removeFirst() }
    freeSlots.signal()
    return element
  }

  /// The next value if one is available; nil for the end, and if none is available yet.
  package func receiveIfReady() -> Element? {
    guard content.wait(timeout: .now()) == .success else { return nil }
    content.signal()
    return receive()
  }

  /// The receiver stops: waiting and later calls of `send` return false.
  package func abandon() {
    isAbandoned.store(true, ordering: .releasing)
    freeSlots.signal()
  }
}
