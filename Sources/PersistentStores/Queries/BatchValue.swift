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
  /// The whole numbers that it stores; nil for an attribute of another type.
  package var wholeRange: ClosedRange<Int64>? {
    switch attributeType {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    case .integer64AttributeType: Int64.min...Int64.max
    case .booleanAttributeType: 0...1
    default: nil
    }
  }

  /// The error for a computed number that it does not store.
  package func misfit(of id: NSManagedObjectID) -> NSError {
    .coreData(
      .coreData,
      "The batch update computes a number for the attribute \(name) of \(id.uriRepresentation().absoluteString) that is "
        + "no whole number, or is too large for it. Nothing was updated. Restrict the predicate, or use floor, ceiling "
        + "or trunc.")
  }
}
