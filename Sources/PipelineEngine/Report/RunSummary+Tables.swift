extension RunSummary {
  /// One rule of the pipeline.
  public struct Rule: Sendable, Hashable, Codable {
    /// The column that it is for; nil for a rule for whole records.
    public var column: String?
    /// The rule in words.
    public var rule: String
    /// Records that break it.
    public var failed: Int
    /// Whether that rejects them.
    public var severity: Severity

    /// Makes a rule. The parameters are the properties of the same names.
    public init(column: String? = nil, rule: String, failed: Int, severity: Severity = .error) {
      (self.column, self.rule, self.failed, self.severity) = (column, rule, failed, severity)
    }
  }

  /// What an export has written, in the words of its definition.
  public struct Exported: Sendable, Hashable, Codable {
    /// The entity of the entries.
    public var entity: String
    /// The labels of the columns.
    public var columns: [String]
    /// Which entries; nil for all.
    public var predicate: String?
    /// Their order, such as `date, then rating (greatest first)`; nil for that of the store.
    public var order: String?
    /// The most entries that are written; nil for all.
    public var limit: Int?
    /// `csv` or `jsonl`.
    public var format: String
    /// Whether only entries are written that the export before did not have.
    public var incremental: Bool

    /// Makes the facts of an export. The parameters are the properties of the same names.
    public init(
      entity: String, columns: [String], predicate: String? = nil, order: String? = nil, limit: Int? = nil,
      format: String, incremental: Bool = false
    ) {
      (self.entity, self.columns, self.predicate, self.order) = (entity, columns, predicate, order)
      (self.limit, self.format, self.incremental) = (limit, format, incremental)
    }
  }
}
