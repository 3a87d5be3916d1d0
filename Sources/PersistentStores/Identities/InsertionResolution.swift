/// The keys that a save allocated for rows that were inserted together.
struct InsertionResolution {
  let range: TemporaryIDRange
  let resolution: TemporaryIDRange.Resolution
}
