private let highBits: UInt64 = 0x8080_8080_8080_8080

/// Index of the first byte that does not belong to well-formed UTF-8 (Unicode 15, table 3-7); nil if all bytes do.
///
/// Overlong forms, surrogates and code points over U+10FFFF are rejected. ASCII is checked eight bytes at a time.
func firstInvalidUTF8(_ bytes: UnsafeRawBufferPointer) -> Int? {
  let count = bytes.count
  var index = 0
  while index < count {
    if index + 8 <= count {
      let high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) & highBits
      // Advances to the first byte outside ASCII, or past all eight.
      index += high.trailingZeroBitCount >> 3
      if high == 0 { continue }
    }
    let first = bytes[index]
    if first < 0x80 {
      index += 1
      continue
    }
    guard let length = sequenceLength(bytes, at: index, first: first) else { return index }
    index += length
  }
  return nil
}

/// Whether all bytes belong to well-formed UTF-8.
func isUTF8(_ bytes: Span<UInt8>) -> Bool { bytes.withUnsafeBytes { firstInvalidUTF8($0) == nil } }

/// Length of the well-formed sequence that starts with `first`, a byte from 0x80; nil if the sequence is not
/// well-formed.
@inline(__always)
private func sequenceLength(_ bytes: UnsafeRawBufferPointer, at index: Int, first: UInt8) -> Int? {
  let left = bytes.count - index
  // Only the second byte's range depends on the first byte; the others are always 80...BF.
  let second: ClosedRange<UInt8>
  let length: Int
  switch first {
  case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
  case 0xE0: (length, second) = (3, 0xA0...0xBF)
  case 0xED: (length, second) = (3, 0x80...0x9F)
  case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
  case 0xF0: (length, second) = (4, 0x90...0xBF)
  case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
  case 0xF4: (length, second) = (4, 0x80...0x8F)
  default: return nil
  }
  guard left >= length, second.contains(bytes[index + 1]) else { return nil }
  for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return nil }
  return length
}
