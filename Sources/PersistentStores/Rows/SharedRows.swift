import Locking
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

  /// The values. Reads them if that was not done yet, and ends the program if that fails, as a fault does.
  package var batch: ObjectBatch {
    values.withLock { values in
      switch values {
      case .packed(let batch): return batch
      case .unread(let read):
        do {
          let batch = try read()
          values = .packed(batch)
          return batch
        } catch {
          preconditionFailure(
            "The values of deleted objects of the entity \(space.entity.name ?? "") can't be read: \(error). Keep their "
              + "store until the deletion was saved and announced.")
        }
      }
    }
  }
}
