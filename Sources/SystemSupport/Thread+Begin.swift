import Foundation

extension Thread {
  /// Starts a thread with a stack of 8 MiB: the default size is too small for deep regular expressions.
  package static func begin(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }
}
