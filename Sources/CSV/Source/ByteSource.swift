/// The bytes of an input from start to end, inflated if they are gzip.
///
/// Gzip is detected by its first two bytes, never by a file name. Other compressed files, archives, workbooks and
/// databases are detected too and refused by name. Use a source from one thread at a time. It may be
/// created on one thread and used on another.
///
/// ```swift
/// let source = try ByteSource(path: "surf-log.csv.gz")
/// var text: [UInt8] = []
/// while try source.read(appendingTo: &text) > 0 {}
/// print(source.name, source.consumedBytes, source.inflatedBytes)
/// ```
public final class ByteSource {
  /// How the input is stored.
  public enum Compression: Sendable, Hashable { case none, gzip }

  private enum State {
    case untouched
    /// The bytes read for detection, which are still to be returned.
    case plain(head: [UInt8])
    case gzip(GzipInflater)
    case failed(CSVError)
  }

  private let input: RawInput
  private let gzipBufferBytes: Int
  private var state = State.untouched
  private var deliveredBytes = 0

  /// Opens a file.
  /// - Parameter path: the file's path; "-" is the standard input.
  /// - Throws: `CSVError` with the code `source-error` and the system's error number (missing, a folder, no
  ///   permission).
  public convenience init(path: String) throws(CSVError) {
    if path == "-" {
      try self.init(descriptor: 0, name: "stdin")
    } else {
      self.init(try RawInput.open(path: path))
    }
  }

  /// Reads an open descriptor from its current offset.
  /// - Parameters:
  ///   - descriptor: a file, pipe or socket that is open for reading.
  ///   - name: what messages call the input.
  ///   - closes: whether the source closes the descriptor when it is released.
  /// - Throws: `CSVError` with the code `source-error` if it is closed or a folder.
  public convenience init(descriptor: Int32, name: String, closes: Bool = false) throws(CSVError) {
    self.init(try RawInput(.descriptor(descriptor, closes: closes), name: name))
  }

  /// Reads bytes in memory.
  /// - Parameters:
  ///   - bytes: plain text or gzip.
  ///   - name: what messages call the input.
  /// - Throws: Nothing at present; the signature is that of the other sources.
  public convenience init(bytes: [UInt8], name: String = "memory") throws(CSVError) {
    self.init(try RawInput(.memory(bytes), name: name))
  }

  init(_ input: RawInput, gzipBufferBytes: Int = 64 << 10) {
    self.input = input
    self.gzipBufferBytes = gzipBufferBytes
  }

  /// What messages call the input: its path, "stdin" or "memory".
  public var name: String { input.name }

  /// Stored size in bytes (compressed, if it is), for a progress bar; nil for a pipe.
  public var totalBytes: Int? { input.totalBytes }

  /// Number of stored bytes consumed so far.
  public var consumedBytes: Int {
    switch state {
    case .gzip(let inflater): inflater.consumedBytes
    case .plain(let head): input.position - head.count
    case .untouched, .failed: input.position
    }
  }

  /// Number of bytes returned so far, counted in the inflated text.
  public var inflatedBytes: Int { deliveredBytes }

  /// The detected compression; nil before the first read.
  public var compression: Compression? {
    switch state {
    case .plain: Compression.none
    case .gzip: .gzip
    case .untouched, .failed: nil
    }
  }

  /// Called with the stored bytes of every read, before they are inflated, in order and without gaps. It allows
  /// hashing the file without a second pass. Set it before the first read. With an observer, `skip` reads instead of
  /// seeking.
  public var rawBytesObserver: ((RawSpan) -> Void)? {
    get { input.observer }
    set { input.observer = newValue }
  }

  private static let blank = [UInt8](repeating: 0, count: 64 << 10)

  /// Appends the next bytes.
  /// - Parameters:
  ///   - bytes: where they are appended.
  ///   - bytesMax: the largest number of bytes to read, at least 1.
  /// - Returns: the number of bytes, 0 at the end.
  /// - Throws: `CSVError` with the code `source-error`, `compression-error` or `format-error`. Earlier calls have returned all bytes
  ///   before the error; every later call throws the same error.
  public func read(appendingTo bytes: inout [UInt8], bytesMax: Int = 64 << 10) throws(CSVError) -> Int {
    precondition(bytesMax > 0, "bytesMax must be at least 1")
    let old = bytes.count
    // Slices of an array instead of a repeated element: they are copied at once even in unoptimised builds.
    for start in stride(from: 0, to: bytesMax, by: Self.blank.count) {
      bytes.append(contentsOf: Self.blank.prefix(bytesMax - start))
    }
    do throws(CSVError) {
      let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(CSVError) in
        try read(into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[old...])))
      }
      bytes.removeLast(bytesMax - count)
      return count
    } catch {
      bytes.removeLast(bytesMax)
      throw error
    }
  }

  /// Skips bytes of the inflated text, by seeking where the input supports it.
  /// - Parameter count: the number of bytes.
  /// - Throws: `CSVError` with the code `source-error` if the input ends before; otherwise as `read`.
  public func skip(_ count: Int) throws(CSVError) {
    var left = count
    if case .untouched = state { try detectCompression() }
    if case .plain(let head) = state, head.isEmpty, try input.seek(ahead: left) {
      deliveredBytes += left
      return
    }
    var scratch = [UInt8](repeating: 0, count: min(max(left, 1), 64 << 10))
    while left > 0 {
      let got = try scratch.withUnsafeMutableBufferPointer { buffer throws(CSVError) in
        try read(
          into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<min(left, buffer.count)])))
      }
      if got == 0 {
        throw CSVError(
          .source, "ends \(left) bytes before the position to continue from; the file has changed",
          path: name, byte: deliveredBytes)
      }
      left -= got
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    do throws(CSVError) {
      if case .untouched = state { try detectCompression() }
      let count = try readDetected(into: buffer)
      deliveredBytes += count
      return count
    } catch {
      state = .failed(error)
      throw error
    }
  }

  private func readDetected(into buffer: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    switch state {
    case .failed(let error): throw error
    case .gzip(let inflater): return try inflater.read(into: buffer)
    case .untouched: preconditionFailure("the input is recognised before it is read")
    case .plain(let head):
      if head.isEmpty { return try input.read(into: buffer) }
      let count = min(head.count, buffer.count)
      buffer.copyBytes(from: head.prefix(count))
      state = .plain(head: Array(head.dropFirst(count)))
      return count
    }
  }

  /// Recognises gzip by two bytes, and what cannot be read by a few more.
  private func detectCompression() throws(CSVError) {
    var head: [UInt8] = []
    try readHead(&head, GzipInflater.magic.count)
    if head == GzipInflater.magic {
      state = .gzip(GzipInflater(input, head: head, bufferBytes: gzipBufferBytes))
      return
    }
    try readHead(&head, ForeignFormat.headBytes)
    if let foreign = ForeignFormat(head) { throw CSVError(.format, foreign.message, path: name, byte: 0) }
    state = .plain(head: head)
  }

  /// Reads on until there are `count` bytes, or all. A pipe may deliver them one at a time.
  private func readHead(_ head: inout [UInt8], _ count: Int) throws(CSVError) {
    var have = head.count
    head.append(contentsOf: [UInt8](repeating: 0, count: count - have))
    while have < count {
      let got = try head.withUnsafeMutableBufferPointer { buffer throws(CSVError) in
        try input.read(into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[have...])))
      }
      if got == 0 { break }
      have += got
    }
    head.removeLast(count - have)
  }
}
