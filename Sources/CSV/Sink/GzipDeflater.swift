import CZlib

/// Deflates into one gzip member (RFC 1952) whose header depends on nothing but the level.
final class GzipDeflater {
  private static let bufferBytes = 64 << 10

  // zlib keeps the addresses of both, so they must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let header: UnsafeMutablePointer<gz_header>
  private let buffer: UnsafeMutableRawBufferPointer

  /// - Parameter level: 1 to 9.
  init(level: Int) throws(CSVError) {
    guard (1...9).contains(level) else {
      throw CSVError(.write, "gzip level \(level) does not exist; take one from 1 to 9")
    }
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    header = .allocate(capacity: 1)
    header.initialize(to: gz_header())
    // 255 is "unknown" (RFC 1952, section 2.3.1); no time and no name are the zeros already there.
    header.pointee.os = 255
    buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
    // 15 is the largest window, 16 asks for the gzip wrapper, 8 is zlib's usual memory (zlib manual, deflateInit2).
    let result = deflateInit2_(
      stream, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    if result != Z_OK || deflateSetHeader(stream, header) != Z_OK {
      throw CSVError(.write, "zlib could not be started; is there memory left?")
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    header.deallocate()
    buffer.deallocate()
  }

  /// Takes all of `bytes`; what comes out goes to `put` whenever the buffer is full.
  func write(
    _ bytes: UnsafeRawBufferPointer, to put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = min(rest.count, 1 << 30)
      // zlib does not write to its input; its C signature just does not say so.
      let input = rest.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input)
      stream.pointee.avail_in = UInt32(count)
      try run(Z_NO_FLUSH, put)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Ends the member.
  func finish(to put: (UnsafeRawBufferPointer) throws(CSVError) -> Void) throws(CSVError) {
    stream.pointee.avail_in = 0
    try run(Z_FINISH, put)
  }

  private func run(
    _ flush: Int32, _ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    repeat {
      stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(buffer.count)
      _ = deflate(stream, flush)
      let produced = buffer.count - Int(stream.pointee.avail_out)
      if produced > 0 { try put(UnsafeRawBufferPointer(rebasing: buffer[..<produced])) }
    } while stream.pointee.avail_out == 0
  }
}
