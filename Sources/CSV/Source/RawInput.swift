#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The bytes of an input as stored, before inflation.
final class RawInput {
  enum Origin {
    case descriptor(Int32, closes: Bool)
    case memory([UInt8])
    /// Fills the buffer and returns how many bytes it wrote; 0 is the end. For generated inputs.
    case generator((UnsafeMutableRawBufferPointer) throws(CSVError) -> Int)
  }

  let name: String
  /// Size of a regular file or of the bytes in memory; nil where it is unknown, as for a pipe.
  let totalBytes: Int?
  /// Number of bytes returned so far, counted from the offset at which the input was opened.
  private(set) var position = 0
  var observer: ((RawSpan) -> Void)?
  private let origin: Origin
  private let canSeek: Bool
  /// The offset at which a file was opened.
  private var startOffset = 0
  /// Ends the wait for the writer of a pipe; nil for a wait without an end.
  private let isCancelled: (() -> Bool)?
  /// Between two looks whether the wait is cancelled.
  private static let millisecondsPerWait: Int32 = 50

  init(_ origin: Origin, name: String, unless isCancelled: (() -> Bool)? = nil) throws(CSVError) {
    self.origin = origin
    self.name = name
    self.isCancelled = isCancelled
    switch origin {
    case .descriptor(let descriptor, let closes):
      var status = stat()
      if fstat(descriptor, &status) != 0 {
        let code = errno
        if closes { close(descriptor) }
        throw RawInput.failure(code, name: name, byte: 0)
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        if closes { close(descriptor) }
        throw RawInput.failure(EISDIR, name: name, byte: 0)
      }
      canSeek = status.st_mode & S_IFMT == S_IFREG
      // A descriptor passed by the caller may be in mid-file: only the bytes after its offset count.
      if canSeek { startOffset = Int(lseek(descriptor, 0, SEEK_CUR)) }
      totalBytes = canSeek ? max(0, Int(status.st_size) - startOffset) : nil
      #if !canImport(Darwin)
        if canSeek { posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
      #endif
    case .memory(let bytes):
      canSeek = true
      totalBytes = bytes.count
    case .generator:
      canSeek = false
      totalBytes = nil
    }
  }

  deinit {
    if case .descriptor(let descriptor, closes: true) = origin { close(descriptor) }
  }

  static func open(path: String, unless isCancelled: (() -> Bool)? = nil) throws(CSVError) -> RawInput {
    // Opening a FIFO would wait for its writer. Without a writer there is nothing to read, and the read waits.
    let flags = O_RDONLY | O_CLOEXEC | (isCancelled == nil ? 0 : O_NONBLOCK)
    var descriptor: Int32
    repeat { descriptor = Self.openFile(path, flags) } while descriptor < 0 && errno == EINTR
    if descriptor < 0 { throw failure(errno, name: path, byte: nil) }
    return try RawInput(.descriptor(descriptor, closes: true), name: path, unless: isCancelled)
  }

  // A separate function, because `open` would resolve to the one above.
  private static func openFile(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.open(path, flags)
    #else
      Glibc.open(path, flags)
    #endif
  }

  /// Reads at least one byte unless the end is reached; 0 is the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    let count: Int
    switch origin {
    case .descriptor(let descriptor, _): count = try readDescriptor(descriptor, buffer)
    case .memory(let bytes):
      count = min(buffer.count, bytes.count - position)
      bytes.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
      }
    case .generator(let fill): count = try fill(buffer)
    }
    position += count
    if let observer, count > 0 {
      observer(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
    }
    return count
  }

  /// Reads on until there are `count` bytes, or all. A pipe may deliver them one at a time.
  func readHead(_ head: inout [UInt8], _ count: Int) throws(CSVError) {
    var have = head.count
    head.append(contentsOf: [UInt8](repeating: 0, count: count - have))
    while have < count {
      let got = try head.overwrite(from: have) { buffer throws(CSVError) in try read(into: buffer) }
      if got == 0 { break }
      have += got
    }
    head.removeLast(count - have)
  }

  /// Whether `read(into:at:)` is possible: any part of the input can be read, and no observer has to see all of it.
  var readsAnywhere: Bool { canSeek && observer == nil }

  /// Reads at a position counted from the offset at which the input was opened; 0 is the end. `position` stays.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(CSVError) -> Int {
    switch origin {
    case .descriptor(let descriptor, _):
      while true {
        let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(startOffset + offset))
        if count >= 0 { return count }
        if errno != EINTR { throw RawInput.failure(errno, name: name, byte: offset) }
      }
    case .memory(let bytes):
      let part = bytes.dropFirst(offset).prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    // The caller's mistake: `readsAnywhere` is false for it.
    case .generator: preconditionFailure("a generated input is read in order")
    }
  }

  /// Advances without reading, if the input can seek and has no observer.
  func seek(ahead count: Int) throws(CSVError) -> Bool {
    guard canSeek, observer == nil, let totalBytes, position + count <= totalBytes else { return false }
    if case .descriptor(let descriptor, _) = origin, lseek(descriptor, off_t(count), SEEK_CUR) < 0 {
      throw RawInput.failure(errno, name: name, byte: position)
    }
    position += count
    return true
  }

  /// Waits until a pipe has bytes, or has lost its last writer.
  private func waitForWriter(_ descriptor: Int32, _ isCancelled: () -> Bool) throws(CSVError) {
    while !isReady(descriptor, for: Int16(POLLIN), milliseconds: Self.millisecondsPerWait) {
      if isCancelled() {
        throw CSVError(
          .source, "was not read to its end: nothing more has come", path: name, byte: position, errnoCode: ECANCELED)
      }
    }
  }

  private func readDescriptor(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(CSVError) -> Int {
    if !canSeek, let isCancelled { try waitForWriter(descriptor, isCancelled) }
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
      #else
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      #endif
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      // The pipe is non-blocking: wait for bytes instead of spinning.
      case EAGAIN: waitUntilReady(descriptor, for: Int16(POLLIN))
      default: throw RawInput.failure(errno, name: name, byte: position)
      }
    }
  }

  private static func failure(_ code: Int32, name: String, byte: Int?) -> CSVError {
    let verb = byte == nil ? "opened" : "read"
    return CSVError(.source, "cannot be \(verb): \(systemMessage(code))", path: name, byte: byte, errnoCode: code)
  }
}

extension [UInt8] {
  /// Lets `read` write over the bytes from `index` on. The result is that of `read`, a number of bytes.
  mutating func overwrite(
    from index: Int, _ read: (UnsafeMutableRawBufferPointer) throws(CSVError) -> Int
  ) throws(CSVError) -> Int {
    try withUnsafeMutableBufferPointer { buffer throws(CSVError) in
      try read(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[index...])))
    }
  }
}
