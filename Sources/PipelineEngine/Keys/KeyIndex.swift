/// A place for keys that no longer fit in memory.
package protocol KeySpill: AnyObject {
  /// Adds keys that are not here yet, in the order of their digests, with the record that first bore each.
  func insert(_ entries: [(digest: KeyDigest, record: UInt64)]) throws
  /// The first record of each digest that is here; `digests` in ascending order, without repetition.
  func records(of digests: [KeyDigest]) throws -> [KeyDigest: UInt64]
  /// Takes a key out again, if it is here.
  func remove(_ digest: KeyDigest) throws
}

/// The keys of a run so far: tells which records bear a key that an earlier record had. The first record wins.
///
/// Up to `keysInMemoryMax` keys are held in memory; when they are full all move to the spill together, sorted, and
/// memory starts anew. A filter of fixed size answers for most keys that they are not in the spill, so that a file
/// without duplicates hardly reads from it.
package struct KeyIndex: ~Copyable {
  /// Most keys in memory: 24 bytes each, at 3/8 to 3/4 filling.
  package let keysInMemoryMax: Int
  private var memory = KeyTable()
  private var spill: (any KeySpill)?
  private var filter = KeyFilter()
  private let makeSpill: () throws -> any KeySpill

  /// `makeSpill` is called when the bound is first exceeded.
  package init(keysInMemoryMax: Int = 500_000, makeSpill: @escaping () throws -> any KeySpill) {
    self.keysInMemoryMax = max(1, keysInMemoryMax)
    self.makeSpill = makeSpill
  }

  package var hasSpilled: Bool { spill != nil }

  /// For each key of a chunk, in the order of the records: the earlier record with the same key, or `nil` for a new
  /// key, which is then known. Throws what the spill throws.
  package mutating func insert(_ keys: [(digest: KeyDigest, record: UInt64)]) throws -> [UInt64?] {
    let spilled = try recordsInSpill(keys)
    var earlier: [UInt64?] = []
    earlier.reserveCapacity(keys.count)
    for key in keys {
      if let record = spilled[key.digest] {
        earlier.append(record)
      } else {
        earlier.append(memory.insert(key.digest, record: key.record))
      }
    }
    // Once per chunk, so that the bound is exceeded by a chunk at most.
    if memory.count > keysInMemoryMax { try spillMemory() }
    return earlier
  }

  /// Takes a key back because its record was not stored after all: a later record may have it.
  package mutating func remove(_ digest: KeyDigest) throws {
    if !memory.remove(digest) { try spill?.remove(digest) }
  }

  private func recordsInSpill(_ keys: [(digest: KeyDigest, record: UInt64)]) throws -> [KeyDigest: UInt64] {
    guard let spill else { return [:] }
    var wanted: [KeyDigest] = []
    for key in keys where filter.mayContain(key.digest) && memory.record(of: key.digest) == nil {
      wanted.append(key.digest)
    }
    if wanted.isEmpty { return [:] }
    wanted.sort()
    var unique: [KeyDigest] = []
    for digest in wanted where digest != unique.last { unique.append(digest) }
    return try spill.records(of: unique)
  }

  private mutating func spillMemory() throws {
    let target = try spill ?? makeSpill()
    spill = target
    let entries = memory.drain()
    try target.insert(entries)
    for entry in entries { filter.insert(entry.digest) }
  }
}

/// Bloom filter of a fixed 8 MB: 64 million bits, four per key. It lets through one absent key in 500 at 5 million
/// keys and one in 30 at 10 million; far beyond that it lets most through, which costs time and nothing else.
private struct KeyFilter {
  private static let bits = 1 << 26
  private static let bitsPerKey = 4
  private var words: [UInt64] = []

  mutating func insert(_ digest: KeyDigest) {
    if words.isEmpty { words = Array(repeating: 0, count: Self.bits / 64) }
    for step in 0..<Self.bitsPerKey {
      let position = Self.position(digest, step)
      words[position >> 6] |= 1 << UInt64(position & 63)
    }
  }

  func mayContain(_ digest: KeyDigest) -> Bool {
    if words.isEmpty { return false }
    for step in 0..<Self.bitsPerKey {
      let position = Self.position(digest, step)
      if words[position >> 6] & (1 << UInt64(position & 63)) == 0 { return false }
    }
    return true
  }

  /// Two independent hashes make as many as are wanted; the digest's halves are such.
  @inline(__always)
  private static func position(_ digest: KeyDigest, _ step: Int) -> Int {
    Int((digest.high &+ UInt64(step) &* (digest.low | 1)) & UInt64(bits - 1))
  }
}
