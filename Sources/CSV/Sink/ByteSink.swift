/// Where bytes go: a file that appears whole or not at all, the standard output, or memory; gzip on the way if
/// asked.
///
/// End with `commit()`, or with `finish()` now and `commit()` once other files are complete too. A sink that is cancelled, fails, or is let go without a commit leaves no file behind and an
/// existing one as it was. One thread at a time.
///
/// A library must not change how the process takes signals: to get EPIPE as an error, rather than the end of the
/// process, the program ignores SIGPIPE.
public final class ByteSink {
  /// How the output is stored.
  public enum Compression: Sendable, Hashable {
    case none
    /// Deflate level 1 (fast) to 9 (small), on all cores. Equal input gives equal bytes, however many cores there are:
    /// no time, no name, no system in the header.
    case gzip(level: Int = 6)
  }

  private enum State { case open, finished, ended, failed(CSVError) }

  private static let bufferBytes = 64 << 10

  private let output: RawOutput
  /// Let go once nothing more is written, and its threads with it: many outputs may wait for their names.
  private var deflater: GzipDeflater?
  private var buffer: [UInt8] = []
  private var state = State.open
  /// Bytes taken in, before compression.
  public private(set) var writtenBytes = 0
  /// Bytes sent on, after compression.
  public private(set) var storedBytes = 0
  /// Hashes the bytes taken in, before compression. Set it before the first write.
  public var contentHash: ContentHash?
  /// Hashes the bytes as they are stored. Set it before the first write.
  public var storedHash: ContentHash?

  /// Writes to a file; "-" is the standard output.
  ///
  /// The bytes go to a new file beside it, which takes the name at the commit. An existing file's permission bits
  /// are kept; a new file has 0644 less the umask. A symbolic link is followed. What is no regular file (a pipe,
  /// /dev/null) is written straight through.
  /// - Throws: `write-error` with the system's error number: no such folder, no permission, a folder of that name.
  public convenience init(path: String, compression: Compression = .none) throws(CSVError) {
    if path == "-" {
      try self.init(.descriptor(1, name: "stdout", closes: false), compression)
    } else {
      try self.init(try OutputFile.open(path: path), compression)
    }
  }

  /// Writes to an open descriptor, which stays open.
  public convenience init(
    descriptor: Int32, name: String, compression: Compression = .none
  ) throws(CSVError) {
    try self.init(.descriptor(descriptor, name: name, closes: false), compression)
  }

  /// Keeps the bytes; see `bytes`.
  public static func memory(compression: Compression = .none) throws(CSVError) -> ByteSink {
    try ByteSink(.memory(MemoryOutput()), compression)
  }

  init(_ output: RawOutput, _ compression: Compression) throws(CSVError) {
    self.output = output
    switch compression {
    case .none: deflater = nil
    case .gzip(let level):
      guard (1...9).contains(level) else {
        throw CSVError(.write, "gzip level \(level) does not exist; take one from 1 to 9")
      }
      deflater = GzipDeflater(level: level)
    }
    buffer.reserveCapacity(Self.bufferBytes)
  }

  /// What messages call the output: its path, "stdout" or "memory".
  public var name: String { output.name }

  /// What a memory sink has stored: all of it after the commit. Empty for other sinks.
  public var bytes: [UInt8] {
    if case .memory(let memory) = output { memory.bytes } else { [] }
  }

  /// - Throws: `write-error` (disk full, reader gone). The output is then given up: every later call throws the same.
  public func write(_ bytes: ArraySlice<UInt8>) throws(CSVError) {
    try checkOpen()
    writtenBytes += bytes.count
    if buffer.count + bytes.count > Self.bufferBytes { try flushBuffer() }
    if bytes.count >= Self.bufferBytes {
      try pass(bytes)
    } else {
      buffer.append(contentsOf: bytes)
    }
  }

  /// As `write` of a slice.
  public func write(_ bytes: [UInt8]) throws(CSVError) { try write(bytes[...]) }

  /// As `write` of the text's UTF-8.
  public func write(_ text: String) throws(CSVError) { try write(Array(text.utf8)) }

  /// Sends on what is held back. Gzip data still waits for more to compress.
  /// - Throws: as `write`.
  public func flush() throws(CSVError) {
    try checkOpen()
    try flushBuffer()
  }

  /// Writes out the rest and makes a file durable, without its name yet. Only `commit()` or `cancel()` may follow.
  /// - Throws: as `write`.
  public func finish() throws(CSVError) {
    try checkOpen()
    try flushBuffer()
    try attempt { () throws(CSVError) in
      try deflater?.finish { bytes throws(CSVError) in try put(bytes) }
      try output.finish()
    }
    releaseMemory()
    state = .finished
  }

  /// Writes out the rest, makes a file durable (fsync of file and folder) and gives it its name.
  ///
  /// - Parameter syncsFolder: false leaves it to `syncFolder()` to wait for the disk to know the name, which many files
  ///   of a folder need once.
  /// - Throws: as `write`; no file has appeared then, unless it was the folder that could not be synced.
  public func commit(syncsFolder: Bool = true) throws(CSVError) {
    if case .finished = state {} else { try finish() }
    try attempt { () throws(CSVError) in
      try output.publish()
      if syncsFolder { try output.syncFolder() }
    }
    state = .ended
  }

  /// Waits until the disk knows the name of a committed file, and those that its folder was given before.
  /// - Throws: as `write`.
  public func syncFolder() throws(CSVError) { try output.syncFolder() }

  /// Gives the output up. A file does not appear; what was written straight through is not called back.
  public func cancel() {
    switch state {
    case .open: output.abandon(isFinished: false)
    case .finished: output.abandon(isFinished: true)
    case .ended, .failed: return
    }
    releaseMemory()
    state = .ended
  }

  private func flushBuffer() throws(CSVError) {
    if buffer.isEmpty { return }
    try pass(buffer[...])
    buffer.removeAll(keepingCapacity: true)
  }

  private func pass(_ bytes: ArraySlice<UInt8>) throws(CSVError) {
    try attempt { () throws(CSVError) in
      try bytes.withUnsafeBufferPointer { buffer throws(CSVError) in
        let raw = UnsafeRawBufferPointer(buffer)
        contentHash?.update(raw)
        if let deflater {
          try deflater.write(raw) { bytes throws(CSVError) in try put(bytes) }
        } else {
          try put(raw)
        }
      }
    }
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(CSVError) {
    try output.write(bytes)
    storedBytes += bytes.count
    storedHash?.update(bytes)
  }

  private func attempt(_ work: () throws(CSVError) -> Void) throws(CSVError) {
    do throws(CSVError) {
      try work()
    } catch {
      var isFinished = false
      if case .finished = state { isFinished = true }
      output.abandon(isFinished: isFinished)
      releaseMemory()
      state = .failed(error)
      throw error
    }
  }

  private func releaseMemory() {
    deflater = nil
    buffer = []
  }

  private func checkOpen() throws(CSVError) {
    switch state {
    case .open: return
    case .failed(let error): throw error
    case .finished, .ended: preconditionFailure("nothing is written after finish(), commit() or cancel()")
    }
  }
}
