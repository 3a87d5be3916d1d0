import Foundation

/// A value that one thread at a time can get at.
///
/// Why not the standard library's `Mutex`: the thread sanitizer can't see its system calls, so it takes every value
/// behind one for a race. A mutex of the C library's it knows. Taking it costs no more; making one costs two allocations.
package struct Locked<Value>: ~Copyable, Sendable {
  @usableFromInline let box: LockedBox<Value>

  @inlinable package init(_ value: consuming sending Value) { box = LockedBox(value) }

  /// Waits for whoever has the value. Not re-entrant: `body` must not ask for it again.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Fails only for a mutex that its thread has already, of a kind that checks it.
    pthread_mutex_lock(box.mutex)
    defer { pthread_mutex_unlock(box.mutex) }
    return try body(&box.value.pointee)
  }
}

/// Where the value and its mutex lie. Both stay in their place until the box goes.
// Unchecked: the value is touched under the mutex only, and nothing leaves or enters but what is sent.
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
