import Dispatch
import Foundation
import SystemSupport
import Synchronization

/// The serial queue of a context. It knows which code runs on it.
///
/// A queue is recognised by a dispatch-specific key, never by the thread. For `performAndWait` to be re-entrant across
/// a chain one more fact is needed: a thread that waits on queue B from a block on queue A still holds A. Each
/// synchronous block therefore carries the queues that its caller held.
struct ContextQueue: Sendable {
  private let serial: DispatchQueue?
  private let identity: UInt64

  private static let key = DispatchSpecificKey<UInt64>()
  private static let nextIdentity = Atomic<UInt64>(1)

  /// The main queue, shared by all contexts of the main-queue type.
  static let main: ContextQueue = {
    let queue = ContextQueue(serial: .main, identity: 0)
    DispatchQueue.main.setSpecific(key: key, value: 0)
    return queue
  }()

  /// Not a queue: any code may use what belongs to it.
  static let nowhere = ContextQueue(serial: nil, identity: UInt64.max)

  /// A new serial queue for one context.
  static func makePrivate() -> ContextQueue {
    // The main queue needs its key before any code waits for a private queue.
    _ = main
    let identity = nextIdentity.wrappingAdd(1, ordering: .relaxed).oldValue
    let queue = DispatchQueue(label: "NSManagedObjectContext \(identity)")
    queue.setSpecific(key: key, value: identity)
    return ContextQueue(serial: queue, identity: identity)
  }

  /// Whether the running code may use what belongs to this queue.
  var isCurrent: Bool { serial == nil || Self.held().contains(identity) }

  /// The queue's name in messages.
  var label: String { serial?.label ?? "" }

  private var dispatchQueue: DispatchQueue {
    guard let serial else {
      preconditionFailure(
        "perform can only be used with a context that was made with a queue; this one is of the confinement type.")
    }
    return serial
  }

  func async(_ block: @escaping @Sendable () -> Void) {
    dispatchQueue.async { Self.holding([identity], block) }
  }

  func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
    if isCurrent { return try block() }
    let queues = Self.held() + [identity]
    return try dispatchQueue.sync { try Self.holding(queues, block) }
  }

  /// The queue that the running code is on, and those that wait for it.
  private static func held() -> [UInt64] {
    let waiting = heldByThread[currentThread]
    // Blocks that other code submitted to the main queue have only its key.
    guard let current = DispatchQueue.getSpecific(key: key), !waiting.contains(current) else { return waiting }
    return waiting + [current]
  }

  private static func holding<Result>(_ queues: [UInt64], _ block: () throws -> Result) rethrows -> Result {
    let thread = currentThread
    let before = heldByThread[thread]
    heldByThread[thread] = queues
    defer { heldByThread[thread] = before }
    return try block()
  }

  private static let heldByThread = HeldQueues()
  private static var currentThread: UInt { UInt(pthread_self()) }
}

/// The queues that each thread holds.
private final class HeldQueues: Sendable {
  private let table = Locked<[UInt: [UInt64]]>([:])

  /// Empty for a thread that holds none; such a thread has no entry.
  subscript(thread: UInt) -> [UInt64] {
    get { table.withLock { $0[thread] ?? [] } }
    set { table.withLock { $0[thread] = newValue.isEmpty ? nil : newValue } }
  }
}
