import ManagedObjectModel
import Foundation
import Synchronization

/// Cancels a statement from another thread, also one that scans millions of rows without a match.
package final class StopSign: Sendable {
  package init() {}

  private let raised = Atomic<Bool>(false)

  package var isRaised: Bool { raised.load(ordering: .acquiring) }
  package func raise() { raised.store(true, ordering: .releasing) }

  /// The error of cancelled work.
  package static var error: NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.userCancelled.rawValue,
      userInfo: [NSLocalizedDescriptionKey: "The fetch was cancelled. Execute it again if its result is wanted."])
  }
}
