import CZlib

/// A part of a content that is deflated independently of the others.
struct DeflateBlock: Sendable {
  /// The dictionary, that is the preceding bytes that zlib may refer back to, followed by the part itself.
  let bytes: [UInt8]
  let dictionaryBytes: Int
  /// Whether the deflate data end with this block.
  let isLast: Bool

  var contentBytes: Int { bytes.count - dictionaryBytes }
}

/// A block as stored in the gzip member.
struct DeflatedBlock: Sendable {
  let bytes: [UInt8]
  let contentBytes: Int
  /// CRC-32 of the content.
  let checksum: UInt
}

/// Deflates blocks (RFC 1951). Each ends on a byte boundary, so the blocks of a content can be deflated on any thread
/// and concatenated. Use a deflater from one thread at a time.
final class BlockDeflater {
  private static let bufferBytes = 64 << 10

  // zlib keeps the address, so it must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let buffer: UnsafeMutableRawBufferPointer

  init(level: Int) throws(CSVError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
    // -15 is the largest window without a wrapper, 8 is zlib's usual memory (zlib manual, deflateInit2).
    let result = deflateInit2_(
      stream, Int32(level), Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    if result != Z_OK { throw CSVError(.write, "zlib could not be initialised; free some memory") }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    buffer.deallocate()
  }

  /// The result depends only on the block and the level.
  func deflated(_ block: DeflateBlock) -> DeflatedBlock {
    deflateReset(stream)
    var output: [UInt8] = []
    let checksum = block.bytes.withUnsafeBufferPointer { bytes in
      let content = UnsafeBufferPointer(rebasing: bytes[block.dictionaryBytes...])
      if block.dictionaryBytes > 0 { deflateSetDictionary(stream, bytes.baseAddress, UInt32(block.dictionaryBytes)) }
      // zlib does not write to its input; only its C signature lacks the const.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: content.baseAddress)
      stream.pointee.avail_in = UInt32(content.count)
      run(block.isLast ? Z_FINISH : Z_SYNC_FLUSH, to: &output)
      return crc32(crc32(0, nil, 0), content.baseAddress, UInt32(content.count))
    }
    return DeflatedBlock(bytes: output, contentBytes: block.contentBytes, checksum: checksum)
  }

  private func run(_ flush: Int32, to output: inout [UInt8]) {
    repeat {
      stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(buffer.count)
      _ = deflate(stream, flush)
      output += buffer[..<(buffer.count - Int(stream.pointee.avail_out))]
    } while stream.pointee.avail_out == 0
  }
}
