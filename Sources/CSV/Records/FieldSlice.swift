/// The position of one field in `RecordBlock.bytes`: eight bytes, no heap allocation.
///
/// The range is that of the content, without the surrounding quotes. It is the value itself unless `needsUnescaping`;
/// in that case the block computes the value.
public struct FieldSlice: Sendable, Hashable {
  @usableFromInline let first: UInt32
  /// Length in the upper 29 bits, flags in the lower three.
  @usableFromInline let packed: UInt32

  static let quotedFlag: UInt32 = 1
  static let closedFlag: UInt32 = 2
  static let unescapingFlag: UInt32 = 4

  @inline(__always)
  init(first: UInt32, length: UInt32, flags: UInt32) {
    self.first = first
    packed = length << 3 | flags
  }

  /// Index in the block's bytes of the first byte of the content.
  @inlinable public var start: Int { Int(first) }
  /// Index in the block's bytes after the last byte of the content.
  @inlinable public var end: Int { Int(first) + Int(packed >> 3) }
  /// Number of bytes of the content, before doubled quotes are reduced to one.
  @inlinable public var count: Int { Int(packed >> 3) }
  /// Indices in the block's bytes of the content.
  @inlinable public var range: Range<Int> { start..<end }
  /// Whether the field began with a quote.
  @inlinable public var isQuoted: Bool { packed & 1 != 0 }
  /// Whether the closing quote is there.
  var isClosed: Bool { packed & FieldSlice.closedFlag != 0 }
  /// Whether the content contains quotes or escapes that are not part of the value, so that the range is not the value.
  @inlinable public var needsUnescaping: Bool { packed & 4 != 0 }
  /// Whether the field is `token`, unquoted, in `bytes`, the bytes of its block.
  @inlinable public func isUnquoted(_ token: [UInt8], in bytes: [UInt8]) -> Bool {
    !isQuoted && count == token.count && bytes[range].elementsEqual(token)
  }
  /// Whether the field is one of the tokens, unquoted, in `bytes`, the bytes of its block.
  @inlinable public func isUnquoted(anyOf tokens: [[UInt8]], in bytes: [UInt8]) -> Bool {
    !isQuoted && tokens.contains { count == $0.count && bytes[range].elementsEqual($0) }
  }
  /// The content with the quotes around it.
  public var rangeWithQuotes: Range<Int> {
    (isQuoted ? start - 1 : start)..<(isClosed ? end + 1 : end)
  }
}
