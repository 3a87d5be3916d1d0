/// The temporary IDs under which a context has registered objects that another context inserted, or that are saved but
/// have not reached the root. Their objects are registered again when a save gives them permanent IDs.
struct UnresolvedIDs {
  private struct Entry {
    let range: TemporaryIDRange
    var rows: Set<Int>
    /// What the range knew when it was last asked.
    var revisionSeen: Int
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var count = 0
  private var sweepAt = 1024
  private var globalRevisionSeen = 0

  var isEmpty: Bool { entries.isEmpty }

  /// Whether an object is registered under an ID of `range`.
  func contains(_ range: TemporaryIDRange) -> Bool { !entries.isEmpty && entries[ObjectIdentifier(range)] != nil }

  /// - Parameter isAlive: Whether the object of an ID still exists; asked from time to time to drop the others.
  mutating func add(
    _ rows: some Sequence<Int>, of range: TemporaryIDRange, isAlive: (NSManagedObjectID) -> Bool
  ) {
    let key = ObjectIdentifier(range)
    for row in rows {
      let isNew = entries[key, default: Entry(range: range, rows: [], revisionSeen: 0)].rows.insert(row).inserted
      if isNew { count += 1 }
    }
    // Earlier changes of the range count too: they were not examined for these rows.
    entries[key]?.revisionSeen = 0
    globalRevisionSeen = 0
    if count >= sweepAt {
      // The table is swept when it has doubled, which spreads the cost.
      filter { isAlive($0) }
      sweepAt = max(1024, count * 2)
    }
  }

  /// Removes and returns the IDs that may have become permanent since the last call.
  mutating func takeResolved() -> [NSManagedObjectID] {
    if entries.isEmpty { return [] }
    let globalRevision = TemporaryIDRange.globalRevision
    guard globalRevision != globalRevisionSeen else { return [] }
    globalRevisionSeen = globalRevision
    var result: [NSManagedObjectID] = []
    for (key, entry) in entries {
      // Read first: what the range learns from here on is reported by the next call.
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
