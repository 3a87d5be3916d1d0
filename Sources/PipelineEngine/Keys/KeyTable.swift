/// What is known of the entry that bears a key.
package struct KeyEntry: Sendable, Hashable {
  /// The entry's key in the store, or the one that it will have; never 0.
  package var storeKey: Int64
  /// Digest of the values that an update compares; 0 where nothing is compared.
  package var values: UInt64
  /// The value that says which of two is newer; 0 where nothing is compared.
  package var order: Double

  package init(storeKey: Int64, values: UInt64 = 0, order: Double = 0) {
    self.storeKey = storeKey
    self.values = values
    self.order = order
  }
}

/// Digests and their entries, in open-addressing arrays: 24 bytes a slot, 40 where values are kept too; no object per
/// key.
struct KeyTable: Sendable {
  /// A slot is free when its store key is 0.
  private var digests: [KeyDigest]
  private var storeKeys: [Int64]
  /// Empty unless values are kept.
  private var values: [(values: UInt64, order: Double)]
  private let keepsValues: Bool
  private(set) var count = 0
  /// Slots of keys that were taken out again: searches go on past them.
  private var removedCount = 0
  private var mask: Int

  private static let removed = Int64.min

  init(keepsValues: Bool) {
    self.keepsValues = keepsValues
    mask = 1023
    digests = Array(repeating: KeyDigest(high: 0, low: 0), count: mask + 1)
    storeKeys = Array(repeating: 0, count: mask + 1)
    values = keepsValues ? Array(repeating: (0, 0), count: mask + 1) : []
  }

  func entry(of digest: KeyDigest) -> KeyEntry? {
    let slot = slot(of: digest)
    return storeKeys[slot] == 0 ? nil : entry(in: slot)
  }

  mutating func set(_ digest: KeyDigest, _ entry: KeyEntry) {
    // Three quarters full at most keeps the searches short.
    if (count + removedCount + 1) * 4 > (mask + 1) * 3 { grow() }
    let slot = slot(of: digest)
    if storeKeys[slot] == 0 { count += 1 }
    digests[slot] = digest
    put(entry, in: slot)
  }

  /// Takes the key out again; false when it is not here.
  mutating func remove(_ digest: KeyDigest) -> Bool {
    let slot = slot(of: digest)
    if storeKeys[slot] == 0 { return false }
    storeKeys[slot] = Self.removed
    count -= 1
    removedCount += 1
    return true
  }

  /// Every key with its entry, in the order of the digests, leaving the table empty with its room kept.
  mutating func drain() -> [(digest: KeyDigest, entry: KeyEntry)] {
    var entries: [(digest: KeyDigest, entry: KeyEntry)] = []
    entries.reserveCapacity(count)
    for slot in storeKeys.indices where storeKeys[slot] != 0 {
      if storeKeys[slot] != Self.removed { entries.append((digests[slot], entry(in: slot))) }
      storeKeys[slot] = 0
    }
    (count, removedCount) = (0, 0)
    entries.sort { $0.digest < $1.digest }
    return entries
  }

  /// The slot that holds the digest, or the free one where it would go.
  @inline(__always)
  private func slot(of digest: KeyDigest) -> Int {
    var slot = Int(truncatingIfNeeded: digest.low) & mask
    while storeKeys[slot] != 0, digests[slot] != digest || storeKeys[slot] == Self.removed {
      slot = (slot + 1) & mask
    }
    return slot
  }

  private func entry(in slot: Int) -> KeyEntry {
    guard keepsValues else { return KeyEntry(storeKey: storeKeys[slot]) }
    return KeyEntry(storeKey: storeKeys[slot], values: values[slot].values, order: values[slot].order)
  }

  private mutating func put(_ entry: KeyEntry, in slot: Int) {
    storeKeys[slot] = entry.storeKey
    if keepsValues { values[slot] = (entry.values, entry.order) }
  }

  private mutating func grow() {
    let old = self
    // Many that were removed need cleaning up, not room.
    if count * 2 > mask { mask = mask * 2 + 1 }
    digests = Array(repeating: KeyDigest(high: 0, low: 0), count: mask + 1)
    storeKeys = Array(repeating: 0, count: mask + 1)
    values = keepsValues ? Array(repeating: (0, 0), count: mask + 1) : []
    removedCount = 0
    for index in old.storeKeys.indices where old.storeKeys[index] != 0 && old.storeKeys[index] != Self.removed {
      let slot = slot(of: old.digests[index])
      digests[slot] = old.digests[index]
      put(old.entry(in: index), in: slot)
    }
  }
}
