/// The limits of a run. Their units are part of the names.
public struct LimitsDefinition: Sendable, Hashable, Codable {
  /// Number of issues that the report lists; the counts are always complete.
  public var issuesListedMax = 1000
  /// Longest field, in bytes.
  public var fieldBytesMax = 1 << 20
  /// Longest record, in bytes.
  public var recordBytesMax = 1 << 24
  /// Keys held in memory before they move to a temporary file.
  public var keysInMemoryMax = 2_000_000
  /// Entries whose values from before an update the store's ledger keeps, so that the update can be undone. Those of
  /// the oldest inputs are dropped first.
  public var overwrittenMax = 100_000
  /// Days for which the store's ledger keeps what an undo, a replacement and the history need; nil for ever.
  public var historyDays: Int?
  /// Days for which the store's ledger recognises inputs by their content; nil for ever.
  public var inputsDays: Int?

  /// The default limits.
  public init() {}

  static let keys = [
    "issuesListedMax", "fieldBytesMax", "recordBytesMax", "keysInMemoryMax", "overwrittenMax", "historyDays",
    "inputsDays",
  ]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> LimitsDefinition {
    var limits = LimitsDefinition()
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return limits }
    let bytes = 1...(256 << 20)
    limits.issuesListedMax = reader.integer("issuesListedMax", in: 0...10_000_000) ?? limits.issuesListedMax
    limits.fieldBytesMax = reader.integer("fieldBytesMax", in: bytes) ?? limits.fieldBytesMax
    limits.recordBytesMax = reader.integer("recordBytesMax", in: bytes) ?? limits.recordBytesMax
    limits.keysInMemoryMax = reader.integer("keysInMemoryMax", in: 1...100_000_000) ?? limits.keysInMemoryMax
    limits.overwrittenMax = reader.integer("overwrittenMax", in: 0...10_000_000) ?? limits.overwrittenMax
    let days = 1...36_500
    limits.historyDays = reader.integer("historyDays", in: days)
    limits.inputsDays = reader.integer("inputsDays", in: days)
    return limits
  }
}
