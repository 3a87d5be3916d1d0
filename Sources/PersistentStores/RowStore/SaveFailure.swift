import ManagedObjectModel
import Foundation

/// A save that the store refused because of certain objects. The context's merge policy settles it, or it becomes an
/// `NSError` with them.
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

  /// What stood in an object's way.
  package enum Obstacle {
    /// The row is not the one that the change builds on: as it is now, nil when it is gone.
    case otherVersion(FetchedRow?)
    /// Another object has the values that must be unique. One of the same save has a temporary ID.
    case taken(constraint: [String], by: FetchedRow)
    case other
  }

  package let code: NSError.CoreDataCode
  package var failures: [Failure]

  package init(code: NSError.CoreDataCode, failures: [Failure]) {
    self.code = code
    self.failures = failures
  }

  /// Both as one, of two stores: conflicts of versions come first, as within one.
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

/// What a save gathers of objects at fault before it gives up, so that one error names all of them.
struct SaveFaults {
  private var conflicts: [SaveFailure.Failure] = []
  private var refusals: [SaveFailure.Failure] = []
  private var isUniqueness = true

  /// The row is another one than the change builds on.
  package mutating func conflict(_ id: NSManagedObjectID, _ message: String, _ row: FetchedRow?) {
    conflicts.append(.init(id: id, message: message, obstacle: .otherVersion(row)))
  }

  /// A constraint or a trigger does not take the row.
  package mutating func refuse(_ id: NSManagedObjectID, _ error: SQLiteError, _ obstacle: SaveFailure.Obstacle) {
    isUniqueness = isUniqueness && error.isUniqueness
    refusals.append(.init(id: id, message: error.message, obstacle: obstacle))
  }

  /// Conflicts of versions come first, as in Apple's framework; nil where all went well.
  package var failure: SaveFailure? {
    if !conflicts.isEmpty { return SaveFailure(code: .mergeConflict, failures: conflicts) }
    if refusals.isEmpty { return nil }
    return SaveFailure(code: isUniqueness ? .constraintConflict : .sqlite, failures: refusals)
  }
}
