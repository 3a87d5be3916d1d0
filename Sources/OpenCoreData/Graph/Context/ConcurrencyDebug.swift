import CDispatchLabel
import Foundation

/// The switch that catches who touches a context or an object off its queue.
///
/// It is on where the program was started with `-com.apple.CoreData.ConcurrencyDebug 1` (any number above 0, or YES),
/// or with 1 in the environment variable `com.apple.CoreData.ConcurrencyDebug`, which shells can set as
/// `COM_APPLE_COREDATA_CONCURRENCYDEBUG` only. It is read once; where it is off a touch costs one look at a constant.
enum ConcurrencyDebug {
  static let isOn = isAsked(
    arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)

  static let name = "com.apple.CoreData.ConcurrencyDebug"
  static let shellName = "COM_APPLE_COREDATA_CONCURRENCYDEBUG"

  /// An argument counts before the environment, and the last one of several before the others.
  static func isAsked(arguments: [String], environment: [String: String]) -> Bool {
    if let place = arguments.lastIndex(of: "-\(name)") {
      return arguments.indices.contains(place + 1) && isOn(arguments[place + 1])
    }
    return (environment[name] ?? environment[shellName]).map(isOn) ?? false
  }

  private static func isOn(_ value: String) -> Bool {
    if let level = Int(value) { return level > 0 }
    return ["yes", "true"].contains(value.lowercased())
  }

  /// Stops the program unless the running code may touch what belongs to `context`.
  ///
  /// - Parameters:
  ///   - type: The type that is touched, as the message names it.
  ///   - member: Its method or property.
  static func check(_ context: NSManagedObjectContext, _ type: Any.Type, _ member: String) {
    if context.queue.isCurrent { return }
    // Outside of any block too the main thread is where main-queue objects live.
    if context.concurrencyType == .mainQueue, Thread.isMainThread { return }
    stop(
      """
      CoreData concurrency violation: \(type).\(member) was touched off its queue.
        It belongs to \(owner(context)).
        The code stands on \(standing).
        Put it into perform or performAndWait of that context, or hand over the objectID instead of the object.

      """)
  }

  private static func owner(_ context: NSManagedObjectContext) -> String {
    let name = context.name.map { "the context \"\($0)\"" } ?? "a context without a name"
    return "the queue \"\(context.queue.label)\" of \(name)"
  }

  private static var standing: String {
    let label = String(cString: current_queue_label())
    let thread = Thread.isMainThread ? "the main thread" : Thread.current.name.map { "the thread \"\($0)\"" }
    let place = label.isEmpty ? "no queue" : "the queue \"\(label)\""
    return thread.map { $0 == "the thread \"\"" ? place : "\(place), \($0)" } ?? place
  }

  /// Written by hand, since a release build leaves the text of a failed precondition out.
  private static func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data(message.utf8))
    // Not abort(): a trap is where backtraces of whoever touched can start from.
    preconditionFailure("A context or an object was touched off its queue; see above.")
  }
}

extension NSManagedObjectContext {
  /// Called first by everything that only the context's queue may do.
  @inline(__always)
  func checkQueue(_ member: StaticString = #function) {
    if ConcurrencyDebug.isOn { ConcurrencyDebug.check(self, type(of: self), "\(member)") }
  }
}

extension NSManagedObject {
  /// Called first by everything that only the queue of the object's context may do.
  @inline(__always)
  func checkQueue(_ member: StaticString = #function) {
    if ConcurrencyDebug.isOn { checkOwner("\(member)") }
  }

  /// The same for the value in `slot`, which the message names by its attribute.
  @inline(__always)
  func checkQueue(slot: Int) {
    if ConcurrencyDebug.isOn { checkOwner(entity.attributeSlots[slot].name) }
  }

  /// An object without a context belongs to no queue.
  private func checkOwner(_ member: String) {
    if let context = managedObjectContext { ConcurrencyDebug.check(context, type(of: self), member) }
  }
}
