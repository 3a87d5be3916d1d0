import CZlib

/// Inflates gzip data (RFC 1952) of one or more members, with zero padding after any of them.
final class GzipInflater {
  /// Bytes that came out so far, over all members.
  private(set) var inflatedBytes = 0
  /// Position in the compressed input of the next byte that zlib has not used.
  var consumedBytes: Int { input.position - Int(stream.pointee.avail_in) }

  private let input: RawInput
  private let buffer: UnsafeMutableRawBufferPointer
  // zlib keeps the stream's address in its own state, so it must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isInsideMember = true
  private var inputEnded = false

  static let magic: [UInt8] = [0x1F, 0x8B]

  /// - Parameters:
  ///   - head: the bytes already read from `input` to recognise it by.
  ///   - bufferBytes: how much compressed data to hold; at least `head.count`.
  init(_ input: RawInput, head: [UInt8], bufferBytes: Int) throws(CSVError) {
    self.input = input
    buffer = .allocate(byteCount: max(bufferBytes, 2), alignment: 16)
    buffer.copyBytes(from: head)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    stream.pointee.next_in = Self.bytePointer(buffer)
    stream.pointee.avail_in = UInt32(head.count)
    // 15 is the largest window, 16 asks for the gzip wrapper (zlib manual, inflateInit2).
    let size = Int32(MemoryLayout<z_stream>.size)
    if inflateInit2_(stream, 15 + 16, ZLIB_VERSION, size) != Z_OK {
      throw CSVError(.compression, "zlib could not be started; is there memory left?", path: input.name)
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    buffer.deallocate()
  }

  /// Fills as much of `output` as the data allows; 0 is the clean end.
  /// - Throws: `compression-error` only when nothing came out before it; otherwise the next call throws.
  func read(into output: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    stream.pointee.next_out = Self.bytePointer(output)
    stream.pointee.avail_out = UInt32(clamping: output.count)
    let room = Int(stream.pointee.avail_out)
    while stream.pointee.avail_out > 0 {
      do throws(CSVError) {
        if try !step() { break }
      } catch {
        let produced = room - Int(stream.pointee.avail_out)
        inflatedBytes += produced
        guard produced == 0 else { return produced }
        var placed = error
        if placed.code == .compression {
          placed.byte = inflatedBytes
          placed.compressedByte = consumedBytes
        }
        throw placed
      }
    }
    let produced = room - Int(stream.pointee.avail_out)
    inflatedBytes += produced
    return produced
  }

  /// One call of zlib, or one look at what follows a member. False at the clean end.
  private func step() throws(CSVError) -> Bool {
    if !isInsideMember { return try startNextMember() }
    try fill(atLeast: 1)
    let result = inflate(stream, Z_NO_FLUSH)
    switch result {
    case Z_OK: return true
    case Z_STREAM_END:
      isInsideMember = false
      return true
    case Z_BUF_ERROR where inputEnded: throw failure("the gzip data ends in the middle; fetch the file again")
    case Z_BUF_ERROR: return true
    default:
      let reason = stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(result)"
      throw failure("the gzip data is damaged (\(reason)); fetch the file again")
    }
  }

  /// After a member: passes over zero padding, then finds another member, the end, or what should not be there.
  private func startNextMember() throws(CSVError) -> Bool {
    while true {
      try fill(atLeast: 1)
      guard stream.pointee.avail_in > 0 else { return false }
      guard stream.pointee.next_in.pointee == 0 else { break }
      stream.pointee.next_in += 1
      stream.pointee.avail_in -= 1
    }
    try fill(atLeast: 2)
    let next = UnsafeBufferPointer(start: stream.pointee.next_in, count: Int(stream.pointee.avail_in))
    guard next.starts(with: Self.magic) else {
      throw failure("the gzip data is followed by something else; remove what was appended, or fetch the file again")
    }
    inflateReset(stream)
    isInsideMember = true
    return true
  }

  /// Sees to it that `count` unused bytes lie in the buffer, or all there are.
  private func fill(atLeast count: Int) throws(CSVError) {
    while !inputEnded && Int(stream.pointee.avail_in) < count {
      let left = Int(stream.pointee.avail_in)
      let base = Self.bytePointer(buffer)
      if left > 0, let base { base.update(from: stream.pointee.next_in, count: left) }
      let count = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[left...]))
      inputEnded = count == 0
      stream.pointee.next_in = base
      stream.pointee.avail_in = UInt32(left + count)
    }
  }

  private func failure(_ message: String) -> CSVError { CSVError(.compression, message, path: input.name) }

  private static func bytePointer(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}
