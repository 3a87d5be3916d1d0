import Dispatch
import Locking
import Synchronization

/// Hands values from one thread to another, a few at a time: a producer that is ahead waits, so memory stays bounded.
final class BoundedQueue<Element: Sendable>: Sendable {
  private let waiting = Locked<[Element?]>([])
  private let isAbandoned = Atomic<Bool>(false)
  private let room: DispatchSemaphore
  private let content = DispatchSemaphore(value: 0)
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    room = DispatchSemaphore(value: capacity)
  }

  deinit {
    // A semaphore must not be destroyed below its first value.
    for _ in 0..<capacity { room.signal() }
  }

  /// False when nobody wants more.
  func send(_ element: Element) -> Bool { put(element) }

  /// Nothing comes any more.
  func finish() { _ = put(nil) }

  private func put(_ element: Element?) -> Bool {
    room.wait()
    guard !isAbandoned.load(ordering: .acquiring) else {
      room.signal()
      return false
    }
    waiting.withLock { $0.append(element) }
    content.signal()
    return true
  }

  /// Waits until there is something to receive, the end included; false when `isCancelled` says so first.
  func waitForContent(unless isCancelled: () -> Bool) -> Bool {
    while content.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      if isCancelled() { return false }
    }
    content.signal()
    return true
  }

  /// The next value; nil at the end.
  func receive() -> Element? {
    content.wait()
    let element = waiting.withLock { $0.removeFirst() }
    room.signal()
    return element
  }

  /// The next value if it is there already; nil for the end, and where there is nothing yet.
  func receiveIfReady() -> Element? {
    guard content.wait(timeout: .now()) == .success else { return nil }
    content.signal()
    return receive()
  }

  /// The receiver stops: whoever waits to send goes on and is told so.
  func abandon() {
    isAbandoned.store(true, ordering: .releasing)
    room.signal()
  }
}
