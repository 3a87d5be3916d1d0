/// Rows at the other end of a to-many relationship, read with their values.
package struct RelatedRows: Sendable {
  /// The values of one entity's rows.
  package let batch: ObjectBatch
  package let space: PermanentIDSpace
  /// The key, the version and the owner's key of each row.
  package let numbers: RowNumbers

  package init(_ batch: ObjectBatch, _ numbers: RowNumbers, of store: StoreIdentity) {
    self.batch = batch
    self.numbers = numbers
    space = PermanentIDSpace(store, batch.entity)
  }
}
