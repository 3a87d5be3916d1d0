import Dispatch
import Locking

/// A value that one thread makes and another takes, once.
final class Promised<Value: Sendable>: Sendable {
  private let place = Locked<Value?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func keep(_ value: Value) {
    place.withLock { $0 = value }
    isThere.signal()
  }

  /// Waits for the value; nil when it was taken before.
  func take() -> Value? {
    isThere.wait()
    defer { isThere.signal() }
    return place.withLock { $0.take() }
  }
}
