/// Digests and the record that first bore each, in open-addressing arrays: 24 bytes a slot, no object per key.
struct KeyTable: Sendable {
  /// A slot is free when its record is 0; records count from 1.
  private var digests: [KeyDigest]
  private var records: [UInt64]
  private(set) var count = 0
  private var mask: Int

  /// A slot whose key was taken out again: searches go on past it.
  private static let removed = UInt64.max

  init() {
    mask = 1023
    digests = Array(repeating: KeyDigest(high: 0, low: 0), count: mask + 1)
    records = Array(repeating: 0, count: mask + 1)
  }

  /// Notes `record` as the first with `digest`; the earlier record when there is one.
  mutating func insert(_ digest: KeyDigest, record: UInt64) -> UInt64? {
    // Three quarters full at most keeps the searches short.
    if (count + 1) * 4 > (mask + 1) * 3 { grow() }
    let slot = slot(of: digest)
    if records[slot] != 0 { return records[slot] }
    digests[slot] = digest
    records[slot] = record
    count += 1
    return nil
  }

  func record(of digest: KeyDigest) -> UInt64? {
    let record = records[slot(of: digest)]
    return record == 0 ? nil : record
  }

  /// Takes the key out again; false when it is not here. The slot stays taken until the next growth.
  mutating func remove(_ digest: KeyDigest) -> Bool {
    let slot = slot(of: digest)
    if records[slot] == 0 { return false }
    records[slot] = Self.removed
    return true
  }

  /// Every key with its record, in the order of the digests, leaving the table empty with its room kept.
  mutating func drain() -> [(digest: KeyDigest, record: UInt64)] {
    var entries: [(digest: KeyDigest, record: UInt64)] = []
    entries.reserveCapacity(count)
    for slot in records.indices where records[slot] != 0 {
      if records[slot] != Self.removed { entries.append((digests[slot], records[slot])) }
      records[slot] = 0
    }
    count = 0
    entries.sort { $0.digest < $1.digest }
    return entries
  }

  /// The slot that holds the digest, or the free one where it would go.
  @inline(__always)
  private func slot(of digest: KeyDigest) -> Int {
    var slot = Int(truncatingIfNeeded: digest.low) & mask
    while records[slot] != 0, digests[slot] != digest || records[slot] == Self.removed { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    let oldDigests = digests
    let oldRecords = records
    mask = mask * 2 + 1
    digests = Array(repeating: KeyDigest(high: 0, low: 0), count: mask + 1)
    records = Array(repeating: 0, count: mask + 1)
    count = 0
    for index in oldRecords.indices where oldRecords[index] != 0 && oldRecords[index] != Self.removed {
      let slot = slot(of: oldDigests[index])
      digests[slot] = oldDigests[index]
      records[slot] = oldRecords[index]
      count += 1
    }
  }
}
