/// What is known about the entry with a key.
package struct KeyEntry: Sendable, Hashable {
  /// The entry's primary key in the store, present or future; never 0.
  package var storeKey: Int64
  /// Digest of the values that an update compares; 0 where nothing is compared.
  package var values: UInt64
  /// The value that decides which of two is newer; 0 where nothing is compared.
  package var order: Double
  /// The last input that had a record with the key; 0 where none had.
  package var input: InputNumber

  /// The greatest primary key of a stored entry. Those above are for entries that have none yet.
  static let storeKeyMax: Int64 = 1 << 39

  /// - Throws: ``KeyNumberError`` for a key that a table has no room for.
  static func checkStoreKey(_ key: Int64) throws(KeyNumberError) {
    if key > storeKeyMax { throw KeyNumberError(key: key) }
  }

  /// The digest of values that are not known: a record that states only some of them has set these.
  static let unknownValues = UInt64.max

  package init(storeKey: Int64, values: UInt64 = 0, order: Double = 0, input: InputNumber = 0) {
    self.storeKey = storeKey
    self.values = values
    self.order = order
    self.input = input
  }

  /// The lower 24 bits of an input's number in the ledger: it distinguishes the inputs of one run.
  package typealias InputNumber = UInt32
}

/// A primary key that is too great to be kept with the digest of its entry: another program has given it.
struct KeyNumberError: Error, CustomStringConvertible {
  let key: Int64

  var description: String {
    "the store has an object with the number \(key), and an import by key or with links knows numbers up to "
      + "\(KeyEntry.storeKeyMax) only. Export its entries and import them into a new store, which numbers them anew"
  }
}

/// Digests and their entries: a list, and a hash table of 8 bytes per slot with the indices of the digests in the list.
///
/// Nearly every lookup of a new key is answered by the hash table alone, which is small enough for the processor's
/// caches; no object per key.
struct KeyTable: Sendable {
  private struct Record: Sendable {
    var digest: KeyDigest
    /// The primary key in the upper 40 bits, the number of the input in the lower 24: a store has far fewer than 2^40
    /// entries.
    private var keyAndInput: UInt64
    var values: UInt64

    init(_ digest: KeyDigest, _ entry: KeyEntry) {
      self.digest = digest
      keyAndInput = 0
      values = entry.values
      set(entry)
    }

    /// 0 once the key was removed.
    var storeKey: Int64 { Int64(keyAndInput >> 24) }
    var input: KeyEntry.InputNumber { KeyEntry.InputNumber(keyAndInput & 0xFF_FFFF) }

    mutating func set(_ entry: KeyEntry) {
      keyAndInput = UInt64(bitPattern: entry.storeKey) << 24 | UInt64(entry.input & 0xFF_FFFF)
      values = entry.values
    }

    mutating func note(_ input: KeyEntry.InputNumber) {
      keyAndInput = keyAndInput & ~0xFF_FFFF | UInt64(input & 0xFF_FFFF)
    }

    mutating func remove() { keyAndInput = 0 }
  }

  /// The digest's tag in the upper half, and its index in the list plus 1 in the lower half: 0 is a free slot.
  private var slots: [UInt64]
  private var records: [Record] = []
  /// In the order of the records; empty unless orders are kept.
  private var orders: [Double] = []
  private let keepsOrders: Bool
  private(set) var count = 0
  /// Slots of removed keys: searches continue past them.
  private var removedCount = 0
  /// Sum of what `touch` has read, so that the compiler does not remove the reads.
  private var touched: UInt64 = 0

  private static let removed = UInt64(UInt32.max)
  private static let slotsMin = 1024

  init(keepsOrders: Bool) {
    self.keepsOrders = keepsOrders
    slots = Array(repeating: 0, count: Self.slotsMin)
  }

  func entry(of digest: KeyDigest) -> KeyEntry? {
    recordIndex(in: slots[slot(of: digest)]).map(entry(at:))
  }

  /// The entry of the digest as it was; from now on it has `input`.
  @inline(__always)
  mutating func entry(of digest: KeyDigest, noting input: KeyEntry.InputNumber) -> KeyEntry? {
    guard let index = recordIndex(in: slots[slot(of: digest)]) else { return nil }
    let entry = entry(at: index)
    if entry.input != input { records[index].note(input) }
    return entry
  }

  mutating func set(_ digest: KeyDigest, _ entry: KeyEntry) {
    let slot = slot(of: digest)
    if let index = recordIndex(in: slots[slot]) {
      records[index].set(entry)
      if keepsOrders { orders[index] = entry.order }
    } else {
      append(digest, entry, at: slot)
    }
  }

