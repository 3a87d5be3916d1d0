import Foundation

/// A value protected by a mutex.
///
/// The standard library's `Mutex` is not used because the thread sanitizer can't see its system calls and reports a
/// race for every value behind one. It does see a mutex of the C library. Locking costs the same; creating one costs
/// two allocations.
package struct Locked<Value>: ~Copyable, Sendable {
  @usableFromInline let box: LockedBox<Value>

  @inlinable package init(_ value: consuming sending Value) { box = LockedBox(value) }

  /// Waits for the mutex and calls `body`. Not re-entrant: `body` must not lock the same value.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // It fails only for an error-checking mutex that the thread already holds.
    pthread_mutex_lock(box.mutex)
    defer { pthread_mutex_unlock(box.mutex) }
    return try body(&box.value.pointee)
  }
}

/// Storage of the value and its mutex. Both keep their addresses until the box is released.
// Unchecked: the value is accessed only under the mutex, and only sendable values enter or leave.
@usableFromInline final class LockedBox<Value>: @unchecked Sendable {
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

  @usableFromInline init(_ value: consuming sending Value) {
    pthread_mutex_init(mutex, nil)
    self.value.initialize(to: value)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }
}
