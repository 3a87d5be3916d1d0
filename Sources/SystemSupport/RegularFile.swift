import Foundation

/// Opens files that have to be regular ones.
///
/// Something else may have the name of a file: opening a FIFO waits for its other end, and some devices act when they are
/// opened. They are refused without being opened.
package enum RegularFile {
  /// - Parameter flags: How it is opened, such as `O_RDONLY`; it is closed in programs that are started.
  /// - Returns: A descriptor.
  package static func open(_ path: String, _ flags: Int32 = O_RDONLY) throws(RegularFileError) -> Int32 {
    var status = stat()
    if stat(path, &status) == 0 { try check(status) }
    // Something else may have taken the name meanwhile. No call waits for a regular file, so the flag changes nothing for one.
    let descriptor = uninterrupted { Foundation.open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { throw .system(errno) }
    do throws(RegularFileError) {
      guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
      try check(status)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// What the file has, up to a number of bytes.
  package static func read(_ path: String, bytesMax: Int = .max) throws(RegularFileError) -> [UInt8] {
    let descriptor = try open(path)
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(bytesMax, 64 << 10))
    while bytes.count < bytesMax {
      let count = pread(descriptor, &piece, min(piece.count, bytesMax - bytes.count), off_t(bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(errno) }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    return bytes
  }

  private static func check(_ status: stat) throws(RegularFileError) {
    if let kind = kind(status) { throw .otherKind(kind) }
  }

  /// What something is that is not a regular file; nil for one.
  package static func kind(_ status: stat) -> String? {
    switch status.st_mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "a folder, not a file"
    case S_IFIFO: "a FIFO, not a regular file"
    case S_IFSOCK: "a socket, not a regular file"
    default: "a device, not a regular file"
    }
  }
}

/// Why a file was not opened or read.
package enum RegularFileError: Error, Equatable {
  /// The system's error number.
  case system(Int32)
  /// What the path leads to.
  case otherKind(String)

  package var code: Int32 {
    switch self {
    case .system(let code): code
    case .otherKind: EINVAL
    }
  }

  package var reason: String {
    switch self {
    case .system(let code): String(cString: strerror(code))
    case .otherKind(let kind): "it is \(kind)"
    }
  }
}

extension FileHandle {
  /// A regular file, open for reading; nil where there is none that may be read.
  package static func ofRegularFile(_ path: String) -> FileHandle? {
    (try? RegularFile.open(path)).map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
  }
}
