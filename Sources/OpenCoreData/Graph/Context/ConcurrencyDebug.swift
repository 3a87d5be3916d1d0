import CDispatchLabel
import Foundation

/// The debugging switch that detects use of a context or an object off its queue.
///
/// It is on if the program was started with `-com.apple.CoreData.ConcurrencyDebug 1` (any number above 0, or YES), or
/// with 1 in the environment variable `com.apple.CoreData.ConcurrencyDebug`, which shells can set only as
/// `COM_APPLE_COREDATA_CONCURRENCYDEBUG`. It is read once; if it is off, each check reads one constant.
enum ConcurrencyDebug {
  static let isOn = debugSwitch.level > 0

  static let debugSwitch = DebugSwitch("com.apple.CoreData.ConcurrencyDebug")

  /// Stops the program unless the running code may use what belongs to `context`.
  ///
  /// - Parameters:
  ///   - type: The type that is used, as the message names it.
  ///   - member: Its method or property.
  static func check(_ context: NSManagedObjectContext, type: Any.Type, member: String) {
    if context.queue.isCurrent { return }
    // Code on the main thread may use main-queue objects outside of any block too.
    if context.concurrencyType == .mainQueue, Thread.isMainThread { return }
    stop(
      """
      CoreData concurrency violation: \(type).\(member) was touched off its queue.
        It belongs to \(owner(context)).
        The code stands on \(currentQueue).
        Put it into perform or performAndWait of that context, or hand over the objectID instead of the object.

      """)
  }

  private static func owner(_ context: NSManagedObjectContext) -> String {
    let name = context.name.map { "the context \"\($0)\"" } ?? "a context without a name"
    return "the queue \"\(context.queue.label)\" of \(name)"
  }

  private static var currentQueue: String {
    let label = String(cString: current_queue_label())
    let thread = Thread.isMainThread ? "the main thread" : Thread.current.name.map { "the thread \"\($0)\"" }
    let queue = label.isEmpty ? "no queue" : "the queue \"\(label)\""
    return thread.map { $0 == "the thread \"\"" ? queue : "\(queue), \($0)" } ?? queue
  }

  /// Written explicitly, because a release build omits the message of a failed precondition.
  private static func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data(message.utf8))
    // Not abort(): a trap lets debuggers print the backtrace of the offending code.
    preconditionFailure("A context or an object was touched off its queue; see above.")
  }
}

extension NSManagedObjectContext {
  /// Called first by every member that is confined to the context's queue.
  @inline(__always)
  func checkQueue(_ member: StaticString = #function) {
    if ConcurrencyDebug.isOn { ConcurrencyDebug.check(self, type: type(of: self), member: "\(member)") }
  }
}

extension NSManagedObject {
  /// Called first by every member that is confined to the queue of the object's context.
  @inline(__always)
  func checkQueue(_ member: StaticString = #function) {
    if ConcurrencyDebug.isOn { checkOwner("\(member)") }
  }

  /// As `checkQueue(_:)` for the value in `slot`; the message names its attribute.
  @inline(__always)
  func checkQueue(slot: Int) {
    if ConcurrencyDebug.isOn { checkOwner(entity.attributeSlots[slot].name) }
  }

  /// An object without a context is not confined to a queue.
  private func checkOwner(_ member: String) {
    if let context = managedObjectContext { ConcurrencyDebug.check(context, type: type(of: self), member: member) }
  }
}
