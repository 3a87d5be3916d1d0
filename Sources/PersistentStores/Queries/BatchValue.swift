import Foundation
import ManagedObjectModel

/// What a batch update gives to an attribute.
package enum BatchValue: Sendable {
  case value(StoredValue)
  /// A value that is computed of each row as it was before the update.
  case expression(BoundExpression)

  /// Nil for a value that is the same for all rows.
  package var expression: BoundExpression? { if case .expression(let expression) = self { expression } else { nil } }
}

extension NSAttributeDescription {
  /// The error for a computed number that it does not store.
  package func typeMismatch(of id: NSManagedObjectID) -> NSError {
    .coreData(
      .coreData,
      "The batch update computes a number for the attribute \(name) of \(id.uriRepresentation().absoluteString) that is "
        + "not whole, or too large for it. Nothing was updated. Restrict the predicate, or use floor, ceiling "
        + "or trunc.")
  }
}
