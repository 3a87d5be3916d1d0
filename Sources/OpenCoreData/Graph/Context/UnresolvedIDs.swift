/// The temporary IDs under which a context has registered objects that another context inserted, or that are saved but
/// have not reached the root. Their objects are registered again when a save gives them permanent IDs.
struct UnresolvedIDs {
  private struct Entry {
    let range: TemporaryIDRange
    var rows: Set<Int>
    /// What the range knew when it was last asked.
    var newsSeen: Int
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var count = 0
  private var sweepAt = 1024
  private var newsTotalSeen = 0

  var isEmpty: Bool { entries.isEmpty }

  /// Whether an object is registered under an ID of `range`.
  func contains(_ range: TemporaryIDRange) -> Bool { !entries.isEmpty && entries[ObjectIdentifier(range)] != nil }

  /// - Parameter isAlive: Whether the object of an ID still exists; asked from time to time to drop the others.
  mutating func add(
    _ rows: some Sequence<Int>, of range: TemporaryIDRange, isAlive: (NSManagedObjectID) -> Bool
  ) {
    let key = ObjectIdentifier(range)
    for row in rows {
      let isNew = entries[key, default: Entry(range: range, rows: [], newsSeen: 0)].rows.insert(row).inserted
      if isNew { count += 1 }
    }
    // Earlier changes of the range count too: they were not examined for these rows.
    entries[key]?.newsSeen = 0
    newsTotalSeen = 0
    if count >= sweepAt {
      // The table is swept when it has doubled, which spreads the cost.
      filter { isAlive($0) }
      sweepAt = max(1024, count * 2)
    }
  }

  /// Removes and returns the IDs that may have become permanent since the last call.
  mutating func takeNews() -> [NSManagedObjectID] {
    let newsTotal = TemporaryIDRange.newsTotalCount
    guard !entries.isEmpty, newsTotal != newsTotalSeen else { return [] }
    newsTotalSeen = newsTotal
    var result: [NSManagedObjectID] = []
    for (key, entry) in entries {
      // Read first: what the range learns from here on is reported by the next call.
      let news = entry.range.newsCount
      guard news != entry.newsSeen else { continue }
      let known = entry.rows.filter { entry.range.permanent(row: $0) != nil }
      result += known.map { NSManagedObjectID(range: entry.range, row: $0) }
      count -= known.count
      entries[key]?.rows.subtract(known)
      entries[key]?.newsSeen = news
      if entries[key]?.rows.isEmpty == true { entries[key] = nil }
    }
    return result
  }

  private mutating func filter(_ isKept: (NSManagedObjectID) -> Bool) {
    for (key, entry) in entries {
      let rows = entry.rows.filter { isKept(NSManagedObjectID(range: entry.range, row: $0)) }
      count -= entry.rows.count - rows.count
      entries[key]?.rows = rows
      if rows.isEmpty { entries[key] = nil }
    }
  }
}
