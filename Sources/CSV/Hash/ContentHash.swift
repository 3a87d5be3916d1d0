import CXXHash

/// A content hash: 128 bits of XXH3, as `xxhsum -H2` prints it.
///
/// XXH3 is faster than parsing by a large factor, and Debian's `xxhsum` can check it independently. The probability
/// that any two of n contents share a digest is about n² / 2^129. The hash does not resist deliberately built
/// collisions. That is acceptable: someone who can write a user's logs has easier ways to do harm.
public struct ContentDigest: Sendable, Hashable {
  /// The upper 64 bits.
  public var high: UInt64
  /// The lower 64 bits.
  public var low: UInt64

  /// A digest of two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits; nil for any other text.
  public init?(hex: some StringProtocol) {
    var (high, low, count) = (UInt64(0), UInt64(0), 0)
    for byte in hex.utf8 {
      guard let digit = Self.digit(byte) else { return nil }
      (high, low, count) = (high << 4 | low >> 60, low << 4 | digit, count + 1)
    }
    guard count == 32 else { return nil }
    self.init(high: high, low: low)
  }

  /// 32 lower-case hexadecimal digits, most significant first.
  public var hex: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ half: UInt64) -> String {
    let digits = String(half, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The value of a hexadecimal digit; nil for another byte.
  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}

/// Hashes bytes incrementally; the digest so far is available at any time.
///
/// A class that owns a state of the C library. Use it from one thread at a time.
public final class ContentHash {
  private let state: OpaquePointer
  /// Bytes hashed so far.
  public private(set) var byteCount = 0
  /// The digest of the first `headBytes` bytes, once that many were hashed; see `init(headBytes:)`.
  public private(set) var headDigest: ContentDigest?
  private let headBytes: Int

  /// - Parameter headBytes: The number of bytes after which the digest is recorded as `headDigest`.
  public init(headBytes: Int = .max) {
    self.headBytes = headBytes
    state = Self.makeState()
    XXH3_128bits_reset(state)
  }

  /// Continues from the current state of `other`, which does not change.
  public init(copying other: ContentHash) {
    state = Self.makeState()
    XXH3_copyState(state, other.state)
    byteCount = other.byteCount
    headBytes = other.headBytes
    headDigest = other.headDigest
  }

  deinit { XXH3_freeState(state) }

  private static func makeState() -> OpaquePointer {
    // Swift's own allocations end the program too.
    guard let state = XXH3_createState() else { preconditionFailure("the memory does not suffice for a hash's state") }
    return state
  }

  /// Adds bytes to the content.
  public func update(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { update($0) }
  }

  /// Adds bytes to the content.
  public func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { update($0) }
  }

  /// Adds bytes to the content.
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

  /// The digest of all bytes so far; more may follow.
  public var digest: ContentDigest {
    let hash = XXH3_128bits_digest(state)
    return ContentDigest(high: hash.high64, low: hash.low64)
  }
}

// Only the holder of the single reference uses the state: a hash is passed on, never shared.
@available(*, unavailable)
extension ContentHash: Sendable {}
