/// A place for keys that no longer fit in memory.
package protocol KeySpill: AnyObject {
  /// Adds keys, or gives those that are here another entry; in the order of their digests.
  func set(_ entries: [(digest: KeyDigest, entry: KeyEntry)]) throws
  /// The entries of those digests that are here; `digests` in ascending order, without repetition.
  func entries(of digests: [KeyDigest]) throws -> [KeyDigest: KeyEntry]
}

/// The keys of the store and of the run so far, and the entries that bear them.
///
/// Up to `keysInMemoryMax` keys are held in memory; when they are full all move to the spill together, sorted, and
/// memory starts anew. A filter of fixed size answers for most keys that they are not in the spill, so that a file
/// without duplicates hardly reads from it.
///
/// A run goes chunk by chunk: `beginChunk` with the keys it will ask for, then `entry` and `set` in the order of the
/// records, then `endChunk`, or `undoChunk` as if none of it had been.
package final class KeyIndex {
  package let keysInMemoryMax: Int
  private var memory: KeyTable
  private var spill: (any KeySpill)?
  private var filter = KeyFilter()
  private let makeSpill: () throws -> any KeySpill
  /// Keys of the chunk at hand that lie in the spill, as they are now.
  private var fetched: [KeyDigest: KeyEntry] = [:]
  private var fetchedChanges: Set<KeyDigest> = []
  /// What this chunk has set, with what was there before.
  private var journal: [(digest: KeyDigest, before: KeyEntry?)] = []

  /// `makeSpill` is called when the bound is first exceeded. A key takes 43 to 80 bytes, with `keepsOrders` 8 to 16 more.
  package init(keysInMemoryMax: Int, keepsOrders: Bool, makeSpill: @escaping () throws -> any KeySpill) {
    self.keysInMemoryMax = max(1, keysInMemoryMax)
    memory = KeyTable(keepsOrders: keepsOrders)
    self.makeSpill = makeSpill
  }

  package var hasSpilled: Bool { spill != nil }

  /// Adds keys of the store before the first chunk. Of two entries with one key the first counts.
  ///
  /// - Parameter entry: By the position of the digest; those that are `KeyDigest.none` are passed over.
  package func load(_ digests: [KeyDigest], _ entry: (Int) -> KeyEntry) throws {
    memory.makeRoom(digests.count)
    for (position, digest) in digests.enumerated() {
      approach(position, of: digests)
      if digest == .none { continue }
      if spill != nil, filter.mayContain(digest), try spill?.entries(of: [digest]).isEmpty == false { continue }
      memory.add(digest, entry(position))
    }
    if memory.count > keysInMemoryMax { try spillMemory() }
  }

  // MARK: Chunks

  /// Throws what the spill throws, as the other methods do.
  package func beginChunk(_ digests: [KeyDigest]) throws {
    journal.removeAll(keepingCapacity: true)
    memory.makeRoom(digests.count)
    fetched = [:]
    fetchedChanges = []
    guard let spill else { return }
    var wanted: [KeyDigest] = []
    for digest in digests where filter.mayContain(digest) && memory.entry(of: digest) == nil { wanted.append(digest) }
    if wanted.isEmpty { return }
    wanted.sort()
    var unique: [KeyDigest] = []
    for digest in wanted where digest != unique.last { unique.append(digest) }
    fetched = try spill.entries(of: unique)
  }

  /// Tells that the digests are asked for one by one, and that it is the turn of the one at `position`.
  @inline(__always)
  package func approach(_ position: Int, of digests: [KeyDigest]) {
    if position % KeyTable.keysTouched == 0 { memory.touch(digests, from: position) }
  }

  /// The entry that bears the key, as of now.
  @inline(__always)
  package func entry(of digest: KeyDigest) -> KeyEntry? {
    if let entry = memory.entry(of: digest) { return entry }
    return fetched.isEmpty ? nil : fetched[digest]
  }

  package func set(_ digest: KeyDigest, _ entry: KeyEntry) { set(digest, entry, before: self.entry(of: digest)) }

  /// As `set`, for one who knows what `entry(of:)` answers.
  package func set(_ digest: KeyDigest, _ entry: KeyEntry, before: KeyEntry?) {
    journal.append((digest, before))
    put(digest, entry)
  }

  /// Makes room for so many keys, as far as they may be held in memory.
  package func reserve(_ count: Int) { memory.reserve(min(count, keysInMemoryMax)) }

  private func put(_ digest: KeyDigest, _ entry: KeyEntry) {
    if !fetched.isEmpty, fetched[digest] != nil {
      fetched[digest] = entry
      fetchedChanges.insert(digest)
    } else {
      memory.set(digest, entry)
    }
  }

  /// The chunk is saved: what it set stays.
  package func endChunk() throws {
    journal.removeAll(keepingCapacity: true)
    if !fetchedChanges.isEmpty {
      let changed = fetchedChanges.sorted().compactMap { digest in fetched[digest].map { (digest, $0) } }
      try spill?.set(changed)
      fetchedChanges = []
    }
    // Once per chunk, so that the bound is exceeded by a chunk at most.
    if memory.count > keysInMemoryMax { try spillMemory() }
  }

  /// The chunk will be looked at again: everything is as it was at its beginning.
  package func undoChunk() {
    for (digest, before) in journal.reversed() {
      if let before { put(digest, before) } else { _ = memory.remove(digest) }
    }
    journal.removeAll(keepingCapacity: true)
    fetchedChanges = []
  }

  private func spillMemory() throws {
    let target = try spill ?? makeSpill()
    spill = target
    let entries = memory.drain()
    try target.set(entries)
    for entry in entries { filter.insert(entry.digest) }
  }
}
