/// What a run removes of what earlier runs have left: by age, by number, or both.
///
/// What waits for a correction stays: files that could not be imported, rejects that were not replayed, and the inputs
/// that they come from.
///
/// ```swift
/// var retention = RetentionDefinition()
/// retention.reports = .init(days: 400)
/// retention.processed = .init(days: 30, count: 1000)
/// ```
public struct RetentionDefinition: Sendable, Hashable, Codable {
  /// How much of one kind stays. What exceeds any of the two bounds is removed.
  public struct Bounds: Sendable, Hashable, Codable {
    /// What is older is removed; nil for no such bound.
    public var days: Int?
    /// Only so many of the newest stay; nil for no such bound.
    public var count: Int?

    /// Makes bounds. The parameters are the properties of the same names.
    public init(days: Int? = nil, count: Int? = nil) {
      self.days = days
      self.count = count
    }
  }

  /// Reports whose names have placeholders; nil keeps all.
  public var reports: Bounds?
  /// Files in the inbox's folder for imported files; nil keeps all.
  public var processed: Bounds?
  /// Files of rejects that were replayed, or whose import was undone; nil keeps all.
  public var rejects: Bounds?

  /// Removes nothing.
  public init() {}

  private static let keys = ["reports", "processed", "rejects"]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> RetentionDefinition? {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var retention = RetentionDefinition()
    func bounds(_ key: String) -> Bounds? {
      guard let value = reader.value(key),
        let inner = ObjectReader(value, path: reader.path(key), keys: ["days", "count"], mistakes: mistakes)
      else { return nil }
      if inner.value("days") == nil, inner.value("count") == nil {
        reader.note(key, "has neither 'days' nor 'count'; give at least one, or leave it out")
      }
      return Bounds(days: inner.integer("days", in: 1...36_500), count: inner.integer("count", in: 1...1_000_000))
    }
    (retention.reports, retention.processed, retention.rejects) = (
      bounds("reports"), bounds("processed"), bounds("rejects")
    )
    if keys.allSatisfy({ reader.value($0) == nil }) {
      mistakes.add(path, "removes nothing; give 'reports', 'processed' or 'rejects', or leave it out")
    }
    return retention
  }
}

extension PipelineDefinition {
  /// Checks that there is something that the retention is for.
  func checkRetention(_ mistakes: MistakeList) {
    guard let retention else { return }
    if retention.processed != nil, inbox == nil, parts.allSatisfy({ $0.inbox == nil }) {
      mistakes.add("retention.processed", "the pipeline has no 'inbox' whose files could be removed; remove this bound")
    }
    if retention.reports != nil, !mistakes.isWrong("report"),
      !report.contains(where: { (try? ReportName($0))?.isSeries == true })
    {
      mistakes.add(
        "retention.reports",
        "no report has a placeholder in its name, so each is replaced by the next; write one such as "
          + "reports/{date}.html, or remove it")
    }
  }
}
