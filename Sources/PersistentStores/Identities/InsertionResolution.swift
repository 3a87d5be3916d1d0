/// The keys that a save allocated for rows that were inserted together.
package struct InsertionResolution {
  package let range: TemporaryIDRange
  package let resolution: TemporaryIDRange.Resolution

  /// The number of rows that were inserted; the range may be longer.
  private let rowCount: Int

  package init(range: TemporaryIDRange, resolution: TemporaryIDRange.Resolution, rowCount: Int) {
    (self.range, self.resolution, self.rowCount) = (range, resolution, rowCount)
  }
}

extension InsertionResolution {
  /// The keys of the inserted objects, as ranges in no particular order.
  package var keys: [ClosedRange<Int64>] {
    let obtained = range.keysObtained.filter { resolution.removedRows.insertionIndex(ifAbsent: $0.key) != nil }
    let count = rowCount - obtained.count
    let taken = count > 0 ? [resolution.firstKey...(resolution.firstKey + Int64(count) - 1)] : []
    return taken + obtained.values.map { $0...$0 }
  }
}
