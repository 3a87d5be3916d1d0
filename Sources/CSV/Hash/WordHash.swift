import CXXHash

/// Hashes short lists of words and texts, one list after the other: 128 bits of XXH3 over little-endian words.
///
/// All lists share one buffer: for so few bytes, incremental hashing costs many times as much.
package struct WordHash: Sendable {
  @usableFromInline var words = [UInt64](repeating: 0, count: 64)
  @usableFromInline var count = 0

  package init() {}

  @inlinable
  package mutating func append(_ word: UInt64) {
    reserveCapacity(1)
    put(word)
  }

  /// Appends the text as whole words; the last word is padded with zeros.
  @inlinable
  package mutating func append(_ text: Span<UInt8>) {
    let bytes = text.bytes
    let byteCount = bytes.byteCount
    reserveCapacity(byteCount / 8 + 1)
    var start = 0
    while start + 8 <= byteCount {
      put(bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self).littleEndian)
      start += 8
    }
    guard start < byteCount else { return }
    if byteCount >= 8 {
      // The last eight bytes; those already appended are shifted out.
      let last = bytes.unsafeLoadUnaligned(fromByteOffset: byteCount - 8, as: UInt64.self).littleEndian
      put(last >> UInt64((8 - (byteCount - start)) * 8))
    } else {
      var word: UInt64 = 0
      for index in 0..<byteCount { word |= UInt64(text[index]) << UInt64(index * 8) }
      put(word)
    }
  }

  /// The digest of this list so far.
  package var digest: ContentDigest {
    words.withUnsafeBytes { bytes in
      let hash = XXH3_128bits(bytes.baseAddress, count * 8)
      return ContentDigest(high: hash.high64, low: hash.low64)
    }
  }

  /// Starts another list.
  @inlinable
  package mutating func begin() { count = 0 }

  @inlinable
  mutating func put(_ word: UInt64) {
    words[count] = word.littleEndian
    count += 1
  }

  @inlinable
  mutating func reserveCapacity(_ more: Int) {
    if count + more > words.count { words += [UInt64](repeating: 0, count: count + more) }
  }
}
