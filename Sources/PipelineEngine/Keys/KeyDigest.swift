import CSV

/// The digest of one record's key: 128 bits of XXH3 over the key's values.
///
/// Two different keys share a digest with a probability of 2^-128. Among n keys the probability that any two do is
/// about n² / 2^129: 10^-21 for a billion keys, far below that of a memory fault. So digests are compared instead of
/// keys. They are the same in every run and on every machine. They do not protect against intentional collisions, which
/// would only cost the author of the input their own records.
package struct KeyDigest: Sendable, Hashable, Comparable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// What tables use: the digest is a hash already, and one multiplication mixes it with the seed of the table.
  package func _rawHashValue(seed: Int) -> Int {
    let mixed = (low ^ UInt64(bitPattern: Int64(seed))).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return Int(truncatingIfNeeded: mixed.high ^ mixed.low)
  }

  package static func < (left: KeyDigest, right: KeyDigest) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }
}

/// Digests the values of keys, one `append` per attribute in the key's order, one key after the other.
///
/// Typed values are compared, so `2014-07-14` and `7/14/14` are the same date. Texts are compared byte by byte. An
/// empty field is a value of its own: two records with the same date and without a location have the same key. Each
/// value is preceded by its kind and length, so that different lists of values never have the same bytes.
package struct KeyHasher: Sendable {
  private var hash = WordHash()
  /// Whether every value of this key so far is null: such a key is not compared with others.
  package private(set) var isAllNull = true
  /// Whether a value of this key so far is null.
  package private(set) var hasNull = false

  package init() {}

  package mutating func appendNull() {
    hasNull = true
    hash.append(Kind.null.rawValue << 56)
  }

  package mutating func append(_ integer: Int64) {
    isAllNull = false
    hash.append(Kind.integer.rawValue << 56 | 8)
    hash.append(UInt64(bitPattern: integer))
  }

  /// 0.0 and -0.0 are one value, as in SQL.
  package mutating func append(_ real: Double) {
    isAllNull = false
    hash.append(Kind.real.rawValue << 56 | 8)
    hash.append(real == 0 ? 0 : real.bitPattern)
  }

  package mutating func append(_ text: Span<UInt8>) {
    isAllNull = false
    hash.append(Kind.text.rawValue << 56 | UInt64(text.count))
    hash.append(text)
  }

  package var digest: KeyDigest {
    let digest = hash.digest
    return KeyDigest(high: digest.high, low: digest.low)
  }

  /// Begins the next key.
  package mutating func begin() {
    (isAllNull, hasNull) = (true, false)
    hash.begin()
  }

  private enum Kind: UInt64 {
    case null = 1
    case integer, real, text
  }
}
