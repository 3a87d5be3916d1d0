/// Temporary identities under which a context keeps objects that were inserted elsewhere, or saved and not yet by the
/// root: what has to be filed anew the day a save gives the permanent ones.
struct AwaitedIDs {
  private struct Entry {
    let range: TemporaryIDRange
    var rows: Set<Int>
    /// What the range had learnt when it was last asked.
    var revisionSeen: Int
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var count = 0
  private var sweepAt = 1024
  private var globalRevisionSeen = 0

  var isEmpty: Bool { entries.isEmpty }

  /// Whether an object is filed under an identity of `range`.
  func isAwaiting(_ range: TemporaryIDRange) -> Bool { !entries.isEmpty && entries[ObjectIdentifier(range)] != nil }

  /// - Parameter isAlive: Whether the object of an identity still exists; asked now and then to forget the others.
  mutating func add(
    _ rows: some Sequence<Int>, of range: TemporaryIDRange, isAlive: (NSManagedObjectID) -> Bool
  ) {
    let key = ObjectIdentifier(range)
    for row in rows {
      let isNew = entries[key, default: Entry(range: range, rows: [], revisionSeen: 0)].rows.insert(row).inserted
      if isNew { count += 1 }
    }
    // Earlier revisions count too: they were not checked for these rows.
    entries[key]?.revisionSeen = 0
    globalRevisionSeen = 0
    if count >= sweepAt {
      // When the table has doubled, which spreads the cost.
      filter { isAlive($0) }
      sweepAt = max(1024, count * 2)
    }
  }

  /// Takes out and returns the identities that may have become permanent since the last call.
  mutating func takeResolved() -> [NSManagedObjectID] {
    let globalRevision = TemporaryIDRange.globalRevision
    guard !entries.isEmpty, globalRevision != globalRevisionSeen else { return [] }
    globalRevisionSeen = globalRevision
    var result: [NSManagedObjectID] = []
    for (key, entry) in entries {
      // Read first: a change in the meantime is for the next call.
      let revision = entry.range.revision
      guard revision != entry.revisionSeen else { continue }
      let known = entry.rows.filter { entry.range.permanent(row: $0) != nil }
      result += known.map { NSManagedObjectID(range: entry.range, row: $0) }
      count -= known.count
      entries[key]?.rows.subtract(known)
      entries[key]?.revisionSeen = revision
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
