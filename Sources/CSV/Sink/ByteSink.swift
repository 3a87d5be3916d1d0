/// An output: a file that appears complete or not at all, the standard output, or memory; optionally compressed with
/// gzip.
///
/// End with `commit()`, or with `finish()` first and `commit()` once other files are complete too. A sink that is
/// cancelled, fails, or is released without a commit leaves no new file and does not change an existing one. Use a
/// sink from one thread at a time.
///
/// ```swift
/// let sink = try ByteSink(path: "surf-log.csv.gz", compression: .gzip)
/// try sink.write("date,location\n")
/// try sink.commit()
/// ```
///
/// A library must not change the signal handling of the process. To get EPIPE as an error instead of the end of the
/// process, the program must ignore SIGPIPE.
public final class ByteSink {
  /// How the output is stored.
  public enum Compression: Sendable, Hashable {
    /// Plain bytes.
    case none
    /// Deflated on all cores. Equal content gives equal bytes for any number of cores: the header contains no time,
    /// name or system.
    case gzip
  }

  private enum State { case open, finished, ended, failed(CSVError) }

  private static let bufferBytes = 64 << 10

  private let output: RawOutput
  /// Released, with its threads, once nothing more is written: many finished outputs may wait for their commit.
  private var deflater: GzipDeflater?
  private var buffer: [UInt8] = []
  private var state = State.open
  /// Number of bytes written, before compression.
  public private(set) var writtenBytes = 0
  /// Number of bytes stored, after compression.
  public private(set) var storedBytes = 0
  /// Hashes the written bytes, before compression. Set it before the first write.
  public var contentHash: ContentHash?
  /// Hashes the stored bytes, after compression. Set it before the first write.
  public var storedHash: ContentHash?

  /// Writes to a file; "-" is the standard output.
  ///
  /// The bytes go to a temporary file in the same folder, which is renamed at the commit. An existing file's
  /// permission bits are kept; a new file has 0644 less the umask. A symbolic link is followed. A path that is not a
  /// regular file (a pipe, /dev/null) is written directly.
  /// - Parameters:
  ///   - path: the file, absolute or relative to the current directory.
  ///   - compression: how the output is stored.
  /// - Throws: `CSVError` with the code `write-error` and the system's error number: no such folder, no permission, a
  ///   folder of that name.
  public convenience init(path: String, compression: Compression = .none) throws(CSVError) {
    try self.init(path: path, compression: compression, permissions: Self.permissionsMax)
  }

  /// Writes to a file; see `init(path:compression:)`.
  ///
  /// - Parameters:
  ///   - permissions: Those of a new file, less the umask.
  ///   - isCancelled: Ends the wait for the reader of a pipe, with ECANCELED as the error's number.
  package convenience init(
    path: String, compression: Compression = .none, permissions: UInt32,
    unless isCancelled: @escaping () -> Bool = { false }
  ) throws(CSVError) {
    if path == "-" {
      let pipe = PipeOutput.hasReader(1) ? PipeOutput(descriptor: 1, name: "stdout", unless: isCancelled) : nil
      try self.init(pipe.map(RawOutput.pipe) ?? .descriptor(1, name: "stdout", closes: false), compression)
    } else {
      try self.init(try OutputFile.open(path: path, permissions: permissions, unless: isCancelled), compression)
    }
  }

  /// The permissions of a new file, less the umask.
  package static let permissionsMax: UInt32 = 0o644

  /// Writes to an open descriptor, which remains open.
  ///
  /// - Parameters:
  ///   - descriptor: Open for writing.
  ///   - name: What messages call the output.
  ///   - compression: How the bytes are stored.
  /// - Throws: Nothing now; what can't be written is thrown by `write(_:)`.
  public convenience init(
    descriptor: Int32, name: String, compression: Compression = .none
  ) throws(CSVError) {
    try self.init(.descriptor(descriptor, name: name, closes: false), compression)
  }

  /// Keeps the bytes in memory; see `bytes`.
  ///
  /// - Parameter compression: How the bytes are stored.
  /// - Throws: Nothing now, as `init(descriptor:name:compression:)`.
  public static func memory(compression: Compression = .none) throws(CSVError) -> ByteSink {
    try ByteSink(.memory(MemoryOutput()), compression)
  }

  init(_ output: RawOutput, _ compression: Compression) throws(CSVError) {
    self.output = output
    deflater = compression == .gzip ? GzipDeflater() : nil
    buffer.reserveCapacity(Self.bufferBytes)
  }

  /// What messages call the output: its path, "stdout" or "memory".
  public var name: String { output.name }

  /// The stored bytes of a memory sink, complete after the commit. Empty for other sinks.
  public var bytes: [UInt8] {
    if case .memory(let memory) = output { memory.bytes } else { [] }
  }

  /// Writes bytes.
  /// - Throws: `CSVError` with the code `write-error` (disk full, reader closed). The output is then abandoned: every
  ///   later call throws the same error.
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

  /// Writes bytes.
  /// - Throws: as `write(_:)` of a slice.
  public func write(_ bytes: [UInt8]) throws(CSVError) { try write(bytes[...]) }

  /// Writes the text in UTF-8.
  /// - Throws: as `write(_:)` of a slice.
  public func write(_ text: String) throws(CSVError) { try write(Array(text.utf8)) }

  /// Sends on the buffered bytes. Gzip data waits for a complete block.
  /// - Throws: as `write`.
  public func flush() throws(CSVError) {
    try checkOpen()
    try flushBuffer()
  }

  /// Writes the remaining bytes and makes a file durable under its temporary name. Only `commit()` or `cancel()` may
  /// follow.
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

  /// Writes the remaining bytes, makes a file durable (fsync of file and folder) and renames it to its final path.
  ///
  /// - Parameter syncsFolder: false leaves the fsync of the folder to `syncFolder()`, which several files of one
  ///   folder need only once.
  /// - Throws: as `write`. No file has appeared then, unless only the folder could not be synced.
  public func commit(syncsFolder: Bool = true) throws(CSVError) {
    if case .finished = state {} else { try finish() }
    try attempt { () throws(CSVError) in
      try output.publish()
      if syncsFolder { try output.syncFolder() }
    }
    state = .ended
  }

  /// Waits until the name of a committed file, and all earlier changes of its folder, are on the disk.
  /// - Throws: as `write`.
  public func syncFolder() throws(CSVError) { try output.syncFolder() }

  /// Abandons the output. No file appears; bytes written directly cannot be taken back.
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
    // The caller's mistake: it has ended the output.
    case .finished, .ended: preconditionFailure("nothing is written after finish(), commit() or cancel()")
    }
  }
}
