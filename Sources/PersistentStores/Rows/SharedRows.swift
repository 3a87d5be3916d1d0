import ManagedObjectModel

/// Rows that a context has read together, for its parents too: their values stay packed.
package final class SharedRows: Sendable {
  package let batch: ObjectBatch
  package let space: PermanentIDSpace

  package init(_ batch: ObjectBatch, of space: PermanentIDSpace) {
    (self.batch, self.space) = (batch, space)
  }
}
