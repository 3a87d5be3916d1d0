import Foundation

extension Thread {
  /// Starts a thread of our own. The default stack of one is too small for deep regular expressions.
  package static func begin(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }
}
