#if canImport(Darwin)
  import Darwin
#else
  import CWriteback
  import Glibc
#endif

/// A file that is written under another name in the same folder and renamed when it is whole.
final class OutputFile {
  let path: String
  private let temporaryPath: String
  /// Below zero once closed.
  private var descriptor: Int32
  /// Whether the temporary file is still there.
  private var isPending = true
  private var writtenBytes = 0
  /// Up to where the disk was asked to take the file in.
  private var startedBytes = 0
  /// Few requests, and none for small files.
  private static let bytesPerStart = 4 << 20

  private init(path: String, temporaryPath: String, descriptor: Int32) {
    self.path = path
    self.temporaryPath = temporaryPath
    self.descriptor = descriptor
  }

  deinit { abandon() }

  /// Chooses between a new file beside the target and, where the target is no regular file, the target itself.
  static func open(path: String) throws(CSVError) -> RawOutput {
    var status = stat()
    if stat(path, &status) != 0 {
      let code = errno
      guard code == ENOENT else { throw writeFailure(code, path) }
      if lstat(path, &status) == 0 {
        throw CSVError(
          .write, "is a symbolic link to nothing; remove it or make its target", path: path, errnoCode: code)
      }
      return .file(try create(for: path, mode: nil, messagePath: path))
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: throw writeFailure(EISDIR, path)
    case S_IFREG:
      // A rename would replace a file that its owner has write-protected.
      if access(path, W_OK) != 0 { throw writeFailure(errno, path) }
      let target = resolved(path) ?? path
      return .file(try create(for: target, mode: status.st_mode & 0o777, messagePath: path))
    default:
      let descriptor = openForWriting(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      if descriptor < 0 { throw writeFailure(errno, path) }
      return .descriptor(descriptor, name: path, closes: true)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CSVError) {
    try writeAll(bytes, to: descriptor, name: path)
    writtenBytes += bytes.count
    if writtenBytes - startedBytes >= Self.bytesPerStart { startWriteback() }
  }

  /// The disk works while more is made, so that `finish` waits for the end of the file alone. What fails here fails there
  /// again.
  private func startWriteback() {
    #if os(Linux)
      _ = sync_file_range(descriptor, startedBytes, writtenBytes - startedBytes, UInt32(CWRITEBACK_START))
    #endif
    startedBytes = writtenBytes
  }

  /// Makes the bytes durable under the temporary name; nothing stays open.
  func finish() throws(CSVError) {
    if fsync(descriptor) != 0 { throw writeFailure(errno, path) }
    let closing = close(descriptor)
    descriptor = -1
    if closing != 0 { throw writeFailure(errno, path) }
  }

  /// Gives the finished file its name.
  func publish() throws(CSVError) {
    if rename(temporaryPath, path) != 0 { throw writeFailure(errno, path) }
    isPending = false
  }

  /// Removes what was written; nothing once it has its name.
  func abandon() {
    if descriptor >= 0 {
      close(descriptor)
      descriptor = -1
    }
    if isPending { unlink(temporaryPath) }
    isPending = false
  }

  /// The name itself lies in the folder, so the folder must reach the disk too.
  func syncFolder() throws(CSVError) {
    let (folder, _) = Self.split(path)
    let folderDescriptor = Self.openForWriting(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written but not read cannot be opened; the file is in place all the same.
    if folderDescriptor < 0 { return }
    defer { close(folderDescriptor) }
    // Some file systems cannot sync a folder and say EINVAL.
    if fsync(folderDescriptor) != 0 && errno != EINVAL { throw writeFailure(errno, path) }
  }

  private static func create(for path: String, mode: mode_t?, messagePath: String) throws(CSVError) -> OutputFile {
    let (folder, name) = split(path)
    if name.isEmpty { throw writeFailure(EISDIR, messagePath) }
    // A long name plus ours could go over the system's 255 bytes.
    let stem = name.utf8.count > 200 ? "output" : name
    removeLeftovers(of: stem, in: folder)
    while true {
      let unique = String(UInt64.random(in: .min ... .max), radix: 36)
      let temporaryPath = "\(folder)/.\(stem).\(unique).partial"
      let descriptor = openForWriting(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
      if descriptor >= 0 {
        // The lock tells others that somebody is writing; it goes with this process. Some file systems have none.
        let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
        if isTaken || !isLinked(descriptor) {
          close(descriptor)
          continue
        }
        if let mode { fchmod(descriptor, mode) }
        return OutputFile(path: path, temporaryPath: temporaryPath, descriptor: descriptor)
      }
      if errno != EEXIST { throw writeFailure(errno, messagePath) }
    }
  }

  /// Removes what processes that were killed have left of the same file: nobody holds its lock any more.
  private static func removeLeftovers(of stem: String, in folder: String) {
    guard let listing = opendir(folder) else { return }
    defer { closedir(listing) }
    while let item = readdir(listing) {
      let name = withUnsafeBytes(of: item.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name.hasPrefix(".\(stem)."), name.hasSuffix(".partial") else { continue }
      let unique = name.dropFirst(stem.utf8.count + 2).dropLast(".partial".count)
      guard !unique.isEmpty, unique.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isLowercase) }) else { continue }
      let descriptor = openForWriting("\(folder)/\(name)", O_WRONLY | O_CLOEXEC)
      if descriptor < 0 { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink("\(folder)/\(name)") }
      close(descriptor)
    }
  }

  /// False where another process took the new file for a leftover before it was locked.
  private static func isLinked(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  private static func openForWriting(_ path: String, _ flags: Int32) -> Int32 {
    var descriptor: Int32
    repeat {
      #if canImport(Darwin)
        descriptor = Darwin.open(path, flags, 0o644)
      #else
        descriptor = Glibc.open(path, flags, 0o644)
      #endif
    } while descriptor < 0 && errno == EINTR
    return descriptor
  }

  private static func resolved(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }
}
