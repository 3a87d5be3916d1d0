/// Counts how often each text occurs, up to a maximum of different ones: open addressing over bytes, no String.
///
/// Texts are identified by 128 bits of a mixing hash. Among the few hundred that are stored, a collision is far less
/// probable than a memory fault; an author of intentionally colliding texts would only distort a bar of their own
/// chart.
struct TextCounter: Sendable {
  private struct Digest: Equatable {
    var low: UInt64
    var high: UInt64
  }

  private let distinctMax: Int
  private let mask: Int
  /// Index into `counts`, plus 1; 0 where the slot is free.
  private var slots: [UInt16]
  private var digests: [Digest] = []
  private var counts: [Int] = []
  /// The texts, one after the other, and the end of each.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private(set) var other = 0
  /// How many different texts are counted.
  var distinct: Int { counts.count }

  init(distinctMax: Int) {
    self.distinctMax = min(distinctMax, Int(UInt16.max) - 1)
    var count = 64
    while count < self.distinctMax * 3 { count *= 2 }
    mask = count - 1
    slots = Array(repeating: 0, count: count)
  }

  @inline(__always)
  mutating func add(_ text: Span<UInt8>, times: Int = 1) {
    let digest = Self.digest(text)
    var slot = Int(truncatingIfNeeded: digest.low) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if digests[index] == digest {
        counts[index] &+= times
        return
      }
      slot = (slot + 1) & mask
    }
    insert(text, digest: digest, times: times, at: slot)
  }

  mutating func addOther(_ times: Int) { other &+= times }

  private mutating func insert(_ text: Span<UInt8>, digest: Digest, times: Int, at slot: Int) {
    guard counts.count < distinctMax, text.count <= EntryProfile.textBytesMax else {
      other &+= times
      return
    }
    digests.append(digest)
    counts.append(times)
    for index in text.indices { bytes.append(text[index]) }
    ends.append(bytes.count)
    slots[slot] = UInt16(counts.count)
  }

  /// Eight bytes at a time; the last eight may overlap the previous ones, which is cheaper than a loop over the rest.
  @inline(__always)
  private static func digest(_ text: Span<UInt8>) -> Digest {
    let count = text.count
    var digest = Digest(low: UInt64(count) &* 0x9E37_79B9_7F4A_7C15, high: UInt64(count))
    // Longer texts are counted as `other`.
    if count > EntryProfile.textBytesMax { return digest }
    if count >= 8 {
      var offset = 0
      while offset &+ 8 < count {
        mix(word(text, at: offset), &digest)
        offset &+= 8
      }
      mix(word(text, at: count &- 8), &digest)
    } else {
      var word: UInt64 = 0
      for index in text.indices { word = word << 8 | UInt64(text[index]) }
      mix(word, &digest)
    }
    return digest
  }

  @inline(__always)
  private static func mix(_ word: UInt64, _ digest: inout Digest) {
    let product = (word ^ digest.low).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    let second = (word &+ digest.high &* 0x9FB2_1C65_1E98_DF25).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    digest.low = product.low ^ product.high
    digest.high = second.low ^ second.high
  }

  /// The last byte is read first: one bounds check then suffices for all eight.
  @inline(__always)
  private static func word(_ text: Span<UInt8>, at offset: Int) -> UInt64 {
    let last = UInt64(text[offset &+ 7]) << 56
    let high =
      last | UInt64(text[offset &+ 6]) << 48 | UInt64(text[offset &+ 5]) << 40 | UInt64(text[offset &+ 4]) << 32
    return high | UInt64(text[offset &+ 3]) << 24 | UInt64(text[offset &+ 2]) << 16 | UInt64(text[offset &+ 1]) << 8
      | UInt64(text[offset])
  }

  /// The most frequent first, then by text.
  var all: [(text: String, count: Int)] {
    counts.indices.map { index in
      let start = index == 0 ? 0 : ends[index - 1]
      return (String(decoding: bytes[start..<ends[index]], as: UTF8.self), counts[index])
    }
    .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }
}
