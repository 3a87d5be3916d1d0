/// The keys that a save allocated for rows that were inserted together.
package struct InsertionResolution {
  package let range: TemporaryIDRange
  package let resolution: TemporaryIDRange.Resolution

  package init(range: TemporaryIDRange, resolution: TemporaryIDRange.Resolution) {
    (self.range, self.resolution) = (range, resolution)
  }
}
