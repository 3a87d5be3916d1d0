/// Bloom filter of a fixed 8 MB: 64 million bits, four per key. Its rate of false positives is 1 in 500 at 5 million
/// keys and 1 in 30 at 10 million; far beyond that it passes most keys, which only costs time.
struct KeyFilter {
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

  /// Two independent hashes give any number of hashes; the digest's halves are independent.
  @inline(__always)
  private static func position(_ digest: KeyDigest, _ step: Int) -> Int {
    Int((digest.high &+ UInt64(step) &* (digest.low | 1)) & UInt64(bits - 1))
  }
}
