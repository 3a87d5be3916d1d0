/// What taking back some inputs would do to the store.
struct UndoPlan: Sendable, Equatable {
  /// The entries that the inputs inserted and that are still in the store.
  var deletedCount = 0
  /// The entries that get the values back that they had before the inputs updated them.
  var restoredCount = 0
  /// The entries that were deleted since.
  var missingCount = 0
  /// The objects that restored entries led to, and that were deleted since.
  var goneCount = 0
  /// The keys of the entries that were changed since, by entity; they stay as they are.
  var changed: [String: Set<Int64>] = [:]

  static func + (left: UndoPlan, right: UndoPlan) -> UndoPlan {
    UndoPlan(
      deletedCount: left.deletedCount + right.deletedCount, restoredCount: left.restoredCount + right.restoredCount,
      missingCount: left.missingCount + right.missingCount, goneCount: left.goneCount + right.goneCount,
      changed: left.changed.merging(right.changed) { $0.union($1) })
  }
}

/// Why inputs can't be taken back.
struct UndoRefusal: Error {
  let message: String

  static func damaged(_ input: LedgerEntry) -> UndoRefusal {
    UndoRefusal(
      message: "the ledger's record of what \(input.path) has overwritten is damaged; restore the store "
        + "from a copy")
  }
}
