import SystemSupport
import ManagedObjectModel

/// Rows that a context has read together, for its parents too: their values stay packed, or in the store.
package final class SharedRows: Sendable {
  package let space: PermanentIDSpace
  private let values: Locked<Values>

  private enum Values: Sendable {
    case packed(ObjectBatch)
    case unread(@Sendable () throws -> ObjectBatch)
  }

  package init(_ batch: ObjectBatch, of space: PermanentIDSpace) {
    self.space = space
    values = Locked(.packed(batch))
  }

  /// Rows whose values are read when they are asked for.
  ///
  /// - Parameter read: Reads them from a state of the store that does not change.
  package init(of space: PermanentIDSpace, reading read: @escaping @Sendable () throws -> ObjectBatch) {
    self.space = space
    values = Locked(.unread(read))
  }

  /// Reads the values, if that was not done yet.
  ///
  /// - Throws: The error of the store, which is closed or damaged.
  package func load() throws {
    try values.withLock { values in
      if case .unread(let read) = values { values = .packed(try read()) }
    }
  }

  /// Values that can't be read are null.
  package func leaveOutValues(of count: Int) {
    var nulls = ObjectBatch(entity: space.entity)
    for _ in 0..<count { nulls.appendRow() }
    let batch = nulls
    values.withLock { values in if case .unread = values { values = .packed(batch) } }
  }

  /// The values, which were loaded.
  package var batch: ObjectBatch {
    values.withLock { values in
      // The caller's mistake: rows that were read with their values need no `load`, and all others have to be loaded
      // first, which throws where the store can't be read.
      guard case .packed(let batch) = values else { preconditionFailure("The values are loaded before they are read.") }
      return batch
    }
  }
}
