/// Storage for keys that no longer fit in memory.
package protocol KeySpill: AnyObject {
  /// Adds keys, or replaces the entries of existing ones; in the order of their digests.
  func set(_ entries: [(digest: KeyDigest, entry: KeyEntry)]) throws
  /// The stored entries of these digests; `digests` in ascending order, without repetition.
  func entries(of digests: [KeyDigest]) throws -> [KeyDigest: KeyEntry]
}

/// The keys of the store and of the run so far, with their entries.
///
/// Up to `keysInMemoryMax` keys are held in memory; beyond that, all are moved to the spill together, sorted. A filter
/// of fixed size rules out the spill for most keys, so that a file without duplicates hardly reads from it.
///
/// A run works chunk by chunk: `beginChunk` with the keys that it will look up, then `entry` and `set` in the order of
/// the records, then `endChunk`, or `undoChunk` to restore the state before the chunk.
package final class KeyIndex {
  package let keysInMemoryMax: Int
  /// What each record reads and changes. One struct, because each access to a property of an object is a call.
  // Unchecked: no method calls another one while it changes this, and `load` asks only for entries that its caller has.
  @exclusivity(unchecked) private var current: Current
  private var spill: (any KeySpill)?
  private var filter = KeyFilter()
  private let makeSpill: () throws -> any KeySpill

  /// `makeSpill` is called when the limit is first exceeded. A key takes 43 to 80 bytes, with `keepsOrders` 8 to 16
  /// more.
  package init(keysInMemoryMax: Int, keepsOrders: Bool, makeSpill: @escaping () throws -> any KeySpill) {
    self.keysInMemoryMax = max(1, keysInMemoryMax)
    current = Current(memory: KeyTable(keepsOrders: keepsOrders))
    self.makeSpill = makeSpill
  }

  /// Adds keys of the store before the first chunk. If two entries have the same key, the first counts.
  ///
  /// - Parameter entry: By the index of the digest; not called for `KeyDigest.none`.
  package func load(_ digests: [KeyDigest], _ entry: (Int) -> KeyEntry) throws {
    current.memory.reserveCapacity(digests.count)
    for (position, digest) in digests.enumerated() {
      approach(position, of: digests)
      if digest == .none { continue }
      if spill != nil, filter.mayContain(digest), try spill?.entries(of: [digest]).isEmpty == false { continue }
      current.memory.add(digest, entry(position))
    }
    if current.memory.count > keysInMemoryMax { try spillMemory() }
  }

  // MARK: Chunks

  /// Throws the errors of the spill, as the other methods do.
  package func beginChunk(_ digests: [KeyDigest]) throws {
    current.beginChunk(capacity: digests.count)
    guard let spill else { return }
    var requested: [KeyDigest] = []
    for digest in digests where filter.mayContain(digest) && current.memory.entry(of: digest) == nil {
      requested.append(digest)
    }
    if requested.isEmpty { return }
    requested.sort()
    var unique: [KeyDigest] = []
    for digest in requested where digest != unique.last { unique.append(digest) }
    current.fetched = try spill.entries(of: unique)
  }

  /// Prefetches; called before each of the digests is looked up in order, with the index of the next one.
  @inline(__always)
  package func approach(_ position: Int, of digests: [KeyDigest]) {
    if position % KeyTable.keysTouched == 0 { current.memory.touch(digests, from: position) }
  }

  /// The current entry of the key.
  @inline(__always)
  package func entry(of digest: KeyDigest) -> KeyEntry? { current.entry(of: digest) }

  /// The current entry of the key as it was; from now on a record of `input` has had it.
  @inline(__always)
  package func entry(of digest: KeyDigest, noting input: KeyEntry.InputNumber) -> KeyEntry? {
    current.entry(of: digest, noting: input)
  }

  package func set(_ digest: KeyDigest, _ entry: KeyEntry) { set(digest, entry, before: self.entry(of: digest)) }

  /// Like `set`, for callers that know the result of `entry(of:)`.
  package func set(_ digest: KeyDigest, _ entry: KeyEntry, before: KeyEntry?) {
    current.set(digest, entry, before: before)
  }

  /// Allocates capacity for this many keys, up to the limit for memory.
  package func reserve(_ count: Int) { current.memory.reserve(min(count, keysInMemoryMax)) }

  /// Called when the chunk is saved: what it set stays.
  package func endChunk() throws {
    let changed = current.endChunk()
    if !changed.isEmpty { try spill?.set(changed) }
    // Once per chunk, so that the limit is exceeded by at most one chunk.
    if current.memory.count > keysInMemoryMax { try spillMemory() }
  }

  /// Called when the chunk will be planned again: restores the state at its beginning.
  package func undoChunk() { current.undoChunk() }

  private func spillMemory() throws {
    let target = try spill ?? makeSpill()
    spill = target
    let entries = current.memory.drain()
    try target.set(entries)
    for entry in entries { filter.insert(entry.digest) }
  }
}

extension KeyIndex {
  /// The keys in memory, and those of the current chunk that are in the spill.
  private struct Current {
    var memory: KeyTable
    /// Keys of the current chunk that are in the spill, with their current entries.
    var fetched: [KeyDigest: KeyEntry] = [:]
    private var fetchedChanges: Set<KeyDigest> = []
    /// What this chunk has set, with the previous entries.
    private var journal: [(digest: KeyDigest, before: KeyEntry?)] = []

    init(memory: KeyTable) { self.memory = memory }

    mutating func beginChunk(capacity: Int) {
      journal.removeAll(keepingCapacity: true)
      memory.reserveCapacity(capacity)
      fetched = [:]
      fetchedChanges = []
    }

    @inline(__always)
    func entry(of digest: KeyDigest) -> KeyEntry? {
      if let entry = memory.entry(of: digest) { return entry }
      return fetched.isEmpty ? nil : fetched[digest]
    }

    @inline(__always)
    mutating func entry(of digest: KeyDigest, noting input: KeyEntry.InputNumber) -> KeyEntry? {
      if let entry = memory.entry(of: digest, noting: input) {
        if entry.input != input { journal.append((digest, entry)) }
        return entry
      }
      guard !fetched.isEmpty, let entry = fetched[digest] else { return nil }
      var noted = entry
      noted.input = input
      if entry.input != input { set(digest, noted, before: entry) }
      return entry
    }

    mutating func set(_ digest: KeyDigest, _ entry: KeyEntry, before: KeyEntry?) {
      journal.append((digest, before))
      put(digest, entry)
    }

    private mutating func put(_ digest: KeyDigest, _ entry: KeyEntry) {
      if !fetched.isEmpty, fetched[digest] != nil {
        fetched[digest] = entry
        fetchedChanges.insert(digest)
      } else {
        memory.set(digest, entry)
      }
    }

    /// - Returns: The changed entries of the spill, in the order of their digests.
    mutating func endChunk() -> [(digest: KeyDigest, entry: KeyEntry)] {
      journal.removeAll(keepingCapacity: true)
      if fetchedChanges.isEmpty { return [] }
      let changed = fetchedChanges.sorted().compactMap { digest in fetched[digest].map { (digest: digest, entry: $0) } }
      fetchedChanges = []
      return changed
    }

    mutating func undoChunk() {
      for (digest, before) in journal.reversed() {
        if let before { put(digest, before) } else { _ = memory.remove(digest) }
      }
      journal.removeAll(keepingCapacity: true)
      fetchedChanges = []
    }
  }
}
