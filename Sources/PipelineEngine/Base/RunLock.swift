import Foundation
import SystemSupport
import PersistentStores

/// Allows one run at a time on a store: an exclusive flock(2) on `<store>.lock`, a file next to the store.
///
/// The lock is not on the store itself: SQLite keeps its own locks there, and closing any descriptor of the store drops
/// them. The lock ends with the process that holds it, however the process ends, so that of a dead holder is free. The
/// file names the holder and is removed before the lock is released; so a process that has locked a file checks that
/// the file still has the name. Only the file of a living run names a living holder: a run that finds another file locked
/// tries again for a moment.
package final class RunLock: Sendable {
  /// Path of the lock's file.
  let path: String
  private let state: Locked<State>

  private struct State {
    /// Negative once released.
    var descriptor: Int32
    /// Folders that were created for the lock, the innermost first.
    var madeFolders: [String]
  }

  /// Takes the lock, or throws and names the holder; it does not wait for a run to end.
  ///
  /// - Throws: 75 with the holder's name where it is held; 77, 73 or 74 where it can't be taken.
  package init(storePath: String, pipeline: String, now: Date) throws(RunFailure) {
    // One store has one lock, by whatever links a path leads to it.
    path = Self.path(ofStore: storePath)
    var made: [String] = []
    do throws(RunFailure) {
      let descriptor = try Self.acquire(path, store: storePath, madeFolders: &made)
      let holder = LockHolder(pipeline: pipeline, since: now)
      let code = holder.write(to: descriptor)
      guard code == 0 else {
        unlink(path)
        close(descriptor)
        throw RunFailure(path, "can't be written", errno: code)
      }
      state = Locked(State(descriptor: descriptor, madeFolders: made))
    } catch {
      for folder in made { rmdir(folder) }
      throw error
    }
  }

  deinit { release() }

  /// The path of the lock's file.
  static func path(ofStore storePath: String) -> String { StorePath.resolved(storePath) + ".lock" }

  /// Allows the next run; later calls do nothing.
  package func release() {
    state.withLock { state in
      guard state.descriptor >= 0 else { return }
      // While it is locked: afterwards the name could already be another run's.
      unlink(path)
      close(state.descriptor)
      state.descriptor = -1
      // Only empty folders are removed.
      for folder in state.madeFolders { rmdir(folder) }
    }
  }

  /// Removes the file of a lock that a killed run has left, for a run that ends before it takes the lock. The file is
  /// locked meanwhile and goes on naming the dead holder, so that a run that begins now waits for the removal.
  static func removeLeft(storePath: String) {
    let path = path(ofStore: storePath)
    let descriptor = uninterrupted { open(path, openFlags) }
    if descriptor < 0 { return }
    defer { close(descriptor) }
    if (try? lock(descriptor, path, store: storePath)) == .taken { unlink(path) }
  }

  // MARK: Acquiring

  /// A link is not followed: the file that it leads to would be overwritten.
  private static let openFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
  /// How often a lock without a living holder is tried again: its holder is about to remove the file, or to write its name.
  private static let retriesMax = 50
  private static let secondsBetweenTries = 0.01

  /// - Returns: The descriptor that holds the lock.
  private static func acquire(
    _ path: String, store: String, madeFolders: inout [String]
  ) throws(RunFailure) -> Int32 {
    let mode = mode_t(FileRights.ofFile(path, near: store))
    var retries = 0
    while true {
      let descriptor = uninterrupted { open(path, openFlags | O_CREAT, mode) }
      if descriptor < 0, errno == ENOENT, makeFolders(above: path, &madeFolders) { continue }
      guard descriptor >= 0 else { throw failure(path, errno) }
      do throws(RunFailure) {
        switch try lock(descriptor, path, store: store) {
        case .taken: return descriptor
        case .removed: break
        case .held:
          let holder = LockHolder(contentOf: descriptor)
          if holder?.isAlive == true || retries == retriesMax { throw held(path, store: store, by: holder) }
          retries += 1
          Thread.sleep(forTimeInterval: secondsBetweenTries)
        }
      } catch {
        close(descriptor)
        throw error
      }
      close(descriptor)
    }
  }

  private enum Attempt {
    case taken
    /// The former holder has removed the file meanwhile: a new one has to be locked.
    case removed
    /// Another process has the lock.
    case held
  }

  private static func lock(_ descriptor: Int32, _ path: String, store: String) throws(RunFailure) -> Attempt {
    if uninterrupted({ flock(descriptor, LOCK_EX | LOCK_NB) }) != 0 {
      if errno == EWOULDBLOCK { return .held }
      throw failure(path, errno)
    }
    var locked = stat()
    guard fstat(descriptor, &locked) == 0 else { throw failure(path, errno) }
    guard let named = stat.of(path, followingLinks: false),
      FileIdentity(named).isSameFile(as: FileIdentity(locked))
    else { return .removed }
    guard locked.type == S_IFREG, locked.st_size == 0 || LockHolder.mayHaveWritten(descriptor) else {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(path) is needed as the lock of \(store), but is something else; move it away, or move the store")
    }
    return .taken
  }

  private static func makeFolders(above path: String, _ made: inout [String]) -> Bool {
    var missing: [String] = []
    var folder = OutputPath.folder(of: path)
    while stat.of(folder) == nil, errno == ENOENT, folder != "/" {
      missing.append(folder)
      folder = OutputPath.folder(of: folder)
    }
    for folder in missing.reversed() {
      guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { return false }
      made.insert(folder, at: 0)
    }
    return !missing.isEmpty
  }

  private static func failure(_ path: String, _ code: Int32) -> RunFailure {
    switch code {
    case ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL:
      RunFailure(
        code: nil, exitCode: .ioError,
        message: "\(path) can't be locked: its file system has no flock; keep the store on a local disk")
    case ELOOP:
      RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(path) is a symbolic link, which a lock must not be; remove it")
    default: RunFailure(path, "can't be made to lock the store", errno: code)
    }
  }

  private static func held(_ path: String, store: String, by holder: LockHolder?) -> RunFailure {
    let name = holder.flatMap { $0.isDead ? nil : $0.description } ?? "another process, which locks \(path)"
    return RunFailure(
      code: nil, exitCode: .temporaryFailure, message: "\(store) is in use by \(name); try again later")
  }
}

