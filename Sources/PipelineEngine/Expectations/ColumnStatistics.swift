import PersistentStores

/// The statistics of one column: empty values, different values up to a bound, the newest date.
struct ColumnStatistics: Sendable {
  let rule: ExpectDefinition.Column
  private let slot: Int
  /// Different values beyond this number are not counted.
  private let distinctMax: Int
  private(set) var empty = 0
  private var digests: Set<KeyDigest> = []
  /// In seconds since 2001-01-01 UTC.
  private(set) var newest: Double?

  init(_ rule: ExpectDefinition.Column, slot: Int) {
    self.rule = rule
    self.slot = slot
    let declared = [rule.distinctMin, rule.distinctMax].compactMap(\.self).max()
    distinctMax = declared.map { $0 + 1 } ?? 0
  }

  var distinct: Int { digests.count }
  /// Whether there may be more different values than `distinct`.
  var isDistinctBounded: Bool { digests.count == distinctMax }

  /// A text of white space counts as empty, as in rules.
  mutating func add(_ batch: ObjectBatch, without excluded: Set<Int>) {
    let (cells, width, arena) = (batch.cells, batch.slotCount, batch.arena)
    let bytes = arena.span
    var hasher = KeyHasher()
    for row in 0..<batch.count where excluded.isEmpty || !excluded.contains(row) {
      let cell = cells[row * width + slot]
      hasher.begin()
      switch cell.kind {
      case .null: hasher.appendNull()
      case .integer: hasher.append(cell.integer)
      case .real:
        hasher.append(cell.real)
        if rule.newestWithinDays != nil { newest = max(newest ?? cell.real, cell.real) }
      case .decimal: hasher.append(NumberText.real(bytes.extracting(cell.range)) ?? 0)
      case .text:
        let text = bytes.extracting(cell.range)
        if text.trimmedRange.isEmpty { hasher.appendNull() } else { hasher.append(text) }
      case .blob: hasher.append(bytes.extracting(cell.range))
      }
      if hasher.isAllNull {
        empty += 1
      } else if digests.count < distinctMax {
        digests.insert(hasher.digest)
      }
    }
  }

  mutating func merge(_ other: ColumnStatistics) {
    empty += other.empty
    newest = [newest, other.newest].compactMap(\.self).max()
    for digest in other.digests where digests.count < distinctMax { digests.insert(digest) }
  }

  // MARK: Checkpoints

  struct Kept: Sendable, Codable {
    var rule: ExpectDefinition.Column
    var empty: Int
    /// High and low half of each digest, one after the other.
    var digests: [UInt64]
    var newest: Double?
  }

  var kept: Kept {
    Kept(rule: rule, empty: empty, digests: digests.sorted().flatMap { [$0.high, $0.low] }, newest: newest)
  }

  mutating func resume(_ kept: Kept) {
    (empty, newest) = (kept.empty, kept.newest)
    digests = Set(
      stride(from: 0, to: kept.digests.count - 1, by: 2).map {
        KeyDigest(high: kept.digests[$0], low: kept.digests[$0 + 1])
      })
  }
}
