import CISAL

/// Inflates gzip data (RFC 1952) of one or more members, with zero padding after any of them.
///
/// By ISA-L, which takes a third of zlib's time or less: inflating would otherwise be the most that reading a log costs.
/// What it decodes is checked as RFC 1952, 2.3.1 says: by the CRC and the length behind each member.
final class GzipInflater {
  /// Bytes that came out so far, over all members.
  private(set) var inflatedBytes = 0
  /// Position in the compressed input of the next byte that was not used.
  var consumedBytes: Int { input.position - Int(state.pointee.avail_in) }

  private let input: RawInput
  private let buffer: UnsafeMutableRawBufferPointer
  // Some 90 kB, the window among them: where it lies it stays.
  private let state: UnsafeMutablePointer<inflate_state>
  // Read by itself and kept: left to `isal_inflate`, one that comes in two pieces would be forgotten in between.
  private var header = isal_gzip_header()
  private var stage = Stage.header
  private var inputEnded = false
  /// What was found to be wrong, after which the state means nothing.
  private var damage: String?

  private enum Stage { case header, data, betweenMembers }

  static let magic: [UInt8] = [0x1F, 0x8B]

  /// - Parameters:
  ///   - head: the bytes already read from `input` to recognise it by.
  ///   - bufferBytes: how much compressed data to hold; at least `head.count`.
  init(_ input: RawInput, head: [UInt8], bufferBytes: Int) {
    self.input = input
    buffer = .allocate(byteCount: max(bufferBytes, 2), alignment: 16)
    buffer.copyBytes(from: head)
    state = .allocate(capacity: 1)
    isal_inflate_init(state)
    // The trailer is checked, the header is not looked for.
    state.pointee.crc_flag = UInt32(ISAL_GZIP_NO_HDR_VER)
    isal_gzip_header_init(&header)
    state.pointee.next_in = Self.bytePointer(buffer)
    state.pointee.avail_in = UInt32(head.count)
  }

  deinit {
    state.deallocate()
    buffer.deallocate()
  }

  /// Fills as much of `output` as the data allows; 0 is the clean end.
  /// - Throws: `compression-error` only when nothing came out before it; otherwise the next call throws.
  func read(into output: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    state.pointee.next_out = Self.bytePointer(output)
    state.pointee.avail_out = UInt32(clamping: output.count)
    let room = Int(state.pointee.avail_out)
    while state.pointee.avail_out > 0 {
      do throws(CSVError) {
        if try !step() { break }
      } catch {
        let produced = room - Int(state.pointee.avail_out)
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
    let produced = room - Int(state.pointee.avail_out)
    inflatedBytes += produced
    return produced
  }

  /// One call of the library, or one look at what follows a member. False at the clean end.
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
      stage = .data
    } else if stage == .data, state.pointee.block_state == ISAL_BLOCK_FINISH {
      stage = .betweenMembers
    } else if state.pointee.avail_in == inputBefore, state.pointee.avail_out == roomBefore {
      // It had room for more, and made nothing of what there was.
      let problem = inputBefore == 0 ? "ends in the middle" : "is damaged"
      return try deliverRest(before: "the gzip data \(problem); fetch the file again")
    }
    return true
  }

  /// After a member: passes over zero padding, then finds another member, the end, or what should not be there.
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

  /// Sees to it that `count` unused bytes lie in the buffer, or all there are.
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

  /// Hands out what was decoded before the damage and had no room yet; throws once there is nothing more.
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
    case ISAL_INVALID_SYMBOL: "a code that stands for nothing"
    case ISAL_INVALID_LOOKBACK: "a distance from before the beginning"
    case ISAL_INVALID_WRAPPER: "a header that is none"
    case ISAL_UNSUPPORTED_METHOD: "another method than DEFLATE"
    case ISAL_INCORRECT_CHECKSUM: "the checksum is of other data"
    default: "ISA-L's error \(result)"
    }
  }

  private static func bytePointer(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}
