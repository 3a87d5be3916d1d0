extension EntryProfile {
  /// What the entries have in one column.
  public struct Column: Sendable, Hashable, Codable {
    /// The column's name in the pipeline.
    public var name: String
    /// Entries with a value.
    public var filled: Int
    /// Entries without a value.
    public var empty: Int
    /// Records that were rejected because of the column.
    public var refused: Int
    /// The least number or date; nil for other types, and without values.
    public var least: String?
    /// The greatest number or date.
    public var greatest: String?
    /// Entries whose values were counted one by one: the first ones. Zero for bytes and UUIDs.
    public var counted: Int = 0
    /// Different values among these, as far as they were counted.
    public var distinct: Int = 0
    /// Whether there were more.
    public var hasMoreDistinct: Bool = false
    /// The most frequent values among them that occur more than once, the most frequent first.
    public var frequent: [Chart.Count] = []

    /// Makes a column. The parameters are the properties of the same names.
    public init(name: String, filled: Int, empty: Int, refused: Int) {
      (self.name, self.filled, self.empty, self.refused) = (name, filled, empty, refused)
    }
  }
}
