/// A short sequence of bytes that the scanners look for: a delimiter, a line terminator, a comment sign.
///
/// It is kept in two words instead of an array, so that a comparison is a few instructions and the rules can be copied
/// without counting references.
struct ScanToken {
  enum Match {
    case yes, no
    /// The bytes end before the token would.
    case unknown
  }

  /// The most bytes that two words hold; `CSVDialect.validate()` refuses more.
  static let bytesMax = 16

  let count: Int
  let first: UInt8
  private let words: (UInt64, UInt64)
  private let masks: (UInt64, UInt64)

  init(_ bytes: [UInt8]) {
    // The readers call `CSVDialect.validate()`, which throws for others.
    precondition((1...Self.bytesMax).contains(bytes.count), "the dialect was validated")
    count = bytes.count
    first = bytes[0]
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    words = (word(bytes.prefix(8)), word(bytes.dropFirst(8)))
    masks = (Self.mask(min(count, 8)), Self.mask(max(count - 8, 0)))
  }

  private static func mask(_ count: Int) -> UInt64 { count == 8 ? .max : (1 << (8 * UInt64(count))) - 1 }

  /// Whether the token is at `bytes`. The 16 bytes from there on must be readable.
  @inline(__always)
  func isAt(_ bytes: UnsafePointer<UInt8>) -> Bool {
    let raw = UnsafeRawPointer(bytes)
    let head = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self)) & masks.0
    if count <= 8 { return head == words.0 }
    let tail = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) & masks.1
    return head == words.0 && tail == words.1
  }

  /// Looks for the token at `offset` of the input.
  @inline(__always)
  func match(at offset: Int, in input: ScanInput) -> Match {
    guard offset < input.end else { return input.isFinal ? .no : .unknown }
    if input.bytes[offset] != first { return .no }
    if count <= input.end - offset { return isAt(input.bytes + offset) ? .yes : .no }
    if input.isFinal { return .no }
    return (offset..<input.end).allSatisfy { input.bytes[$0] == byte($0 - offset) } ? .unknown : .no
  }

  private func byte(_ index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: index < 8 ? words.0 >> (8 * UInt64(index)) : words.1 >> (8 * UInt64(index - 8)))
  }

  /// Whether the bytes that passed last are the token.
  func ends(_ recent: RecentBytes) -> Bool {
    recent.count >= count && (0..<count).allSatisfy { recent.byte(beforeLast: count - 1 - $0) == byte($0) }
  }
}

/// The last bytes of a sequence that arrives byte by byte.
struct RecentBytes {
  private(set) var count = 0
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  mutating func append(_ byte: UInt8) {
    high = high << 8 | low >> 56
    low = low << 8 | UInt64(byte)
    count += 1
  }

  /// The byte that passed `distance` bytes before the last one, which is at distance 0.
  func byte(beforeLast distance: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: distance < 8 ? low >> (8 * UInt64(distance)) : high >> (8 * UInt64(distance - 8)))
  }

  mutating func removeAll() { count = 0 }
}
