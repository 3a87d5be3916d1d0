import ManagedObjectModel
import CSQLite
import Foundation
import Synchronization

/// Ends a statement from another thread, also one that looks at millions of rows without finding any.
package final class StopSign: Sendable {
  package init() {}

  private let raised = Atomic<Bool>(false)

  package var isRaised: Bool { raised.load(ordering: .acquiring) }
  package func raise() { raised.store(true, ordering: .releasing) }

  /// What is thrown where the sign ended something.
  package static var error: NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.userCancelled.rawValue,
      userInfo: [NSLocalizedDescriptionKey: "The fetch was cancelled. Execute it again if its result is wanted."])
  }
}

extension SQLiteConnection {
  /// Runs `body`; its statements end with `StopSign.error` soon after `stop` was raised.
  func stopping<Result>(at stop: StopSign, _ body: () throws -> Result) throws -> Result {
    guard !stop.isRaised else { throw StopSign.error }
    // SQLite asks between steps of its virtual machine; the sign outlives the handler, which is taken off below.
    sqlite3_progress_handler(
      handle, 4096,
      { sign in
        guard let sign else { return 0 }
        return Unmanaged<StopSign>.fromOpaque(sign).takeUnretainedValue().isRaised ? 1 : 0
      }, Unmanaged.passUnretained(stop).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do {
      return try withExtendedLifetime(stop) { try body() }
    } catch {
      throw stop.isRaised ? StopSign.error : error
    }
  }

  var changedRowCountTotal: Int64 { sqlite3_total_changes64(handle) }
}
