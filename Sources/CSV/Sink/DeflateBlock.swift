import CISAL

/// A part of a content that is deflated independently of the others.
struct DeflateBlock: Sendable {
  /// The dictionary, that is the preceding bytes that the block may refer back to, followed by the part itself.
  let bytes: [UInt8]
  let dictionaryBytes: Int
  /// Whether the deflate data end with this block.
  let isLast: Bool
}

/// Deflates blocks (RFC 1951) with ISA-L. Each ends on a byte boundary, so the blocks of a content can be deflated on
/// any thread and concatenated. Use a deflater from one thread at a time.
final class BlockDeflater {
  private static let bufferBytes = 64 << 10

  // More than 200 kB. ISA-L keeps addresses in it, so it must not move.
  private let stream: UnsafeMutablePointer<isal_zstream>
  private let levelBuffer: UnsafeMutableRawBufferPointer
  private let buffer: UnsafeMutableRawBufferPointer

  init() {
    stream = .allocate(capacity: 1)
    levelBuffer = .allocate(byteCount: Int(CISAL_LEVEL_2_BYTES), alignment: 64)
    buffer = .allocate(byteCount: Self.bufferBytes, alignment: 64)
  }

  deinit {
    stream.deallocate()
    levelBuffer.deallocate()
    buffer.deallocate()
  }

  /// The block as stored. The result depends only on the block.
  func deflated(_ block: DeflateBlock) -> [UInt8] {
    isal_deflate_init(stream)
    // Level 3 is a little smaller; but ISA-L has code for some processors that chooses other matches there.
    stream.pointee.level = 2
    stream.pointee.level_buf = levelBuffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.level_buf_size = UInt32(levelBuffer.count)
    stream.pointee.flush = UInt16(block.isLast ? NO_FLUSH : SYNC_FLUSH)
    stream.pointee.end_of_stream = block.isLast ? 1 : 0
    // ISA-L does not write to its input; only its C signature lacks the const.
    return block.bytes.withUnsafeBufferPointer { bytes in
      let start = UnsafeMutablePointer(mutating: bytes.baseAddress)
      if block.dictionaryBytes > 0 { isal_deflate_set_dict(stream, start, UInt32(block.dictionaryBytes)) }
      stream.pointee.next_in = start.map { $0 + block.dictionaryBytes }
      stream.pointee.avail_in = UInt32(bytes.count - block.dictionaryBytes)
      return run()
    }
  }

  private func run() -> [UInt8] {
    var output: [UInt8] = []
    repeat {
      stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(buffer.count)
      let result = isal_deflate(stream)
      // Every other result is for settings that do not exist.
      precondition(result == COMP_OK, "ISA-L refuses its settings with the error \(result)")
      output += buffer[..<(buffer.count - Int(stream.pointee.avail_out))]
    } while stream.pointee.avail_out == 0
    return output
  }
}
