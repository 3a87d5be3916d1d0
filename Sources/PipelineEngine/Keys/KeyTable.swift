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

/// Digests and their entries in one array with open addressing: 32 bytes a slot, 8 more where orders are kept; no
/// object per key.
struct KeyTable: Sendable {
  /// Free when its store key is 0.
  private struct Slot: Sendable {
    var digest = KeyDigest(high: 0, low: 0)
    var storeKey: Int64 = 0
    var values: UInt64 = 0
  }

  /// A key lies in one line of the processor's cache with all that is asked about it.
  private var slots: [Slot]
  /// Empty unless orders are kept.
  private var orders: [Double]
  private let keepsOrders: Bool
  private(set) var count = 0
  /// Slots of keys that were taken out again: searches go on past them.
  private var removedCount = 0
  /// Sum of what `touch` has seen, which keeps the compiler from leaving it out.
  private var touched: UInt64 = 0

  private static let removed = Int64.min
  private static let slotsMin = 1024

  init(keepsOrders: Bool) {
    self.keepsOrders = keepsOrders
    slots = Array(repeating: Slot(), count: Self.slotsMin)
    orders = keepsOrders ? Array(repeating: 0, count: Self.slotsMin) : []
  }

  func entry(of digest: KeyDigest) -> KeyEntry? {
    let slot = slot(of: digest)
    return slots[slot].storeKey == 0 ? nil : entry(in: slot)
  }

  mutating func set(_ digest: KeyDigest, _ entry: KeyEntry) {
    makeRoom(1)
    let slot = slot(of: digest)
    if slots[slot].storeKey == 0 { count += 1 }
    put(digest, entry, in: slot)
  }

  /// Notes the entry unless the key is there already.
  mutating func add(_ digest: KeyDigest, _ entry: KeyEntry) {
    makeRoom(1)
    let slot = slot(of: digest)
    guard slots[slot].storeKey == 0 else { return }
    count += 1
    put(digest, entry, in: slot)
  }

  /// Takes the key out again; false when it is not here.
  mutating func remove(_ digest: KeyDigest) -> Bool {
    let slot = slot(of: digest)
    if slots[slot].storeKey == 0 { return false }
    slots[slot].storeKey = Self.removed
    count -= 1
    removedCount += 1
    return true
  }

  /// Brings the slots of many keys close to the processor: one after the other, each would wait for the memory by itself.
  mutating func touch(_ digests: [KeyDigest]) {
    var sum: UInt64 = 0
    for digest in digests { sum &+= slots[home(of: digest)].digest.low }
    touched &+= sum
  }

  /// Makes room for so many more keys.
  mutating func makeRoom(_ more: Int) {
    // Three quarters full at most keeps the searches short.
    if (count + removedCount + more) * 4 > slots.count * 3 { grow(more) }
  }

  /// Every key with its entry, in the order of the digests, leaving the table empty with its room kept.
  mutating func drain() -> [(digest: KeyDigest, entry: KeyEntry)] {
    var entries: [(digest: KeyDigest, entry: KeyEntry)] = []
    entries.reserveCapacity(count)
    for slot in slots.indices where slots[slot].storeKey != 0 {
      if slots[slot].storeKey != Self.removed { entries.append((slots[slot].digest, entry(in: slot))) }
      slots[slot].storeKey = 0
    }
    (count, removedCount) = (0, 0)
    entries.sort { $0.digest < $1.digest }
    return entries
  }

  /// Where the search for a digest begins: its place among all digests, for a table of any length.
  @inline(__always)
  private func home(of digest: KeyDigest) -> Int {
    Int(truncatingIfNeeded: digest.low.multipliedFullWidth(by: UInt64(slots.count)).high)
  }

  /// The slot that holds the digest, or the free one where it would go.
  @inline(__always)
  private func slot(of digest: KeyDigest) -> Int {
    var slot = home(of: digest)
    while slots[slot].storeKey != 0, slots[slot].digest != digest || slots[slot].storeKey == Self.removed {
      slot = slot + 1 == slots.count ? 0 : slot + 1
    }
    return slot
  }

  private func entry(in slot: Int) -> KeyEntry {
    KeyEntry(
      storeKey: slots[slot].storeKey, values: slots[slot].values, order: keepsOrders ? orders[slot] : 0)
  }

  private mutating func put(_ digest: KeyDigest, _ entry: KeyEntry, in slot: Int) {
    slots[slot] = Slot(digest: digest, storeKey: entry.storeKey, values: entry.values)
    if keepsOrders { orders[slot] = entry.order }
  }

  /// To a half more, so that a table that has just grown is half full.
  private mutating func grow(_ more: Int) {
    let old = self
    // Many that were removed need cleaning up, not room.
    let length = max(Self.slotsMin, (count + more) * 2)
    slots = Array(repeating: Slot(), count: length)
    orders = keepsOrders ? Array(repeating: 0, count: length) : []
    removedCount = 0
    // In the order of the slots, which is nearly that of the new ones: no slot is far from the one before.
    for index in old.slots.indices where old.slots[index].storeKey != 0 && old.slots[index].storeKey != Self.removed {
      let digest = old.slots[index].digest
      put(digest, old.entry(in: index), in: slot(of: digest))
    }
  }
}
