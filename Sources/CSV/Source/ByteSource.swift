/// The bytes of an input from start to end, decompressed if they are gzip, Zstandard, xz or bzip2, or a zip archive of
/// one file.
///
/// How an input is stored is detected by its first bytes, never by a file name. Other archives, workbooks and databases
/// are detected too and refused by name. Everything but gzip is read with the system's libarchive, which is loaded when
/// first needed. Use a source from one thread at a time. It may be created on one thread and used on another.
///
/// ```swift
/// let source = try ByteSource(path: "surf-log.csv.gz")
/// var text: [UInt8] = []
/// while try source.read(appendingTo: &text) > 0 {}
/// print(source.name, source.consumedBytes, source.inflatedBytes)
/// ```
public final class ByteSource {
  /// How the input is stored.
  public enum Compression: Sendable, Hashable { case none, gzip, zstandard, xz, bzip2, zip }

  private enum State {
    case untouched
    /// The bytes read for detection, which are still to be returned.
    case plain(head: [UInt8])
    /// The first decompressed bytes, which are still to be returned.
    case compressed(any Decompressor, head: [UInt8])
    case failed(CSVError)
  }

  private let input: RawInput
  private let gzipBufferBytes: Int
  private var state = State.untouched
  private var deliveredBytes = 0
  /// The detected compression; nil before the first read.
  public private(set) var compression: Compression?

  /// Opens a file.
  ///
  /// ```swift
  /// let reader = try CSVReader(ByteSource(path: "surf-log.csv.gz"))
  /// ```
  ///
  /// - Parameter path: the file's path; "-" is the standard input.
  /// - Throws: `CSVError` with the code `source-error` and the system's error number (missing, a folder, no
  ///   permission).
  public convenience init(path: String) throws(CSVError) { try self.init(path: path, unless: nil) }

  /// Opens a file; see `init(path:)`.
  ///
  /// - Parameter isCancelled: Ends the wait for the writer of a pipe, with ECANCELED as the error's number.
  package convenience init(path: String, unless isCancelled: (() -> Bool)?) throws(CSVError) {
    self.init(
      path == "-"
        ? try RawInput(.descriptor(0, closes: false), name: "stdin", unless: isCancelled)
        : try RawInput.open(path: path, unless: isCancelled))
  }

  /// Reads an open descriptor from its current offset.
  ///
  /// ```swift
  /// let input = FileHandle.standardInput
  /// let source = try ByteSource(descriptor: input.fileDescriptor, name: "standard input")
  /// ```
  ///
  /// - Parameters:
  ///   - descriptor: a file, pipe or socket that is open for reading.
  ///   - name: what messages call the input.
  ///   - closes: whether the source closes the descriptor when it is released.
  /// - Throws: `CSVError` with the code `source-error` if it is closed or a folder.
  public convenience init(descriptor: Int32, name: String, closes: Bool = false) throws(CSVError) {
    self.init(try RawInput(.descriptor(descriptor, closes: closes), name: name))
  }

  /// Reads bytes in memory.
  ///
  /// ```swift
  /// let source = try ByteSource(bytes: Array("date,location\n2014-07-14,Rincon\n".utf8))
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: plain or compressed text.
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
    case .compressed(let decompressor, _): decompressor.consumedBytes
    case .plain(let head): input.position - head.count
    case .untouched, .failed: input.position
    }
  }

  /// Number of bytes returned so far, counted in the decompressed text.
  public var inflatedBytes: Int { deliveredBytes }

  /// Called with the stored bytes of every read, before they are decompressed, in order and without gaps. It allows
  /// hashing the file without a second pass. Set it before the first read. With an observer, `skip` reads instead of
  /// seeking.
  public var rawBytesObserver: ((RawSpan) -> Void)? {
    get { input.observer }
    set { input.observer = newValue }
  }

  private static let blank = [UInt8](repeating: 0, count: 64 << 10)

  /// Appends the next bytes.
  ///
  /// ```swift
  /// var head: [UInt8] = []
  /// let count = try source.read(appendingTo: &head, bytesMax: 512)
  /// if count == 0 { print("\(source.name) is empty") }
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: where they are appended.
  ///   - bytesMax: the largest number of bytes to read, at least 1.
  /// - Returns: the number of bytes, 0 at the end.
  /// - Throws: `CSVError` with the code `source-error`, `compression-error` or `format-error`. Earlier calls have returned all bytes
  ///   before the error; every later call throws the same error.
  public func read(appendingTo bytes: inout [UInt8], bytesMax: Int = 64 << 10) throws(CSVError) -> Int {
    // The caller's mistake.
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

  /// Skips bytes of the decompressed text, by seeking where the input supports it.
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
    case .compressed(let decompressor, let head):
      if head.isEmpty { return try decompressor.read(into: buffer) }
      let count = min(head.count, buffer.count)
      buffer.copyBytes(from: head.prefix(count))
      state = .compressed(decompressor, head: Array(head.dropFirst(count)))
      return count
    // `detectCompression()`, which `read(into:)` calls first, leaves another state or throws.
    case .untouched: preconditionFailure("the input is recognised before it is read")
    case .plain(let head):
      if head.isEmpty { return try input.read(into: buffer) }
      let count = min(head.count, buffer.count)
      buffer.copyBytes(from: head.prefix(count))
      state = .plain(head: Array(head.dropFirst(count)))
      return count
    }
  }

  /// Recognises gzip by two bytes, and everything else by some more.
  private func detectCompression() throws(CSVError) {
    var head: [UInt8] = []
    try input.readHead(&head, GzipInflater.magic.count)
    var kind: Compression? = head == GzipInflater.magic ? .gzip : nil
    if kind == nil {
      try input.readHead(&head, ForeignFormat.headBytes)
      if let foreign = ForeignFormat(head) { throw CSVError(.format, foreign.message, path: name, byte: 0) }
      kind = CompressedHead.kind(of: head)
    }
    guard let kind else {
      try checkUncut(head)
      compression = Compression.none
      state = .plain(head: head)
      return
    }
    compression = kind
    let decompressor = try Decompression.open(kind, input, head: head, gzipBufferBytes: gzipBufferBytes)
    state = .compressed(decompressor, head: try contentHead(of: decompressor, kind))
  }

  /// Refuses an input that ends within the bytes by which compressed data is recognised.
  private func checkUncut(_ head: [UInt8]) throws(CSVError) {
    guard head.count < ForeignFormat.headBytes, let kind = CompressedHead.kind(ofCut: head) else { return }
    throw CSVError(
      .compression, "the \(kind.word) data ends in the middle; fetch the file again", path: name, byte: 0,
      compressedByte: head.count)
  }

  /// The first decompressed bytes, which are checked like those of a plain input.
  private func contentHead(of decompressor: any Decompressor, _ kind: Compression) throws(CSVError) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: ForeignFormat.headBytes)
    var have = 0
    while have < head.count {
      do throws(CSVError) {
        let got = try head.overwrite(from: have) { buffer throws(CSVError) in try decompressor.read(into: buffer) }
        if got == 0 { break }
        have += got
      } catch {
        if have == 0 { throw error }
        // The next read throws it again.
        break
      }
    }
    head.removeLast(head.count - have)
    if let foreign = ForeignFormat(head) {
      throw CSVError(.format, "is \(kind.noun) whose content \(foreign.message)", path: name, byte: 0)
    }
    if let inner = head.starts(with: GzipInflater.magic) ? .gzip : CompressedHead.kind(of: head) {
      throw Decompression.doubled(inner, kind, path: name)
    }
    return head
  }
}
