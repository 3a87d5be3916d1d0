import ManagedObjectModel
import Foundation
import Synchronization

/// Tells work on other threads to stop, for example a statement that scans millions of rows without a match.
package final class CancellationFlag: Sendable {
  package init() {}

  private let cancelled = Atomic<Bool>(false)

  package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  package func cancel() { cancelled.store(true, ordering: .releasing) }

  /// The error of cancelled work.
  package static var error: NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.userCancelled.rawValue,
      userInfo: [NSLocalizedDescriptionKey: "The fetch was cancelled. Execute it again if you need its result."])
  }
}
