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

/// Digests and their entries: a list of them, and a table of 8 bytes a slot that says where in the list a digest is.
///
/// Nearly every question about a new key is answered by the table alone, which is small enough to stay close to the
/// processor; no object per key.
struct KeyTable: Sendable {
  private struct Record: Sendable {
    var digest: KeyDigest
    /// 0 once the key was taken out again.
    var storeKey: Int64
    var values: UInt64
  }

  /// The digest's tag in the upper half, and in the lower one its place in the list, plus 1: 0 is a free slot.
  private var slots: [UInt64]
  private var records: [Record] = []
  /// Beside the records; empty unless orders are kept.
  private var orders: [Double] = []
  private let keepsOrders: Bool
  private(set) var count = 0
  /// Slots of keys that were taken out again: searches go on past them.
  private var removedCount = 0
  /// Sum of what `touch` has seen, which keeps the compiler from leaving it out.
  private var touched: UInt64 = 0

  private static let removed = UInt64(UInt32.max)
  private static let slotsMin = 1024

  init(keepsOrders: Bool) {
    self.keepsOrders = keepsOrders
    slots = Array(repeating: 0, count: Self.slotsMin)
  }

  func entry(of digest: KeyDigest) -> KeyEntry? {
    place(in: slots[slot(of: digest)]).map(entry(at:))
  }

  mutating func set(_ digest: KeyDigest, _ entry: KeyEntry) {
    let slot = slot(of: digest)
    if let place = place(in: slots[slot]) {
      records[place].storeKey = entry.storeKey
      records[place].values = entry.values
      if keepsOrders { orders[place] = entry.order }
    } else {
      append(digest, entry, at: slot)
    }
  }

  /// Notes the entry unless the key is there already.
  mutating func add(_ digest: KeyDigest, _ entry: @autoclosure () -> KeyEntry) {
    let slot = slot(of: digest)
    if slots[slot] == 0 { append(digest, entry(), at: slot) }
  }

  /// Takes the key out again; false when it is not here.
  mutating func remove(_ digest: KeyDigest) -> Bool {
    let slot = slot(of: digest)
    guard let place = place(in: slots[slot]) else { return false }
    slots[slot] = Self.removed
    if place == records.count - 1 {
      records.removeLast()
      if keepsOrders { orders.removeLast() }
    } else {
      records[place].storeKey = 0
    }
    count -= 1
    removedCount += 1
    return true
  }

  /// How many keys are touched at a time: what was fetched must still be close when it is asked for.
  static let keysTouched = 64

  /// Brings the slots of some keys close to the processor, beginning with the one at `position`, then the records of
  /// those that are there: one after the other, each would wait for the memory by itself.
  mutating func touch(_ digests: [KeyDigest], from position: Int) {
    let group = position..<min(position + Self.keysTouched, digests.count)
    var sum: UInt64 = 0
    for index in group { sum &+= slots[home(of: Self.tag(of: digests[index]))] }
    for index in group {
      let tag = Self.tag(of: digests[index])
      var slot = home(of: tag)
      while slots[slot] != 0, slots[slot] >> 32 != tag { slot = slot + 1 == slots.count ? 0 : slot + 1 }
      if let place = place(in: slots[slot]) { sum &+= records[place].values }
    }
    touched &+= sum
  }

  /// Makes room for so many more keys.
  mutating func makeRoom(_ more: Int) { if !hasRoom(more) { grow(more) } }

  /// Three quarters full at most keeps the searches short.
  private func hasRoom(_ more: Int) -> Bool { (count + removedCount + more) * 4 <= slots.count * 3 }

  /// Makes room for so many keys in all, and for half as many more, which an import may well bring: a list that grows is copied.
  mutating func reserve(_ total: Int) {
    makeRoom(max(0, total - count))
    records.reserveCapacity(total * 3 / 2)
    if keepsOrders { orders.reserveCapacity(total * 3 / 2) }
  }

  /// Every key with its entry, in the order of the digests, leaving the table empty with its room kept.
  mutating func drain() -> [(digest: KeyDigest, entry: KeyEntry)] {
    var entries: [(digest: KeyDigest, entry: KeyEntry)] = []
    entries.reserveCapacity(count)
    for place in records.indices where records[place].storeKey != 0 {
      entries.append((records[place].digest, entry(at: place)))
    }
    for slot in slots.indices { slots[slot] = 0 }
    records.removeAll(keepingCapacity: true)
    orders.removeAll(keepingCapacity: true)
    (count, removedCount) = (0, 0)
    entries.sort { $0.digest < $1.digest }
    return entries
  }

  // MARK: Slots

  @inline(__always)
  private static func tag(of digest: KeyDigest) -> UInt64 { digest.high >> 32 }

  /// Where the search for a tag begins: its share of all tags, for a table of any length.
  @inline(__always)
  private func home(of tag: UInt64) -> Int { Int(truncatingIfNeeded: (tag &* UInt64(slots.count)) >> 32) }

  /// Where in the list the key of a slot is; nil for a slot without one.
  @inline(__always)
  private func place(in slot: UInt64) -> Int? {
    slot == 0 || slot == Self.removed ? nil : Int(slot & 0xFFFF_FFFF) - 1
  }

  /// The slot that holds the digest, or the free one where it would go.
  @inline(__always)
  private func slot(of digest: KeyDigest) -> Int {
    let tag = Self.tag(of: digest)
    var slot = home(of: tag)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == tag, let place = place(in: slots[slot]), records[place].digest == digest { break }
      slot = slot + 1 == slots.count ? 0 : slot + 1
    }
    return slot
  }

  private func entry(at place: Int) -> KeyEntry {
    KeyEntry(
      storeKey: records[place].storeKey, values: records[place].values, order: keepsOrders ? orders[place] : 0)
  }

  private mutating func append(_ digest: KeyDigest, _ entry: KeyEntry, at slot: Int) {
    var slot = slot
    if !hasRoom(1) {
      grow(1)
      slot = self.slot(of: digest)
    }
    records.append(Record(digest: digest, storeKey: entry.storeKey, values: entry.values))
    if keepsOrders { orders.append(entry.order) }
    slots[slot] = Self.tag(of: digest) << 32 | UInt64(records.count)
    count += 1
  }

  /// To a half more, so that a table that has just grown is half full.
  private mutating func grow(_ more: Int) {
    let old = slots
    slots = Array(repeating: 0, count: max(Self.slotsMin, (count + more) * 2))
    removedCount = 0
    // In the order of the slots, which is nearly that of the new ones: none is far from the one before.
    for value in old where value != 0 && value != Self.removed {
      var slot = home(of: value >> 32)
      while slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
      slots[slot] = value
    }
  }
}
