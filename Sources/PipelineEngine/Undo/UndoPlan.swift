/// What taking back some inputs would do to the store.
struct UndoPlan: Sendable, Equatable {
  /// The entries that the inputs inserted and that are still in the store.
  var deletedCount = 0
  /// The entries that get the values back that they had before the inputs updated them.
  var restoredCount = 0
  /// The entries that were deleted since.
  var missingCount = 0
}

/// Why inputs can't be taken back.
struct UndoRefusal: Error {
  let message: String
}