/// The holder of a lock: the line in its file.
struct LockHolder: Codable, Equatable {
  let pid: Int32
  let host: String
  let pipeline: String
  /// ISO 8601, in UTC.
  let since: String

  /// This process.
  init(pipeline: String, since: Date) {
    pid = getpid()
    host = Self.hostHere
    self.pipeline = pipeline
    self.since = DateText.iso8601(since.timeIntervalSinceReferenceDate.rounded(.down)) ?? ""
  }

  /// Writes the line in place of what the file holds.
  ///
  /// - Returns: 0, or the code of the system call that failed.
  func write(to descriptor: Int32) -> Int32 {
    while ftruncate(descriptor, 0) != 0 {
      if errno != EINTR { return errno }
    }
    var rest = Array(line.utf8)
    var offset = 0
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest, rest.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      rest.removeFirst(count)
      offset += count
    }
    return 0
  }

  /// Whether the content is a holder's line, or what a power cut leaves of one: its beginning, or zeros.
  static func mayHaveWritten(_ descriptor: Int32) -> Bool {
    if LockHolder(contentOf: descriptor) != nil { return true }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0, count < bytes.count else { return false }
    let text = bytes[..<count].prefix { $0 != 0 }
    return bytes[text.count..<count].allSatisfy { $0 == 0 }
      && (text.starts(with: lineStart) || lineStart.starts(with: text))
  }

  private static let lineStart = Array(#"{"host":"#.utf8)

  /// Reads from the start, regardless of the descriptor's offset. Nil where the file holds something else, or nothing yet.
  init?(contentOf descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    self.init(Data(bytes[..<count]))
  }

  /// From `line`.
  init?(line: String) { self.init(Data(line.utf8)) }

  private init?(_ data: Data) {
    guard let holder = try? JSONDecoder().decode(LockHolder.self, from: data) else { return nil }
    self = holder
  }

  var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Numbers and texts can always be encoded; the lock holds even without a line.
    let data = (try? encoder.encode(self)) ?? Data()
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  /// Whether the process is known to be gone: then the line is its, and the lock is held by another.
  var isDead: Bool { host == Self.hostHere && kill(pid, 0) != 0 && errno == ESRCH }

  /// Whether there is a process with the number. Those of another host are not known.
  var isAlive: Bool { host == Self.hostHere && !isDead }

  var description: String {
    "pid \(pid)\(host == Self.hostHere ? "" : " on \(host)") (pipeline \(pipeline), since \(since))"
  }

  /// Without asking a name server, unlike Foundation.
  private static let hostHere: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }()
}
