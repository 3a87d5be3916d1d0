import ManagedObjectModel

/// Collects the refused objects of a save, so that one error names all of them.
package struct SaveFaults {
  private var conflicts: [SaveFailure.Failure] = []
  private var refusals: [SaveFailure.Failure] = []
  private var isUniqueness = true

  package init() {}

  /// The row differs from the one that the change is based on.
  package mutating func conflict(_ id: NSManagedObjectID, message: String, row: FetchedRow?) {
    conflicts.append(.init(id: id, message: message, obstacle: .otherVersion(row)))
  }

  /// A constraint or a trigger rejects the row.
  package mutating func refuse(
    _ id: NSManagedObjectID, message: String, isUniqueness: Bool, obstacle: SaveFailure.Obstacle
  ) {
    self.isUniqueness = self.isUniqueness && isUniqueness
    refusals.append(.init(id: id, message: message, obstacle: obstacle))
  }

  mutating func refuse(_ id: NSManagedObjectID, _ error: SQLiteError, obstacle: SaveFailure.Obstacle) {
    refuse(id, message: error.message, isUniqueness: error.isUniqueness, obstacle: obstacle)
  }

  /// Version conflicts come first, as in Apple's framework; nil if there are no refused objects.
  package var failure: SaveFailure? {
    if !conflicts.isEmpty { return SaveFailure(code: .mergeConflict, failures: conflicts) }
    if refusals.isEmpty { return nil }
    return SaveFailure(code: isUniqueness ? .constraintConflict : .sqlite, failures: refusals)
  }
}
