/// What a run expects of its records together: how many there are, and statistics of their columns.
///
/// ```swift
/// var expect = ExpectDefinition()
/// expect.records = .init(min: 10, maxPercentOfMean: 200)
/// expect.columns = [.init("rating", emptyPercentMax: 20, distinctMin: 2)]
/// ```
public struct ExpectDefinition: Sendable, Hashable, Codable {
  /// How many records are read.
  public struct Records: Sendable, Hashable, Codable {
    /// Smallest number of records; nil for no such bound.
    public var min: Int?
    /// Largest number of records; nil for no such bound.
    public var max: Int?
    /// Smallest percentage of the mean of the last runs.
    public var minPercentOfMean: Double?
    /// Largest percentage of the mean of the last runs.
    public var maxPercentOfMean: Double?
    /// How many completed runs of the pipeline the mean is of, the newest ones in the store's ledger.
    public var lastRuns: Int
    /// Whether another number fails the run or is only reported.
    public var severity: Severity

    /// Makes an expectation. The parameters are the properties of the same names.
    public init(
      min: Int? = nil, max: Int? = nil, minPercentOfMean: Double? = nil, maxPercentOfMean: Double? = nil,
      lastRuns: Int = 10, severity: Severity = .error
    ) {
      self.min = min
      self.max = max
      self.minPercentOfMean = minPercentOfMean
      self.maxPercentOfMean = maxPercentOfMean
      self.lastRuns = lastRuns
      self.severity = severity
    }

    package var comparesRuns: Bool { minPercentOfMean != nil || maxPercentOfMean != nil }
    var isEmpty: Bool { min == nil && max == nil && !comparesRuns }
  }

  /// The statistics of one column over the valid records.
  public struct Column: Sendable, Hashable, Codable {
    /// The column's name, or its attribute.
    public var name: String
    /// Largest percentage of records without a value.
    public var emptyPercentMax: Double?
    /// Smallest number of different values, up to ``distinctBound``.
    public var distinctMin: Int?
    /// Largest number of different values, up to ``distinctBound``.
    public var distinctMax: Int?
    /// How old the newest date may be when the run begins.
    public var newestWithinDays: Double?
    /// Whether other values fail the run or are only reported.
    public var severity: Severity

    /// Makes an expectation. The parameters are the properties of the same names.
    public init(
      _ name: String, emptyPercentMax: Double? = nil, distinctMin: Int? = nil, distinctMax: Int? = nil,
      newestWithinDays: Double? = nil, severity: Severity = .error
    ) {
      self.name = name
      self.emptyPercentMax = emptyPercentMax
      self.distinctMin = distinctMin
      self.distinctMax = distinctMax
      self.newestWithinDays = newestWithinDays
      self.severity = severity
    }

    /// The largest number of different values that can be expected. Counting stops one above what is declared.
    public static let distinctBound = 1000

    var isEmpty: Bool {
      emptyPercentMax == nil && distinctMin == nil && distinctMax == nil && newestWithinDays == nil
    }
  }

  /// What is expected of the number of records; nil for nothing.
  public var records: Records?
  /// What is expected of the values of columns.
  public var columns: [Column] = []

  /// Expects nothing.
  public init() {}
}

extension ExpectDefinition {
  static let keys = ["records", "columns"]
  private static let recordsKeys = ["min", "max", "minPercentOfMean", "maxPercentOfMean", "lastRuns", "severity"]
  private static let columnKeys = [
    "name", "emptyPercentMax", "distinctMin", "distinctMax", "newestWithinDays", "severity",
  ]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ExpectDefinition? {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var expect = ExpectDefinition()
    if let value = reader.value("records") {
      let parts = ObjectReader(value, path: reader.path("records"), keys: recordsKeys, mistakes: mistakes)
      expect.records = parts.map { readRecords($0) }
    }
    for item in reader.items("columns") ?? [] {
      let parts = ObjectReader(item.value, path: item.path, keys: columnKeys, mistakes: mistakes)
      if let column = parts.flatMap({ readColumn($0) }) { expect.columns.append(column) }
    }
    if reader.value("records") == nil, reader.value("columns") == nil {
      mistakes.add(path, "expects nothing; give 'records' or 'columns', or leave it out")
    }
    return expect
  }

  private static func readRecords(_ reader: ObjectReader) -> Records {
    let percent = 0.0...1_000_000.0
    let usual = Records()
    return Records(
      min: reader.integer("min", in: 0...Int.max), max: reader.integer("max", in: 0...Int.max),
      minPercentOfMean: reader.number("minPercentOfMean", in: percent),
      maxPercentOfMean: reader.number("maxPercentOfMean", in: percent),
      lastRuns: reader.integer("lastRuns", in: 1...1000) ?? usual.lastRuns,
      severity: reader.choice("severity", Severity.self) ?? usual.severity)
  }

  private static func readColumn(_ reader: ObjectReader) -> Column? {
    if reader.value("name") == nil { reader.note("name", "is missing; name a column") }
    guard let name = reader.string("name") else { return nil }
    let count = 0...Column.distinctBound
    return Column(
      name, emptyPercentMax: reader.number("emptyPercentMax", in: 0...100),
      distinctMin: reader.integer("distinctMin", in: count), distinctMax: reader.integer("distinctMax", in: count),
      newestWithinDays: reader.number("newestWithinDays", in: 0...36_500),
      severity: reader.choice("severity", Severity.self) ?? .error)
  }
}

extension PipelineDefinition {
  /// The index of the column that an expectation names, by its name or else by its attribute.
  package func column(of expectation: ExpectDefinition.Column) -> Int? {
    columns.firstIndex { $0.name == expectation.name } ?? columns.firstIndex { $0.attribute == expectation.name }
  }

  /// Checks what is expected for contradictions, and for columns that are not declared.
  func checkExpectations(_ mistakes: MistakeList) {
    guard let expect else { return }
    if let records = expect.records {
      let path = "expect.records"
      if records.isEmpty {
        mistakes.add(path, "expects nothing; give 'min', 'max', 'minPercentOfMean' or 'maxPercentOfMean'")
      }
      checkOrder(records.min, records.max, path: path, keys: ("min", "max"), mistakes: mistakes)
      checkOrder(
        records.minPercentOfMean, records.maxPercentOfMean, path: path, keys: ("minPercentOfMean", "maxPercentOfMean"),
        mistakes: mistakes)
    }
    for (index, column) in expect.columns.enumerated() {
      let path = "expect.columns[\(index)]"
      if column.isEmpty {
        mistakes.add(
          path, "expects nothing; give 'emptyPercentMax', 'distinctMin', 'distinctMax' or 'newestWithinDays'")
      }
      checkOrder(
        column.distinctMin, column.distinctMax, path: path, keys: ("distinctMin", "distinctMax"), mistakes: mistakes)
      if self.column(of: column) == nil, !mistakes.paths.contains(where: { $0.hasPrefix("columns") }) {
        let hint = NearestName.hint(for: column.name, in: columns.map(\.name))
        mistakes.add("\(path).name", "the pipeline has no column '\(column.name)'\(hint)")
      }
    }
  }

  private func checkOrder<Bound: Comparable>(
    _ least: Bound?, _ most: Bound?, path: String, keys: (String, String), mistakes: MistakeList
  ) {
    guard let least, let most, least > most else { return }
    mistakes.add("\(path).\(keys.0)", "is greater than '\(keys.1)', so that nothing could meet both; correct one")
  }
}
