/// The part of the input that is in memory: unread bytes in one piece, with room behind them to read on.
///
/// It holds one record and a read-ahead, and grows for a long record only, up to the reader's limit.
final class InputWindow {
  /// What can be looked at beyond the last byte (see `ScanInput.bytes`).
  private static let paddingBytes = 64

  let source: ByteSource
  private let readBytes: Int
  private(set) var capacity: Int
  private var storage: UnsafeMutablePointer<UInt8>
  /// Window offset of the first unread byte, and of the end of the bytes.
  private(set) var next = 0
  private(set) var end = 0
  /// Offset in the input of the window's first byte.
  private var baseOffset = 0
  private(set) var isAtEnd = false
  /// What ended the input before its end.
  private(set) var failure: CSVError?
  /// Takes the bytes that are passed by reading, in order; those that are skipped it must know already.
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
  /// Nothing more will come.
  var isFinal: Bool { isAtEnd || failure != nil }
  /// Offset in the input of the first unread byte.
  var inputOffset: Int { baseOffset + next }
  /// Window offset + this = offset in the input.
  var inputShift: Int { baseOffset }

  var scanInput: ScanInput {
    ScanInput(bytes: UnsafePointer(storage), end: end, isFinal: isFinal, endsCleanly: failure == nil)
  }

  func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: storage + range.lowerBound, count: range.count)
  }

  func unread() -> UnsafeBufferPointer<UInt8> { bytes(next..<end) }

  func advance(to offset: Int) {
    if let hash, offset > next { hash.update(UnsafeRawBufferPointer(bytes(next..<offset))) }
    next = offset
  }

  func fail(_ error: CSVError) { failure = failure ?? error }

  /// Reads on until the usual amount is there, or more than before where that is there already, but no more than
  /// `unreadMax` bytes (at least one).
  func refill(unreadMax: Int) {
    let byteCount = unreadCount < readBytes ? readBytes : min(2 * unreadCount, max(unreadMax, unreadCount + 1))
    reserve(byteCount)
    while !isFinal && end < byteCount {
      do throws(CSVError) {
        let count = try source.read(into: UnsafeMutableRawBufferPointer(start: storage + end, count: byteCount - end))
        end += count
        if count == 0 { isAtEnd = true }
      } catch {
        failure = error
      }
    }
  }

  /// Goes ahead to an offset in the input, without looking at what lies between.
  func skip(toInputOffset offset: Int) throws(CSVError) {
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

  /// Moves the unread bytes to the front and sees to it that `byteCount` bytes fit.
  private func reserve(_ byteCount: Int) {
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
