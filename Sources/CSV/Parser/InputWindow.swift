/// The part of the input that is in memory: contiguous unread bytes, with capacity behind them for more.
///
/// It holds one record and a read-ahead. It grows only for a long record, up to the reader's limit.
final class InputWindow {
  /// How many bytes beyond the last one can be read (see `ScanInput.bytes`), and how much room a conversion needs.
  private static let paddingBytes = 64

  let source: ByteSource
  private let readBytes: Int
  private(set) var capacity: Int
  private var storage: UnsafeMutablePointer<UInt8>
  /// Window offset of the first unread byte.
  private(set) var next = 0
  /// Window offset after the last byte.
  private(set) var end = 0
  /// Offset in the text of the window's first byte.
  private var baseOffset = 0
  /// Converts the input to UTF-8, unless it is UTF-8.
  private var decoder: TextDecoder?
  private(set) var isAtEnd = false
  /// The error that ended the input early.
  private(set) var failure: CSVError?
  /// Hashes the consumed bytes in order. Skipped bytes must already be part of the hash.
  var hash: ContentHash?

  init(_ source: ByteSource, readBytes: Int) {
    self.source = source
    self.readBytes = readBytes
    capacity = readBytes
    storage = .allocate(capacity: capacity + Self.paddingBytes)
    storage.initialize(repeating: 0, count: capacity + Self.paddingBytes)
  }

  deinit { storage.deallocate() }

  var unreadCount: Int { end - next }
  /// Whether no more bytes will come.
  var isFinal: Bool { isAtEnd || failure != nil }
  /// Offset in the input of the first unread byte.
  var inputOffset: Int { decoder?.offset ?? baseOffset + next }
  /// Window offset + this = offset in the text; in the input too, unless that is converted.
  var inputShift: Int { baseOffset }
  var isConverted: Bool { decoder != nil }

  var scanInput: ScanInput {
    ScanInput(bytes: UnsafePointer(storage), end: end, isFinal: isFinal, endsCleanly: failure == nil)
  }

  func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: storage + range.lowerBound, count: range.count)
  }

  func unread() -> UnsafeBufferPointer<UInt8> { bytes(next..<end) }

  func advance(to offset: Int) {
    if let decoder {
      advanceConverted(to: offset)
      decoder.updateHash(hash)
      return
    }
    if let hash, offset > next { hash.update(UnsafeRawBufferPointer(bytes(next..<offset))) }
    next = offset
  }

  /// Advances in a converted input and leaves the hash to the next `advance`, which must come before a refill.
  func advanceConverted(to offset: Int) {
    if offset > next { decoder?.pass(UnsafeRawBufferPointer(bytes(next..<offset))) }
    next = offset
  }

  /// Advances over the bytes at the end of a converted input that have no text.
  func advanceToEnd() {
    if isAtEnd, unreadCount == 0 { decoder?.passRest(hash) }
  }

  /// Converts the input from the first unread byte on.
  func decode(_ encoding: CSVEncoding, lineEnds: [UInt8]) throws(CSVError) {
    decoder = try TextDecoder(
      encoding, head: unread(), offset: inputOffset, lineEnds: lineEnds, readBytes: readBytes, failure: failure)
    end = next
    // What was read is to be converted before the input is at its end again.
    isAtEnd = false
    failure = nil
  }

  func fail(_ error: CSVError) { failure = failure ?? error }

  /// Reads until the usual amount is available, or, if it already is, more than before; at most `unreadMax` bytes (at
  /// least one).
  func refill(unreadMax: Int) {
    let byteCount = unreadCount < readBytes ? readBytes : min(2 * unreadCount, max(unreadMax, unreadCount + 1))
    reserve(byteCount)
    while !isFinal && end < byteCount {
      do throws(CSVError) {
        let count = try read(byteCount - end)
        end += count
        if count == 0 { isAtEnd = true }
      } catch {
        failure = error
      }
    }
  }

  /// Reads about that many bytes behind the last one.
  private func read(_ count: Int) throws(CSVError) -> Int {
    if let decoder {
      return try decoder.read(into: storage + end, capacity: count + Self.paddingBytes, from: source)
    }
    return try source.read(into: UnsafeMutableRawBufferPointer(start: storage + end, count: count))
  }

  /// Whether a position is where the window is, at the start of the input.
  func isAtStart(of target: ReaderPosition) -> Bool { target.byteOffset == 0 && inputOffset == 0 }

  /// Advances to a position that is known from an earlier reading, of an input whose encoding has been detected.
  func skip(to target: ReaderPosition) throws(CSVError) {
    if let failure, failure.code == .encoding { throw failure }
    guard target.byteOffset >= inputOffset else {
      throw CSVError(
        .source, "cannot go back to byte \(target.byteOffset); open the input again", path: source.name,
        byte: inputOffset)
    }
    try skip(toInputOffset: target.byteOffset)
  }

  /// Advances to an offset in the input without reading the bytes in between, where the encoding allows.
  func skip(toInputOffset offset: Int) throws(CSVError) {
    if let decoder { return try skip(toInputOffset: offset, decoder) }
    let ahead = offset - inputOffset
    if ahead <= unreadCount {
      next += ahead
      return
    }
    if let failure { throw failure }
    try source.skip(ahead - unreadCount)
    baseOffset = offset
    next = 0
    end = 0
  }

  private func skip(toInputOffset offset: Int, _ decoder: TextDecoder) throws(CSVError) {
    if let ahead = try decoder.skip(to: offset, from: source) {
      advanceConverted(to: next + ahead)
      decoder.updateHash(nil)
      return
    }
    if let failure { throw failure }
    next = 0
    end = 0
    isAtEnd = false
  }

  /// Moves the unread bytes to the front and ensures a capacity of `byteCount` bytes.
  private func reserve(_ byteCount: Int) {
    // A conversion may fill the room that it needs too.
    let byteCount = byteCount + (decoder == nil ? 0 : Self.paddingBytes)
    let count = unreadCount
    if byteCount > capacity {
      let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: byteCount + Self.paddingBytes)
      larger.initialize(repeating: 0, count: byteCount + Self.paddingBytes)
      larger.update(from: storage + next, count: count)
      storage.deallocate()
      storage = larger
      capacity = byteCount
    } else if next > 0 {
      storage.update(from: storage + next, count: count)
    }
    baseOffset += next
    next = 0
    end = count
  }
}
