import CSV

/// The fingerprint of one record's key: 128 bits of XXH3 over the key's values.
///
/// Two different keys share a digest with a chance of 2^-128. Among n keys the chance that any two do is about
/// n² / 2^129: 10^-21 for a billion keys, far below that of a memory fault. So digests are compared in place of keys.
/// They are the same in every run and on every machine. They are no defence against someone who builds collisions
/// on purpose, which would only cost him his own records.
public struct KeyDigest: Sendable, Hashable, Comparable {
  public var high: UInt64
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public static func < (left: KeyDigest, right: KeyDigest) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }
}

/// Digests the values of keys, one `append` per attribute in the key's order, one key after the other.
///
/// Values count as typed, so `2014-07-14` and `7/14/14` are the same date. Texts count byte for byte. An empty field
/// is a value of its own: two records with the same date and no place have the same key. Each value is preceded by
/// its kind and length, so that no two lists of values make the same bytes.
public struct KeyHasher: Sendable {
  private var hash = WordHash()
  /// Whether every value of this key so far is null: it says nothing, and its record is not compared with others.
  public private(set) var isAllNull = true
  /// Whether a value of this key so far is null.
  public private(set) var hasNull = false

  public init() {}

  public mutating func appendNull() {
    hasNull = true
    hash.append(Kind.null.rawValue << 56)
  }

  public mutating func append(_ integer: Int64) {
    isAllNull = false
    hash.append(Kind.integer.rawValue << 56 | 8)
    hash.append(UInt64(bitPattern: integer))
  }

  /// 0.0 and -0.0 are one value, as in SQL.
  public mutating func append(_ real: Double) {
    isAllNull = false
    hash.append(Kind.real.rawValue << 56 | 8)
    hash.append(real == 0 ? 0 : real.bitPattern)
  }

  public mutating func append(_ text: Span<UInt8>) {
    isAllNull = false
    hash.append(Kind.text.rawValue << 56 | UInt64(text.count))
    hash.append(text)
  }

  public var digest: KeyDigest {
    let digest = hash.digest
    return KeyDigest(high: digest.high, low: digest.low)
  }

  /// What is appended from now on is of the next key.
  public mutating func begin() {
    (isAllNull, hasNull) = (true, false)
    hash.begin()
  }

  private enum Kind: UInt64 {
    case null = 1
    case integer, real, text
  }
}
