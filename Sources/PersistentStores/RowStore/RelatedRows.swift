/// Rows at the other end of a to-many relationship, read with their values.
package struct RelatedRows: Sendable {
  /// One entity's rows.
  package let rows: SharedRows
  /// The key, the version and the owner's key of each row.
  package let numbers: RelatedNumbers

  package init(_ rows: SharedRows, _ numbers: RelatedNumbers) { (self.rows, self.numbers) = (rows, numbers) }

  package init(_ batch: ObjectBatch, _ numbers: RowNumbers, of store: StoreIdentity) {
    self.init(SharedRows(batch, of: PermanentIDSpace(store, batch.entity)), RelatedNumbers(numbers))
  }

  package var space: PermanentIDSpace { rows.space }
  package var count: Int { numbers.keys.count }
}

/// The numbers of rows that are kept.
package struct RelatedNumbers: Sendable {
  package let keys: NumberList
  package let versions: NumberList
  package let owners: NumberList

  package init(_ numbers: RowNumbers) {
    keys = NumberList(numbers.keys)
    versions = NumberList(numbers.versions)
    owners = NumberList(numbers.owners)
  }
}
