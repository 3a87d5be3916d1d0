/// What a guess knows of the attributes that columns may fill: handed in by the program, because words of a product do
/// not belong into this module.
package struct AttributeVocabulary: Sendable {
  package enum Kind: Sendable, Hashable {
    case date, whole, decimal, boolean, text
  }

  package struct Attribute: Sendable, Hashable {
    package var name: String
    package var kind: Kind
    /// What columns of this attribute are called, in any language; the name itself is one of them.
    package var labels: [String]
    /// Units of its values, such as `ft`.
    package var units: [String]
    /// Words that its values contain, such as `glassy`.
    package var words: [String]
    /// The bounds of its values, for numbers.
    package var range: ClosedRange<Double>?
    /// Rules of the column, each as JSON.
    package var rules: [String]
    /// Whether an entry without it is useless, so that a file without such a column is refused.
    package var isRequired: Bool
    /// Whether it identifies an entry together with others.
    package var isPartOfKey: Bool

    package init(
      _ name: String, _ kind: Kind, labels: [String] = [], units: [String] = [], words: [String] = [],
      range: ClosedRange<Double>? = nil, rules: [String] = [], isRequired: Bool = false, isPartOfKey: Bool = false
    ) {
      self.name = name
      self.kind = kind
      self.labels = [name] + labels
      self.units = units
      self.words = words
      self.range = range
      self.rules = rules
      self.isRequired = isRequired
      self.isPartOfKey = isPartOfKey
    }
  }

  package var attributes: [Attribute]
  /// Labels of columns with the time of day of the date.
  package var timeLabels: [String]
  /// Labels that are known and have no attribute, such as remarks.
  package var otherLabels: [String]
  /// Labels of languages that write the day before the month.
  package var dayFirstLabels: [String]
  /// Orders of attributes in files that are known and have no header.
  package var orders: [[String]]
  /// Whether a column is an attribute only by its label: values of an unknown entity say nothing.
  package var needsLabels: Bool

  package init(
    attributes: [Attribute], timeLabels: [String] = [], otherLabels: [String] = [], dayFirstLabels: [String] = [],
    orders: [[String]] = [], needsLabels: Bool = false
  ) {
    self.attributes = attributes
    self.timeLabels = timeLabels
    self.otherLabels = otherLabels
    self.dayFirstLabels = dayFirstLabels
    self.orders = orders
    self.needsLabels = needsLabels
  }
}
