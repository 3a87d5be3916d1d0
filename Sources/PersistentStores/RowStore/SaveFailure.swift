import ManagedObjectModel
import Foundation

/// A save that the store refused because of particular objects. The context's merge policy resolves it, or it becomes
/// an `NSError` with these objects.
package struct SaveFailure: Error {
  package struct Failure {
    package let id: NSManagedObjectID
    package let message: String
    package var obstacle = Obstacle.other

    package init(id: NSManagedObjectID, message: String, obstacle: Obstacle = .other) {
      self.id = id
      self.message = message
      self.obstacle = obstacle
    }
  }

  /// The conflict of an object.
  package enum Obstacle {
    /// The row differs from the one that the change is based on. The value is its current state, nil if it is gone.
    case otherVersion(FetchedRow?)
    /// Another object has the values that must be unique. An object of the same save has a temporary ID.
    case taken(constraint: [String], by: FetchedRow)
    case other
  }

  package let code: NSError.CoreDataCode
  package var failures: [Failure]

  package init(code: NSError.CoreDataCode, failures: [Failure]) {
    self.code = code
    self.failures = failures
  }

  /// The union of the failures of two stores: version conflicts come first, as within one store.
  package func joined(with other: SaveFailure) -> SaveFailure {
    if code == other.code { return SaveFailure(code: code, failures: failures + other.failures) }
    return other.code == .mergeConflict ? other : self
  }

  package var message: String {
    let first = failures.first.map { " The first: \($0.id): \($0.message)" } ?? ""
    let what =
      switch code {
      case .mergeConflict: "were changed in the store since they were read; refresh them and save again"
      case .constraintConflict: "have values that must be unique and are taken"
      default: "can't be written"
      }
    return "\(failures.count) objects \(what).\(first)"
  }
}
