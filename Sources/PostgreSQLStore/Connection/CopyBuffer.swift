import PersistentStores

/// Rows in the binary form of COPY (PostgreSQL documentation: COPY, "Binary Format"). The memory is kept from one part to
/// the next.
///
/// It is noncopyable and not an array, so that a value of a row costs a comparison and a store.
struct CopyBuffer: ~Copyable {
  private static let header: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)
  private static let trailer = Int16(-1)
  private static let null = Int32(-1)
  private static let lengthBytes = MemoryLayout<Int32>.size

  // `count` bytes are initialized; there is room for `capacity`.
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 1 << 12) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 1)
  }

  deinit { memory.deallocate() }

  /// Calls `body` with what was appended.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(start: memory, count: count))
  }

  /// Removes what was appended last, and keeps the memory.
  mutating func truncate(to count: Int) { self.count = min(count, self.count) }

  mutating func appendHeader() {
    for byte in Self.header { append(byte) }
  }

  mutating func appendTrailer() { append(Self.trailer) }

  /// Begins a row of so many values, which follow.
  @inline(__always)
  mutating func beginRow(valueCount: Int) { append(Int16(valueCount)) }

  @inline(__always)
  mutating func append<Number: FixedWidthInteger>(value number: Number) {
    let size = MemoryLayout<Number>.size
    let end = extend(by: Self.lengthBytes + size)
    end.storeBytes(of: Int32(size).bigEndian, as: Int32.self)
    (end + Self.lengthBytes).storeBytes(of: number.bigEndian, as: Number.self)
  }

  /// Appends the bytes of a text or blob.
  @inline(__always)
  mutating func append(bytesOf cell: ValueCell, in copied: CopiedBatch) { append(value: copied.bytes(cell)) }

  mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append(value: $0) }
  }

  @inline(__always)
  mutating func append(value bytes: UnsafeRawBufferPointer) {
    let end = extend(by: Self.lengthBytes + bytes.count)
    end.storeBytes(of: Int32(bytes.count).bigEndian, as: Int32.self)
    if let start = bytes.baseAddress { (end + Self.lengthBytes).copyMemory(from: start, byteCount: bytes.count) }
  }

  @inline(__always)
  mutating func appendNull() { append(Self.null) }

  @inline(__always)
  private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    extend(by: MemoryLayout<Number>.size).storeBytes(of: number.bigEndian, as: Number.self)
  }

  /// - Returns: Where the new bytes are, which the caller initializes.
  @inline(__always)
  private mutating func extend(by byteCount: Int) -> UnsafeMutableRawPointer {
    if capacity - count < byteCount { grow(by: byteCount) }
    defer { count += byteCount }
    return memory + count
  }

  @inline(never)
  private mutating func grow(by byteCount: Int) {
    capacity = max(2 * capacity, count + byteCount)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
    larger.copyMemory(from: memory, byteCount: count)
    memory.deallocate()
    memory = larger
  }
}
