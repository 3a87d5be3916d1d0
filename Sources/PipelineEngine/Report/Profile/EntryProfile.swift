/// The distribution of the values of a run's entries: how many there are per month, per number, per text.
///
/// Its size is bounded whatever the input contains: values beyond the first ``monthsMax`` or ``valuesMax`` different
/// ones are counted as `other`. It contains everything needed to continue counting, so an interrupted run can store it
/// and resume.
public struct EntryProfile: Sendable, Hashable, Codable {
  /// The counts of one attribute.
  public struct Chart: Sendable, Hashable, Codable {
    /// The kind of an attribute's values.
    public enum Kind: String, Sendable, Codable {
      /// Months of the UTC calendar, `2014-07`, of a date attribute.
      case months
      /// Whole numbers.
      case integers
      /// Texts.
      case texts
    }

    /// A value and the number of entries that have it.
    public struct Count: Sendable, Hashable, Codable {
      /// The value as text.
      public var value: String
      /// The number of entries that have it.
      public var entries: Int

      /// Makes a count of `entries` that have `value`.
      public init(_ value: String, _ entries: Int) {
        self.value = value
        self.entries = entries
      }
    }

    /// The attribute whose values are counted.
    public var attribute: String
    /// What is counted: months, numbers or texts.
    public var kind: Kind
    /// Months and numbers in ascending order; texts by count, the most frequent first.
    public var counts: [Count]
    /// Entries without a value.
    public var empty: Int
    /// Entries whose value is not among `counts`: too many different values, a text longer than
    /// ``EntryProfile/textBytesMax``, a date outside the calendar.
    public var other: Int

    /// Makes a chart. The parameters are the properties of the same names.
    public init(attribute: String, kind: Kind, counts: [Count] = [], empty: Int = 0, other: Int = 0) {
      self.attribute = attribute
      self.kind = kind
      self.counts = counts
      self.empty = empty
      self.other = other
    }

    /// The number of all entries, each of which is counted once above.
    public var entries: Int { counts.reduce(empty + other) { $0 + $1.entries } }
  }

  /// In the order of the pipeline's `charts`.
  public var charts: [Chart]

  /// A profile with these charts.
  public init(charts: [Chart] = []) {
    self.charts = charts
  }

  /// Different months counted per attribute.
  public static let monthsMax = 600
  /// Different numbers or texts counted per attribute.
  public static let valuesMax = 200
  /// Longest text that is counted by itself, in bytes.
  public static let textBytesMax = 256
}
