/// A mask of the structural characters among 64 bytes: delimiters, quotes, and all bytes below 0x10 (line ends and
/// zero bytes are among them; a tab costs one test).
///
/// Plain 64-bit arithmetic, eight bytes at a time: the lane-wise comparison of the SIMD types compiles to a loop per
/// lane, whereas this code is vectorised where that pays.
struct StructuralMask {
  /// Bit `i` stands for byte `i`.
  let bits: UInt64
  /// Not zero if any byte is outside ASCII.
  let highBits: UInt64

  private static let low7: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
  private static let high: UInt64 = 0x8080_8080_8080_8080
  private static let below16: UInt64 = 0x7070_7070_7070_7070

  /// - Parameters:
  ///   - bytes: 64 readable bytes.
  ///   - delimiters: the first byte of the delimiter in each of the eight bytes.
  ///   - quotes: the quote, an ASCII byte, in each of the eight bytes.
  ///   - isDelimiterASCII: a constant; true if the delimiter is known to begin with an ASCII byte, which is cheaper.
  @inline(__always)
  init(_ bytes: UnsafeRawPointer, delimiters: UInt64, quotes: UInt64, isDelimiterASCII: Bool) {
    let isASCII = isDelimiterASCII
    var seen: UInt64 = 0
    var mask: UInt64 = 0
    // Unrolled by hand: the compiler does not always unroll a loop here, which then costs a third more.
    mask |= Self.lane(bytes, at: 0, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 8, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 16, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 24, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 32, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 40, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 48, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    mask |= Self.lane(bytes, at: 56, delimiters: delimiters, quotes: quotes, isASCII, seen: &seen)
    bits = mask
    highBits = seen & Self.high
  }

  /// Adding 0x7F to seven bits carries into the eighth unless they are all zero, and adding 0x70 unless they are
  /// below 0x10. So the high bit stays clear exactly where a byte is structural. No carry leaves its byte. The
  /// multiplication then gathers the eight high bits into the top byte.
  @inline(__always)
  private static func lane(
    _ bytes: UnsafeRawPointer, at offset: Int, delimiters: UInt64, quotes: UInt64, _ isDelimiterASCII: Bool,
    seen: inout UInt64
  ) -> UInt64 {
    let value = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    seen |= value
    let low = value & low7
    let isNotLow = low &+ below16
    let isNotQuote = (low ^ quotes) &+ low7
    let isPlain: UInt64
    if isDelimiterASCII {
      let isNotDelimiter = (low ^ delimiters) &+ low7
      isPlain = (isNotLow & isNotDelimiter & isNotQuote) | value
    } else {
      let difference = value ^ delimiters
      let isNotDelimiter = ((difference & low7) &+ low7) | difference
      isPlain = ((isNotLow & isNotQuote) | value) & isNotDelimiter
    }
    return (((~isPlain & high) &* 0x0002_0408_1020_4081) >> 56) &<< UInt64(offset)
  }

  /// A word with the byte in each of its eight bytes.
  static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
}
