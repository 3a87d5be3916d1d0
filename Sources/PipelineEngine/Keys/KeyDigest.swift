/// The fingerprint of one record's key: 128 bits of SipHash-2-4 over the key's values.
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

/// Digests the values of a key, one `append` per attribute in the key's order.
///
/// Values count as typed, so `2014-07-14` and `7/14/14` are the same date. Texts count byte for byte. An empty field
/// is a value of its own: two records with the same date and no place have the same key. Each value is preceded by
/// its kind and length, so that no two lists of values make the same bytes.
public struct KeyHasher: Sendable {
  private var state = SipState()
  /// Whether every value so far is null: such a key says nothing, and its record is not compared with others.
  public private(set) var isAllNull = true
  /// Whether a value so far is null.
  public private(set) var hasNull = false

  public init() {}

  public mutating func appendNull() {
    hasNull = true
    state.absorb(Kind.null.rawValue << 56)
  }

  public mutating func append(_ integer: Int64) {
    isAllNull = false
    state.absorb(Kind.integer.rawValue << 56 | 8)
    state.absorb(UInt64(bitPattern: integer))
  }

  /// 0.0 and -0.0 are one value, as in SQL.
  public mutating func append(_ real: Double) {
    isAllNull = false
    state.absorb(Kind.real.rawValue << 56 | 8)
    state.absorb(real == 0 ? 0 : real.bitPattern)
  }

  public mutating func append(_ text: Span<UInt8>) {
    isAllNull = false
    let count = text.count
    state.absorb(Kind.text.rawValue << 56 | UInt64(count))
    var index = 0
    while index + 8 <= count {
      var word: UInt64 = 0
      for offset in 0..<8 { word |= UInt64(text[index + offset]) << UInt64(offset * 8) }
      state.absorb(word)
      index += 8
    }
    guard index < count else { return }
    var word: UInt64 = 0
    for offset in 0..<(count - index) { word |= UInt64(text[index + offset]) << UInt64(offset * 8) }
    state.absorb(word)
  }

  public consuming func finish() -> KeyDigest {
    state.finish()
  }

  private enum Kind: UInt64 {
    case null = 1
    case integer, real, text
  }
}

/// SipHash-2-4 with 128 bits of result (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) over whole
/// little-endian words, with a fixed key.
struct SipState: Sendable {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  private var wordCount: UInt64 = 0

  /// The default key is arbitrary; what matters is that it never changes.
  init(key0: UInt64 = 0x5355_5246_4A4F_5552, key1: UInt64 = 0x4E41_4C2D_4B45_5953) {
    v0 = key0 ^ 0x736F_6D65_7073_6575
    v1 = key1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE
    v2 = key0 ^ 0x6C79_6765_6E65_7261
    v3 = key1 ^ 0x7465_6462_7974_6573
  }

  @inline(__always)
  mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
    wordCount &+= 1
  }

  consuming func finish() -> KeyDigest {
    // The last block holds the message's length in bytes modulo 256, in its top byte.
    absorb((wordCount &* 8) << 56)
    v2 ^= 0xEE
    for _ in 0..<4 { round() }
    let low = v0 ^ v1 ^ v2 ^ v3
    v1 ^= 0xDD
    for _ in 0..<4 { round() }
    return KeyDigest(high: v0 ^ v1 ^ v2 ^ v3, low: low)
  }

  @inline(__always)
  private mutating func round() {
    v0 &+= v1
    v1 = Self.rotate(v1, 13) ^ v0
    v0 = Self.rotate(v0, 32)
    v2 &+= v3
    v3 = Self.rotate(v3, 16) ^ v2
    v0 &+= v3
    v3 = Self.rotate(v3, 21) ^ v0
    v2 &+= v1
    v1 = Self.rotate(v1, 17) ^ v2
    v2 = Self.rotate(v2, 32)
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
    value &<< bits | value &>> (64 - bits)
  }
}
