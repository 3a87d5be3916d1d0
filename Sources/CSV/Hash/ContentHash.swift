import CXXHash

/// The hash of a content: 128 bits of XXH3, as `xxhsum -H2` prints it.
///
/// Chosen for its speed, well over the bytes that a reader can parse in the same time, and because Debian's `xxhsum`
/// checks it independently. Among n contents the chance that any two share a digest is about n² / 2^129. It is no
/// defence against someone who builds collisions on purpose; whoever writes a person's logs has easier ways to
/// harm them.
public struct ContentDigest: Sendable, Hashable {
  public var high: UInt64
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits; nil for any other text.
  public init?(hex: some StringProtocol) {
    guard hex.utf8.count == 32, hex.utf8.allSatisfy({ Self.isHexDigit($0) }),
      let high = UInt64(hex.prefix(16), radix: 16), let low = UInt64(hex.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// 32 lower-case hexadecimal digits, most significant first.
  public var hex: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ half: UInt64) -> String {
    let digits = String(half, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
}

/// Hashes bytes as they come; the digest so far can be asked for at any time.
///
/// A class with a state of the C library's; it belongs to one thread at a time.
public final class ContentHash {
  private let state: OpaquePointer
  /// Bytes hashed so far.
  public private(set) var byteCount = 0
  /// The digest of the first bytes alone, once there are so many; see `init(headBytes:)`.
  public private(set) var headDigest: ContentDigest?
  private let headBytes: Int

  /// - Parameter headBytes: At how many bytes the digest is noted as `headDigest`.
  public init(headBytes: Int = .max) {
    self.headBytes = headBytes
    state = Self.makeState()
    XXH3_128bits_reset(state)
  }

  /// Goes on from where `other` is now, without changing it.
  public init(copying other: ContentHash) {
    state = Self.makeState()
    XXH3_copyState(state, other.state)
    byteCount = other.byteCount
    headBytes = other.headBytes
    headDigest = other.headDigest
  }

  deinit { XXH3_freeState(state) }

  private static func makeState() -> OpaquePointer {
    guard let state = XXH3_createState() else { preconditionFailure("there is no memory left for a hash's state") }
    return state
  }

  public func update(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { update($0) }
  }

  public func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { update($0) }
  }

  public func update(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { update($0) }
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    guard headDigest == nil, byteCount + bytes.count >= headBytes else { return add(bytes) }
    let head = headBytes - byteCount
    add(UnsafeRawBufferPointer(rebasing: bytes[..<head]))
    headDigest = digest
    add(UnsafeRawBufferPointer(rebasing: bytes[head...]))
  }

  private func add(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    XXH3_128bits_update(state, start, bytes.count)
    byteCount += bytes.count
  }

  public var digest: ContentDigest {
    let hash = XXH3_128bits_digest(state)
    return ContentDigest(high: hash.high64, low: hash.low64)
  }
}

// The state is touched by whoever holds the only reference: a hash is handed on, never shared.
@available(*, unavailable)
extension ContentHash: Sendable {}
