import ManagedObjectModel
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
