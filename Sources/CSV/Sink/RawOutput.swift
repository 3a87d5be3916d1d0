#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The destination of the stored bytes.
enum RawOutput {
  case descriptor(Int32, name: String, closes: Bool)
  case pipe(PipeOutput)
  case file(OutputFile)
  case memory(MemoryOutput)
  /// Receives every piece in turn; for outputs that fail on demand.
  case custom((UnsafeRawBufferPointer) throws(CSVError) -> Void)

  var name: String {
    switch self {
    case .descriptor(_, let name, _): name
    case .pipe(let pipe): pipe.path
    case .file(let file): file.path
    case .memory, .custom: "memory"
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CSVError) {
    switch self {
    case .descriptor(let descriptor, let name, _): try writeAll(bytes, to: descriptor, name: name)
    case .pipe(let pipe): try pipe.write(bytes)
    case .file(let file): try file.write(bytes)
    case .memory(let memory): memory.bytes.append(contentsOf: bytes)
    case .custom(let take): try take(bytes)
    }
  }

  /// Ends the writing.
  func finish() throws(CSVError) {
    switch self {
    case .descriptor(let descriptor, let name, closes: true):
      if close(descriptor) != 0 { throw writeFailure(errno, name) }
    case .pipe(let pipe): try pipe.finish()
    case .file(let file): try file.finish()
    case .descriptor, .memory, .custom: return
    }
  }

  /// Makes a finished file appear under its final path.
  func publish() throws(CSVError) {
    if case .file(let file) = self { try file.publish() }
  }

  /// Syncs the folder of a published file.
  func syncFolder() throws(CSVError) {
    if case .file(let file) = self { try file.syncFolder() }
  }

  /// - Parameter isFinished: whether `finish` has returned.
  func abandon(isFinished: Bool) {
    switch self {
    case .descriptor(let descriptor, _, closes: true): if !isFinished { close(descriptor) }
    case .pipe(let pipe): pipe.abandon()
    case .file(let file): file.abandon()
    case .descriptor, .memory, .custom: return
    }
  }
}

/// Bytes that stay in memory, shared by the sink and its owner.
final class MemoryOutput {
  var bytes: [UInt8] = []
}

func writeFailure(_ code: Int32, _ name: String) -> CSVError {
  CSVError(.write, "cannot be written: \(systemMessage(code))", path: name, errnoCode: code)
}

/// Writes every byte, in as many system calls as needed.
///
/// - Parameter wait: Called when a descriptor that does not block can't take a byte now.
func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, name: String,
  waiting wait: (() throws(CSVError) -> Void)? = nil
) throws(CSVError) {
  var rest = bytes
  while !rest.isEmpty {
    #if canImport(Darwin)
      let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
    #else
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
    #endif
    if count >= 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      continue
    }
    switch errno {
    case EINTR: continue
    case EAGAIN:
      if let wait { try wait() } else { waitUntilReady(descriptor, for: Int16(POLLOUT)) }
    default: throw writeFailure(errno, name)
    }
  }
}
