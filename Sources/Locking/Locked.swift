import Foundation

/// A value that one thread at a time can get at.
///
/// Why not the standard library's `Mutex`: the thread sanitizer can't see its system calls, so it takes every value
/// behind one for a race. A mutex of the C library's it knows. Taking it costs no more; making one costs an allocation.
// Unchecked: the value is touched under the mutex only, and nothing leaves or enters but what is sent.
package struct Locked<Value>: ~Copyable, @unchecked Sendable {
  /// The value with its mutex behind it, in one piece of memory that does not move.
  @usableFromInline final class Buffer: ManagedBuffer<Value, pthread_mutex_t> {
    deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
  }

  @usableFromInline let buffer: ManagedBuffer<Value, pthread_mutex_t>

  @inlinable package init(_ value: consuming sending Value) {
    let value = value
    buffer = Buffer.create(minimumCapacity: 1) { buffer in
      buffer.withUnsafeMutablePointerToElements { _ = pthread_mutex_init($0, nil) }
      return value
    }
  }

  /// Waits for whoever has the value. Not re-entrant: `body` must not ask for it again.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Both pointers hold: the buffer stays where it is, and as long as it is borrowed here it lives.
    let mutex = buffer.withUnsafeMutablePointerToElements { $0 }
    let value = buffer.withUnsafeMutablePointerToHeader { $0 }
    // Fails only for a mutex that its thread has already, of a kind that checks it.
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
