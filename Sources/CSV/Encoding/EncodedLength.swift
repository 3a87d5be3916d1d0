#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How many bytes a converted text has in its own encoding.
///
/// The conversion loses nothing: one byte of an 8-bit encoding became one character, a unit of UTF-16 or two became
/// one, and bytes that stand for no character became one byte FF for each unit. So counting in the UTF-8 suffices.
enum EncodedLength {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  static func of(_ text: UnsafeRawBufferPointer, in encoding: CSVEncoding) -> Int {
    switch encoding.form {
    case .utf8: return text.count
    case .latin1, .windows1252: return characters(text).all
    case .utf16:
      // Two more for the second unit of a character outside the basic plane.
      let (all, long) = characters(text)
      return 2 * (all + long)
    case .utf32: return 4 * characters(text).all
    case .iconv: return Iconv.encodedCount(text, in: encoding.name)
    }
  }

  /// Numbers of characters and of those that have four bytes; an FF counts as one.
  private static func characters(_ text: UnsafeRawBufferPointer) -> (all: Int, long: Int) {
    var (tails, long, index) = (0, 0, 0)
    while index &+ 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let high = word & highBits
      if high != 0 {
        tails &+= (high & ~(word << 1)).nonzeroBitCount
        let from1111 = high & word << 1 & word << 2 & word << 3
        if from1111 != 0 { long &+= (from1111 & ~(word << 4)).nonzeroBitCount }
      }
      index &+= 8
    }
    while index < text.count {
      let byte = text[index]
      if byte & 0xC0 == 0x80 { tails &+= 1 }
      if byte & 0xF8 == 0xF0 { long &+= 1 }
      index &+= 1
    }
    return (text.count - tails, long)
  }
}

/// Conversions by the C library.
enum Iconv {
  /// What iconv returns for an error: (size_t)-1.
  static let failed = -1

  /// A descriptor; nil if the encodings are unknown.
  static func open(to target: String, from source: String) -> iconv_t? {
    guard let descriptor = iconv_open(target, source), descriptor != iconv_t(bitPattern: -1) else { return nil }
    return descriptor
  }

  /// The number of bytes of a text in another encoding. A byte that is not UTF-8 stands for one byte.
  static func encodedCount(_ text: UnsafeRawBufferPointer, in name: String) -> Int {
    guard let descriptor = open(to: name, from: "UTF-8") else { return text.count }
    defer { iconv_close(descriptor) }
    var count = 0
    var buffer = [CChar](repeating: 0, count: 4096)
    // iconv does not write to its input; only its C signature lacks the const.
    var next = UnsafeMutableRawPointer(mutating: text.baseAddress)?.assumingMemoryBound(to: CChar.self)
    var left = text.count
    while left > 0 {
      let capacity = buffer.count
      let (failure, unused) = buffer.withUnsafeMutableBufferPointer { buffer in
        var target = buffer.baseAddress
        var unused = buffer.count
        let result = iconv(descriptor, &next, &left, &target, &unused)
        return (result == failed ? errno : 0, unused)
      }
      count += capacity - unused
      if failure == EILSEQ || failure == EINVAL {
        next = next.map { $0 + 1 }
        left -= 1
        count += 1
      }
    }
    return count
  }
}
