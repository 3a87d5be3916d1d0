/// Counts how often each text occurs, up to a bound of different ones: open addressing over bytes, no String.
struct TextCounter: Sendable {
  private struct Entry {
    var hash: UInt64
    /// Where its words lie, eight bytes each, the last one filled up with zeros.
    var start: Int
    var byteCount: Int
    var count: Int
  }

  private let distinctMax: Int
  private let mask: Int
  /// Index into `entries` and 1; 0 where the slot is free.
  private var slots: [UInt16]
  private var entries: [Entry] = []
  private var words: [UInt64] = []
  private(set) var other = 0

  init(distinctMax: Int) {
    self.distinctMax = min(distinctMax, Int(UInt16.max) - 1)
    var count = 64
    while count < self.distinctMax * 3 { count *= 2 }
    mask = count - 1
    slots = Array(repeating: 0, count: count)
  }

  @inline(__always)
  mutating func add(_ text: Span<UInt8>, times: Int = 1) {
    guard text.count <= EntryProfile.textBytesMax else {
      other &+= times
      return
    }
    let hash = Self.hash(text)
    var slot = Int(truncatingIfNeeded: hash >> 32) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if entries[index].hash == hash, isEqual(entries[index], text) {
        entries[index].count &+= times
        return
      }
      slot = (slot + 1) & mask
    }
    insert(text, hash, times, slot)
  }

  mutating func addOther(_ times: Int) { other &+= times }

  private mutating func insert(_ text: Span<UInt8>, _ hash: UInt64, _ times: Int, _ slot: Int) {
    guard entries.count < distinctMax else {
      other &+= times
      return
    }
    entries.append(Entry(hash: hash, start: words.count, byteCount: text.count, count: times))
    for offset in stride(from: 0, to: text.count, by: 8) { words.append(Self.word(text, at: offset)) }
    slots[slot] = UInt16(entries.count)
  }

  @inline(__always)
  private func isEqual(_ entry: Entry, _ text: Span<UInt8>) -> Bool {
    guard entry.byteCount == text.count else { return false }
    var index = entry.start
    var offset = 0
    while offset < text.count {
      if words[index] != Self.word(text, at: offset) { return false }
      index += 1
      offset += 8
    }
    return true
  }

  @inline(__always)
  private static func hash(_ text: Span<UInt8>) -> UInt64 {
    var hash = UInt64(text.count) &* 0x9E37_79B9_7F4A_7C15
    var offset = 0
    while offset < text.count {
      hash = (hash ^ word(text, at: offset)) &* 0xD6E8_FEB8_6659_FD93
      hash ^= hash >> 32
      offset += 8
    }
    return hash
  }

  /// The eight bytes from `offset` on, fewer at the end.
  @inline(__always)
  private static func word(_ text: Span<UInt8>, at offset: Int) -> UInt64 {
    var word: UInt64 = 0
    if offset + 8 <= text.count {
      for index in 0..<8 { word |= UInt64(text[offset + index]) << UInt64(index * 8) }
    } else {
      for index in offset..<text.count { word |= UInt64(text[index]) << UInt64((index - offset) * 8) }
    }
    return word
  }

  /// The most frequent first, then by text.
  var all: [(text: String, count: Int)] {
    entries.map { entry in
      let bytes = (0..<entry.byteCount).map { index in
        UInt8(truncatingIfNeeded: words[entry.start + index / 8] >> UInt64(index % 8 * 8))
      }
      return (String(decoding: bytes, as: UTF8.self), entry.count)
    }
    .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }
}
