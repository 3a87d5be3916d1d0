#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lets a caller preview an input that can be read only once, such as a pipe, and then read it from its start.
///
/// The previewed bytes are kept in an unlinked file in the temporary directory (`TMPDIR`), which disappears with the
/// spool or the process. Use a spool from one thread at a time.
public final class InputSpool {
  private let descriptor: Int32
  private let name: String
  private var file: Int32 = -1
  private var failure: CSVError?

  /// - Parameters:
  ///   - descriptor: what to read; it is not closed.
  ///   - name: the name of the input in messages.
  public init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  deinit { if file >= 0 { close(file) } }

  /// The input for a preview; any part of it may be read.
  /// - Throws: `CSVError` with the code `source-error` if the descriptor can't be read or the temporary file can't be
  ///   created.
  public func previewSource() throws(CSVError) -> ByteSource {
    file = try Self.makeFile()
    let source = try ByteSource(descriptor: descriptor, name: name)
    source.rawBytesObserver = { [unowned self] bytes in keep(bytes) }
    return source
  }

  /// The complete input from its start. The preview source must not be read any more.
  /// - Throws: `CSVError` with the code `source-error` if the previewed bytes could not be kept.
  public func completeSource() throws(CSVError) -> ByteSource {
    if let failure { throw failure }
    let spool = self
    var offset: off_t = 0
    var isKeptPart = file >= 0
    let rest = try RawInput(.descriptor(descriptor, closes: false), name: name)
    return ByteSource(
      try RawInput(
        .generator { buffer throws(CSVError) in
          if isKeptPart {
            let count = pread(spool.file, buffer.baseAddress, buffer.count, offset)
            if count < 0 { throw Self.failure(errno) }
            offset += count
            if count > 0 { return count }
            isKeptPart = false
          }
          return try rest.read(into: buffer)
        }, name: name))
  }

  /// A copy in the temporary directory of an input that can be read only in order.
  /// - Parameter head: the bytes already read from `input`.
  static func copy(_ input: RawInput, head: [UInt8]) throws(CSVError) -> RawInput {
    let file = try makeFile()
    var isKept = false
    defer { if !isKept { close(file) } }
    var piece = [UInt8](repeating: 0, count: max(head.count, 64 << 10))
    piece.replaceSubrange(..<head.count, with: head)
    var count = head.count
    while count > 0 {
      do throws(CSVError) {
        try piece[..<count].withUnsafeBufferPointer { bytes throws(CSVError) in
          try writeAll(UnsafeRawBufferPointer(bytes), to: file, name: "the temporary copy")
        }
      } catch {
        throw failure(error.errnoCode ?? EIO)
      }
      count = try piece.overwrite(from: 0) { bytes throws(CSVError) in try input.read(into: bytes) }
    }
    isKept = true
    lseek(file, 0, SEEK_SET)
    return try RawInput(.descriptor(file, closes: true), name: input.name)
  }

  private func keep(_ bytes: RawSpan) {
    guard failure == nil else { return }
    do throws(CSVError) {
      try bytes.withUnsafeBytes { buffer throws(CSVError) in try writeAll(buffer, to: file, name: "the temporary copy")
      }
    } catch {
      failure = Self.failure(error.errnoCode ?? EIO)
    }
  }

  private static func makeFile() throws(CSVError) -> Int32 {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    var template = Array("\(folder)/input-XXXXXX".utf8CString)
    let descriptor = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map { mkstemp($0) } ?? -1
    }
    if descriptor < 0 { throw failure(errno) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func failure(_ code: Int32) -> CSVError {
    CSVError(
      .source,
      "what was read can't be kept in the temporary directory: \(systemMessage(code)). Free some space there, or set TMPDIR",
      path: "stdin", errnoCode: code)
  }
}
