/// The entries of the store that are equal to one record, counted: those from before the current input, and what the
/// input has made of them so far. Kept in the form of a key's entry.
struct EqualEntries {
  private var stored: Int
  /// Records of the input that equal one of the stored entries, each a different one.
  private var matched: Int
  /// Records of the input that became new entries.
  private var inserted: Int
  /// Entries that an earlier content of the input had inserted and that are deleted: as many records take their place.
  var replaced = 0
  private let input: KeyEntry.InputNumber

  /// - Parameters:
  ///   - entry: What `keyEntry` returned last; nil for a record that the store does not have.
  ///   - input: The current input; what an earlier one has inserted counts as stored.
  init(_ entry: KeyEntry?, input: KeyEntry.InputNumber) {
    self.input = input
    stored = entry.map { Int($0.storeKey) - 1 } ?? 0
    matched = Int((entry?.values ?? 0) >> 32)
    inserted = Int((entry?.values ?? 0) & 0xFFFF_FFFF)
    if entry?.input != input {
      stored += inserted
      (matched, inserted) = (0, 0)
    }
  }

  /// Counts one more record of the input.
  ///
  /// - Returns: Whether it is one of the stored entries; otherwise it becomes a new one.
  mutating func match() -> Bool {
    if replaced > 0 {
      replaced -= 1
      inserted += 1
      return false
    }
    if matched < stored {
      matched += 1
      return true
    }
    inserted += 1
    return false
  }

  /// Counts one more entry of the store.
  mutating func addStored() { stored += 1 }

  var keyEntry: KeyEntry {
    KeyEntry(
      storeKey: Int64(stored) + 1, values: UInt64(matched) << 32 | UInt64(inserted), order: Double(replaced),
      input: input)
  }
}

extension KeyIndex {
  /// Counts entries of the store by their whole records, before the first chunk.
  ///
  /// - Parameter isReplaced: Whether the entry at an index is deleted to be replaced.
  func count(_ digests: [KeyDigest], isReplaced: (Int) -> Bool) throws {
    try beginChunk(digests)
    for (position, digest) in digests.enumerated() {
      approach(position, of: digests)
      let known = entry(of: digest)
      var equal = EqualEntries(known, input: 0)
      equal.replaced = Int(known?.order ?? 0)
      if isReplaced(position) { equal.replaced += 1 } else { equal.addStored() }
      set(digest, equal.keyEntry, before: known)
    }
    try endChunk()
  }
}
