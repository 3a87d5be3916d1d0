/// What the entries that a run took look like: how many there are per month, per number, per text.
///
/// It is bounded, whatever the input holds: values beyond the first ``monthsMax``, ``valuesMax`` different ones are
/// gathered as `other`. It keeps all that counting goes on with, so an interrupted run can store it and resume.
public struct EntryProfile: Sendable, Hashable, Codable {
  /// The counts of one attribute.
  public struct Chart: Sendable, Hashable, Codable {
    /// What a value is.
    public enum Kind: String, Sendable, Codable {
      /// A month of the UTC calendar, `2014-07`, of an attribute that is a date.
      case months
      /// A whole number.
      case integers
      /// A text.
      case texts
    }

    /// A value and the number of entries that have it.
    public struct Count: Sendable, Hashable, Codable {
      public var value: String
      public var entries: Int

      public init(_ value: String, _ entries: Int) {
        self.value = value
        self.entries = entries
      }
    }

    public var attribute: String
    public var kind: Kind
    /// Months and numbers in ascending order; texts by count, the most frequent first.
    public var counts: [Count]
    /// Entries without a value.
    public var empty: Int
    /// Entries whose value is not among `counts`: too many different ones, a text longer than
    /// ``EntryProfile/textBytesMax``, a date that is no moment of the calendar.
    public var other: Int

    public init(attribute: String, kind: Kind, counts: [Count] = [], empty: Int = 0, other: Int = 0) {
      self.attribute = attribute
      self.kind = kind
      self.counts = counts
      self.empty = empty
      self.other = other
    }

    /// Every entry is in one of them.
    public var entries: Int { counts.reduce(empty + other) { $0 + $1.entries } }
  }

  /// In the order of the pipeline's `charts`.
  public var charts: [Chart]

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
