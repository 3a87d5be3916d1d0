/// Rows at the other end of a to-many relationship, read with their values.
package struct RelatedRows: Sendable {
  /// One entity's rows.
  package let rows: SharedRows
  /// The key, the version and the owner's key of each row.
  package let numbers: RowNumbers

  package init(_ rows: SharedRows, _ numbers: RowNumbers) { (self.rows, self.numbers) = (rows, numbers) }

  package init(_ batch: ObjectBatch, _ numbers: RowNumbers, of store: StoreIdentity) {
    self.init(SharedRows(batch, of: PermanentIDSpace(store, batch.entity)), numbers)
  }

  package var space: PermanentIDSpace { rows.space }
  package var count: Int { numbers.keys.count }
}
