#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The stored bytes that libarchive asks for through C functions: in order, or from any position.
final class ArchiveFeed {
  private static let bufferBytes = 64 << 10
  /// How many of the last bytes are kept: more than a frame needs to be recognised.
  static let endBytes = 16

  private let input: RawInput
  private let buffer: UnsafeMutableRawBufferPointer
  /// Bytes that were read for detection; they come first.
  private var head: [UInt8]
  /// Where the next read begins; nil for an input that is read in order.
  private var position: Int?
  /// Number of bytes given in order.
  private(set) var givenBytes = 0
  /// Size of the input, where it is known.
  var totalBytes: Int? { input.totalBytes }
  /// Position of the first byte that was not given.
  var usedBytes: Int { position ?? givenBytes }
  /// The last bytes given.
  private(set) var end: [UInt8] = []
  /// The error of the input that a C function could not throw.
  private(set) var failure: CSVError?

  /// - Parameters:
  ///   - head: the bytes already read from `input`.
  ///   - seeks: whether any position is read, which the input must support.
  init(_ input: RawInput, head: [UInt8] = [], seeks: Bool = false) {
    self.input = input
    self.head = head
    position = seeks ? 0 : nil
    buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// The feed whose address libarchive passes on. Its archive keeps it.
  static func of(_ data: UnsafeMutableRawPointer?) -> ArchiveFeed {
    // The address was given to libarchive with this callback.
    guard let data else { preconditionFailure("libarchive passes on the address that it got") }
    return Unmanaged<ArchiveFeed>.fromOpaque(data).takeUnretainedValue()
  }

  /// Whether nothing follows the bytes given so far.
  func isAtEnd() throws(CSVError) -> Bool {
    guard head.isEmpty else { return false }
    return try fill() == 0
  }

  func read(_ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?) -> Int {
    do throws(CSVError) {
      let count = try fill()
      bytes?.pointee = UnsafeRawPointer(buffer.baseAddress)
      return count
    } catch {
      failure = error
      return -1
    }
  }

  func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
    guard let position, let total = input.totalBytes else { return -1 }
    let start = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? position : total
    // libarchive's numbers come from the file.
    let (target, overflow) = Int64(start).addingReportingOverflow(offset)
    self.position = overflow ? total : min(max(Int(target), 0), total)
    return self.position.map { Int64($0) } ?? -1
  }

  private func fill() throws(CSVError) -> Int {
    if let position {
      let count = try input.read(into: buffer, at: position)
      self.position = position + count
      return count
    }
    var count = head.count
    if head.isEmpty {
      count = try input.read(into: buffer)
    } else {
      buffer.copyBytes(from: head)
      head = []
    }
    givenBytes += count
    if count > 0 { end = Array((end + buffer[max(0, count - Self.endBytes)..<count]).suffix(Self.endBytes)) }
    return count
  }
}
