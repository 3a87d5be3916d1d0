import CISAL

/// Inflates gzip data (RFC 1952) of one or more members, with optional zero padding after each.
///
/// It uses ISA-L, which takes a third of zlib's time or less: with zlib, inflating would dominate the cost of reading
/// a log. The decoded data is checked against the CRC and the length after each member (RFC 1952, section 2.3.1).
final class GzipInflater: Decompressor {
  /// Number of bytes inflated so far, over all members.
  private(set) var inflatedBytes = 0
  /// Position in the compressed input of the first unused byte.
  var consumedBytes: Int { input.position - Int(state.pointee.avail_in) }

  private let input: RawInput
  private let buffer: UnsafeMutableRawBufferPointer
  // About 90 kB including the window. It must not move.
  private let state: UnsafeMutablePointer<inflate_state>
  // Parsed separately and kept: `isal_inflate` would lose the state of a header that arrives in two pieces.
  private var header = isal_gzip_header()
  private var stage = Stage.header
  private var inputEnded = false
  /// The error found in the data, after which the state is invalid.
  private var damage: String?

  private enum Stage { case header, data, betweenMembers }

  static let magic: [UInt8] = [0x1F, 0x8B]
  /// Flags of a member's header that must be zero (RFC 1952, section 2.3.1.2).
  private static let reservedFlags: UInt32 = 0xE0

  /// - Parameters:
  ///   - head: the bytes already read from `input` for detection.
  ///   - bufferBytes: size of the buffer for compressed data; at least `head.count`.
  init(_ input: RawInput, head: [UInt8], bufferBytes: Int) {
    self.input = input
    buffer = .allocate(byteCount: max(bufferBytes, 2), alignment: 16)
    buffer.copyBytes(from: head)
    state = .allocate(capacity: 1)
    isal_inflate_init(state)
    // ISA-L checks the trailer; the header is parsed separately.
    state.pointee.crc_flag = UInt32(ISAL_GZIP_NO_HDR_VER)
    isal_gzip_header_init(&header)
    state.pointee.next_in = Self.bytePointer(buffer)
    state.pointee.avail_in = UInt32(head.count)
  }

  deinit {
    state.deallocate()
    buffer.deallocate()
  }

  func read(into output: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    state.pointee.next_out = Self.bytePointer(output)
    state.pointee.avail_out = UInt32(clamping: output.count)
    let capacity = Int(state.pointee.avail_out)
    while state.pointee.avail_out > 0 {
      do throws(CSVError) {
        if try !step() { break }
      } catch {
        let produced = capacity - Int(state.pointee.avail_out)
        inflatedBytes += produced
        guard produced == 0 else { return produced }
        var located = error
        if located.code == .compression {
          located.byte = inflatedBytes
          located.compressedByte = consumedBytes
        }
        throw located
      }
    }
    let produced = capacity - Int(state.pointee.avail_out)
    inflatedBytes += produced
    return produced
  }

  /// One call of the library, or the transition to the next member. False at the regular end.
  private func step() throws(CSVError) -> Bool {
    if let damage { return try deliverRest(before: damage) }
    if stage == .betweenMembers { return try startNextMember() }
    try fill(atLeast: 1)
    let (inputBefore, roomBefore) = (state.pointee.avail_in, state.pointee.avail_out)
    let result = stage == .header ? isal_read_gzip_header(state, &header) : isal_inflate(state)
    guard result == ISAL_DECOMP_OK || result == ISAL_END_INPUT else {
      return try deliverRest(before: "the gzip data is damaged (\(Self.reason(result))); fetch the file again")
    }
    if stage == .header, result == ISAL_DECOMP_OK {
      guard header.flags & Self.reservedFlags == 0 else {
        return try deliverRest(before: "the gzip data is damaged (reserved flags in a header); fetch the file again")
      }
      stage = .data
    } else if stage == .data, state.pointee.block_state == ISAL_BLOCK_FINISH {
      stage = .betweenMembers
    } else if state.pointee.avail_in == inputBefore, state.pointee.avail_out == roomBefore {
      // There was capacity for more output, and no progress was made.
      let problem = inputBefore == 0 ? "ends in the middle" : "is damaged"
      return try deliverRest(before: "the gzip data \(problem); fetch the file again")
    }
    return true
  }

  /// After a member: skips zero padding, then finds another member, the end, or unexpected data.
  private func startNextMember() throws(CSVError) -> Bool {
    while true {
      try fill(atLeast: 1)
      guard state.pointee.avail_in > 0 else { return false }
      guard state.pointee.next_in.pointee == 0 else { break }
      state.pointee.next_in += 1
      state.pointee.avail_in -= 1
    }
    try fill(atLeast: 2)
    let next = UnsafeBufferPointer(start: state.pointee.next_in, count: Int(state.pointee.avail_in))
    guard next.starts(with: Self.magic) else {
      throw failure("the gzip data is followed by something else; remove what was appended, or fetch the file again")
    }
    isal_inflate_reset(state)
    isal_gzip_header_init(&header)
    stage = .header
    return true
  }

  /// Ensures that `count` unused bytes are in the buffer, or all that are left.
  private func fill(atLeast count: Int) throws(CSVError) {
    while !inputEnded && Int(state.pointee.avail_in) < count {
      let left = Int(state.pointee.avail_in)
      let base = Self.bytePointer(buffer)
      if left > 0, let base { base.update(from: state.pointee.next_in, count: left) }
      let count = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[left...]))
      inputEnded = count == 0
      state.pointee.next_in = base
      state.pointee.avail_in = UInt32(left + count)
    }
  }

  /// Returns the bytes decoded before the damage that did not fit before; throws once there are none.
  private func deliverRest(before message: String) throws(CSVError) -> Bool {
    damage = message
    let rest = state.pointee.tmp_out_valid - state.pointee.tmp_out_processed
    let count = min(rest, Int32(clamping: state.pointee.avail_out))
    guard count > 0, let source = inflate_undelivered(state) else { throw failure(message) }
    state.pointee.next_out.update(from: source, count: Int(count))
    state.pointee.next_out += Int(count)
    state.pointee.avail_out -= UInt32(count)
    state.pointee.tmp_out_processed += count
    return true
  }

  private func failure(_ message: String) -> CSVError { CSVError(.compression, message, path: input.name) }

  private static func reason(_ result: Int32) -> String {
    switch result {
    case ISAL_INVALID_BLOCK: "a block that no compressor writes"
    case ISAL_INVALID_SYMBOL: "an undefined code"
    case ISAL_INVALID_LOOKBACK: "a distance beyond the start"
    case ISAL_INVALID_WRAPPER: "an invalid header"
    case ISAL_UNSUPPORTED_METHOD: "a method other than DEFLATE"
    case ISAL_INCORRECT_CHECKSUM: "the checksum does not match"
    default: "ISA-L's error \(result)"
    }
  }

  private static func bytePointer(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}