  /// Adds the entry unless the key exists.
  mutating func add(_ digest: KeyDigest, _ entry: @autoclosure () -> KeyEntry) {
    let slot = slot(of: digest)
    if slots[slot] == 0 { append(digest, entry(), at: slot) }
  }

  /// Removes the key; false when it does not exist.
  mutating func remove(_ digest: KeyDigest) -> Bool {
    let slot = slot(of: digest)
    guard let index = recordIndex(in: slots[slot]) else { return false }
    slots[slot] = Self.removed
    if index == records.count - 1 {
      records.removeLast()
      if keepsOrders { orders.removeLast() }
    } else {
      records[index].remove()
    }
    count -= 1
    removedCount += 1
    return true
  }

  /// How many keys are touched at a time: what was fetched must still be in the cache when it is looked up.
  static let keysTouched = 64

  /// Loads the slots of some keys into the cache, beginning with the one at `position`, then the records of those that
  /// exist. Looked up one after the other, each would wait for the memory by itself.
  mutating func touch(_ digests: [KeyDigest], from position: Int) {
    let group = position..<min(position + Self.keysTouched, digests.count)
    var sum: UInt64 = 0
    for index in group { sum &+= slots[firstSlot(of: Self.tag(of: digests[index]))] }
    for index in group {
      let tag = Self.tag(of: digests[index])
      var slot = firstSlot(of: tag)
      while slots[slot] != 0, slots[slot] >> 32 != tag { slot = slot + 1 == slots.count ? 0 : slot + 1 }
      if let index = recordIndex(in: slots[slot]) { sum &+= records[index].values }
    }
    touched &+= sum
  }

  /// Allocates capacity for this many additional keys.
  mutating func reserveCapacity(_ more: Int) { if !hasCapacity(more) { grow(more) } }

  /// At most three quarters full, to keep searches short.
  private func hasCapacity(_ more: Int) -> Bool { (count + removedCount + more) * 4 <= slots.count * 3 }

  /// Allocates capacity for this many keys in all, plus half as many for the import: growing a list copies it.
  mutating func reserve(_ total: Int) {
    reserveCapacity(max(0, total - count))
    records.reserveCapacity(total * 3 / 2)
    if keepsOrders { orders.reserveCapacity(total * 3 / 2) }
  }

  /// Every key with its entry, in the order of the digests; empties the table and keeps its capacity.
  mutating func drain() -> [(digest: KeyDigest, entry: KeyEntry)] {
    var entries: [(digest: KeyDigest, entry: KeyEntry)] = []
    entries.reserveCapacity(count)
    for index in records.indices where records[index].storeKey != 0 {
      entries.append((records[index].digest, entry(at: index)))
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

  /// The slot where the search for a tag begins: proportional to the tag, for a table of any length.
  @inline(__always)
  private func firstSlot(of tag: UInt64) -> Int { Int(truncatingIfNeeded: (tag &* UInt64(slots.count)) >> 32) }

  /// The index in the list of a slot's key; nil for a slot without one.
  @inline(__always)
  private func recordIndex(in slot: UInt64) -> Int? {
    slot == 0 || slot == Self.removed ? nil : Int(slot & 0xFFFF_FFFF) - 1
  }

  /// The slot that holds the digest, or the free one where it would go.
  @inline(__always)
  private func slot(of digest: KeyDigest) -> Int {
    let tag = Self.tag(of: digest)
    var slot = firstSlot(of: tag)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == tag, let index = recordIndex(in: slots[slot]), records[index].digest == digest { break }
      slot = slot + 1 == slots.count ? 0 : slot + 1
    }
    return slot
  }

  private func entry(at index: Int) -> KeyEntry {
    KeyEntry(
      storeKey: records[index].storeKey, values: records[index].values, order: keepsOrders ? orders[index] : 0,
      input: records[index].input)
  }

  private mutating func append(_ digest: KeyDigest, _ entry: KeyEntry, at slot: Int) {
    var slot = slot
    if !hasCapacity(1) {
      grow(1)
      slot = self.slot(of: digest)
    }
    records.append(Record(digest, entry))
    if keepsOrders { orders.append(entry.order) }
    slots[slot] = Self.tag(of: digest) << 32 | UInt64(records.count)
    count += 1
  }

  /// By a half, so that a table that has just grown is half full.
  private mutating func grow(_ more: Int) {
    let old = slots
    slots = Array(repeating: 0, count: max(Self.slotsMin, (count + more) * 2))
    removedCount = 0
    // In the order of the old slots, which is nearly that of the new ones: consecutive writes are close to each other.
    for value in old where value != 0 && value != Self.removed {
      var slot = firstSlot(of: value >> 32)
      while slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
      slots[slot] = value
    }
  }
}
