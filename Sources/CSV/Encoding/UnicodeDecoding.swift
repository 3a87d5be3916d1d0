/// What a conversion has read and written.
struct ConversionStep {
  var read = 0
  var written = 0
}

/// Conversions to UTF-8 that are several times as fast as iconv(3): eight bytes at a time while the text is ASCII.
///
/// Bytes that stand for no character become the byte FF, which is never part of UTF-8; so the record is found invalid
/// by the same check as any other. A conversion stops before a character that does not fit, or is not there entirely.
enum UnicodeDecoding {
  /// Stands for bytes that are not a character.
  static let invalid: UInt8 = 0xFF
  /// The most bytes of one character in UTF-8.
  static let characterBytesMax = 4

  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// - Parameters:
  ///   - target: at least `capacity` bytes.
  ///   - upper: the characters of the bytes 80 to 9F, 0 for none; nil where they are the characters of those numbers.
  static func decodeSingleBytes(
    _ source: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int, upper: [UInt16]?
  ) -> ConversionStep {
    var step = ConversionStep()
    guard let bytes = source.baseAddress else { return step }
    let raw = UnsafeRawPointer(bytes)
    let limit = capacity - characterBytesMax
    while step.read < source.count, step.written <= limit {
      if step.read &+ 8 <= source.count, step.written &+ 8 <= capacity {
        let word = raw.loadUnaligned(fromByteOffset: step.read, as: UInt64.self)
        if word & highBits == 0 {
          UnsafeMutableRawPointer(target + step.written).storeBytes(of: word, as: UInt64.self)
          step.read &+= 8
          step.written &+= 8
          continue
        }
      }
      let byte = bytes[step.read]
      step.read &+= 1
      var scalar = UInt32(byte)
      if let upper, byte & 0xE0 == 0x80 { scalar = UInt32(upper[Int(byte & 0x1F)]) }
      if scalar == 0 && byte != 0 {
        target[step.written] = invalid
        step.written &+= 1
      } else {
        step.written &+= encode(scalar, to: target + step.written)
      }
    }
    return step
  }

  /// - Parameter isFinal: whether no bytes follow `source`, so that half a character is invalid.
  static func decodeUTF16(
    _ source: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int, isBigEndian: Bool,
    isFinal: Bool
  ) -> ConversionStep {
    var step = ConversionStep()
    guard let bytes = source.baseAddress else { return step }
    let raw = UnsafeRawPointer(bytes)
    let limit = capacity - characterBytesMax
    while step.read < source.count, step.written <= limit {
      if step.read &+ 8 <= source.count {
        var word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: step.read, as: UInt64.self))
        let isASCII = word & (isBigEndian ? 0x80FF_80FF_80FF_80FF : 0xFF80_FF80_FF80_FF80) == 0
        if isASCII {
          if isBigEndian { word >>= 8 }
          word = (word | word >> 8) & 0x0000_FFFF_0000_FFFF
          word = word | word >> 16
          UnsafeMutableRawPointer(target + step.written)
            .storeBytes(of: UInt32(truncatingIfNeeded: word).littleEndian, as: UInt32.self)
          step.read &+= 8
          step.written &+= 4
          continue
        }
      }
      guard step.read &+ 2 <= source.count else { return ended(step, count: source.count, isFinal: isFinal, target) }
      let unit = unit(bytes + step.read, isBigEndian)
      var scalar = UInt32(unit)
      var length = 2
      if unit & 0xFC00 == 0xD800 {
        if step.read &+ 4 > source.count, !isFinal { return step }
        let next = step.read &+ 4 <= source.count ? Self.unit(bytes + step.read + 2, isBigEndian) : 0
        if next & 0xFC00 == 0xDC00 {
          scalar = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(next & 0x3FF))
          length = 4
        }
      }
      step.read &+= length
      if scalar & 0xFFFF_F800 == 0xD800 {
        target[step.written] = invalid
        step.written &+= 1
      } else {
        step.written &+= encode(scalar, to: target + step.written)
      }
    }
    return step
  }

  /// - Parameter isFinal: as for UTF-16.
  static func decodeUTF32(
    _ source: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int, isBigEndian: Bool,
    isFinal: Bool
  ) -> ConversionStep {
    var step = ConversionStep()
    guard let bytes = source.baseAddress else { return step }
    let raw = UnsafeRawPointer(bytes)
    let limit = capacity - characterBytesMax
    while step.read < source.count, step.written <= limit {
      guard step.read &+ 4 <= source.count else { return ended(step, count: source.count, isFinal: isFinal, target) }
      let loaded = raw.loadUnaligned(fromByteOffset: step.read, as: UInt32.self)
      let scalar = isBigEndian ? UInt32(bigEndian: loaded) : UInt32(littleEndian: loaded)
      step.read &+= 4
      if scalar > 0x10FFFF || scalar & 0xFFFF_F800 == 0xD800 {
        target[step.written] = invalid
        step.written &+= 1
      } else {
        step.written &+= encode(scalar, to: target + step.written)
      }
    }
    return step
  }

  /// Called when fewer bytes are left than a character has.
  private static func ended(
    _ step: ConversionStep, count: Int, isFinal: Bool, _ target: UnsafeMutablePointer<UInt8>
  ) -> ConversionStep {
    guard isFinal else { return step }
    target[step.written] = invalid
    return ConversionStep(read: count, written: step.written + 1)
  }

  @inline(__always)
  private static func unit(_ bytes: UnsafePointer<UInt8>, _ isBigEndian: Bool) -> UInt16 {
    isBigEndian ? UInt16(bytes[0]) << 8 | UInt16(bytes[1]) : UInt16(bytes[1]) << 8 | UInt16(bytes[0])
  }

  /// Writes a scalar value that is not a surrogate, and returns the number of bytes.
  @inline(__always)
  private static func encode(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift & 0x3F) }
    if scalar < 0x80 {
      target[0] = UInt8(truncatingIfNeeded: scalar)
      return 1
    }
    if scalar < 0x800 {
      target[0] = 0xC0 | UInt8(truncatingIfNeeded: scalar >> 6)
      target[1] = tail(0)
      return 2
    }
    if scalar < 0x10000 {
      target[0] = 0xE0 | UInt8(truncatingIfNeeded: scalar >> 12)
      target[1] = tail(6)
      target[2] = tail(0)
      return 3
    }
    target[0] = 0xF0 | UInt8(truncatingIfNeeded: scalar >> 18)
    target[1] = tail(12)
    target[2] = tail(6)
    target[3] = tail(0)
    return 4
  }
}

extension CSVEncoding {
  /// The characters of the bytes 80 to 9F in Windows-1252, 0 for those that stand for none (Unicode's CP1252.TXT).
  static let windows1252Upper: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]
}
