/// The keys that a save allocated for rows that were inserted together.
package struct InsertionResolution {
  package let range: TemporaryIDRange
  package let resolution: TemporaryIDRange.Resolution

  package init(range: TemporaryIDRange, resolution: TemporaryIDRange.Resolution) {
    (self.range, self.resolution) = (range, resolution)
  }
}

extension InsertionResolution {
  /// The keys of the inserted objects, as ranges in no particular order.
  package var keys: [ClosedRange<Int64>] {
    let obtained = range.keysObtained.filter { resolution.removedRows.insertionIndex(ifAbsent: $0.key) != nil }
    let count = range.count - resolution.removedRows.count - obtained.count
    let taken = count > 0 ? [resolution.firstKey...(resolution.firstKey + Int64(count) - 1)] : []
    return taken + obtained.values.map { $0...$0 }
  }
}
