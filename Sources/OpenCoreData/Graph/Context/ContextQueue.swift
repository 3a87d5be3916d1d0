import Dispatch
import Foundation
import Locking
import Synchronization

/// The serial queue of a context, and the knowledge of who stands on it.
///
/// A queue is recognised by a dispatch-specific key, never by the thread. One more thing has to be known for
/// `performAndWait` to be re-entrant across a chain: a thread that waits on queue B from a block on queue A still
/// holds A. Each synchronous block therefore carries the queues its caller held.
struct ContextQueue: Sendable {
  private let serial: DispatchQueue?
  private let identity: UInt64

  private static let key = DispatchSpecificKey<UInt64>()
  private static let nextIdentity = Atomic<UInt64>(1)

  /// The main queue, one and the same for all contexts of the main-queue type.
  static let main: ContextQueue = {
    let queue = ContextQueue(serial: .main, identity: 0)
    DispatchQueue.main.setSpecific(key: key, value: 0)
    return queue
  }()

  /// No queue at all: whoever runs may touch what belongs to it.
  static let nowhere = ContextQueue(serial: nil, identity: UInt64.max)

  /// A serial queue of a context's own.
  static func makePrivate() -> ContextQueue {
    // The main queue has to be known by its key before anything waits for a private one.
    _ = main
    let identity = nextIdentity.wrappingAdd(1, ordering: .relaxed).oldValue
    let queue = DispatchQueue(label: "NSManagedObjectContext \(identity)")
    queue.setSpecific(key: key, value: identity)
    return ContextQueue(serial: queue, identity: identity)
  }

  /// True when the running code may touch what belongs to this queue.
  var isCurrent: Bool { serial == nil || Self.held().contains(identity) }

  /// For messages.
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

  /// The queue that the running code stands on, and those that wait for it.
  private static func held() -> [UInt64] {
    let waiting = heldByThread[currentThread]
    // Blocks that others gave to the main queue have its key only.
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

/// Which queues each thread holds.
private final class HeldQueues: Sendable {
  private let table = Locked<[UInt: [UInt64]]>([:])

  /// Empty for a thread that holds none; such a thread takes no room.
  subscript(thread: UInt) -> [UInt64] {
    get { table.withLock { $0[thread] ?? [] } }
    set { table.withLock { $0[thread] = newValue.isEmpty ? nil : newValue } }
  }
}
