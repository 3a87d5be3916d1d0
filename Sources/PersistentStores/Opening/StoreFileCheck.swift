import ManagedObjectModel
import CSQLite
import Foundation

/// Checks a store's three files before SQLite uses them: SQLite silently drops a WAL that does not belong to the file,
/// or writes it over the file.
struct StoreFileCheck {
  let path: String
  let header: DatabaseHeader
  /// Nil if there is none.
  let wal: WALHeader?
  /// Whether a connection has the WAL open: then it belongs to the file.
  let isWALInUse: Bool

  private var walPath: String { path + "-wal" }
  private var indexPath: String { path + "-shm" }

  /// - Parameter connection: A read-only connection to the file that has not read yet.
  /// - Throws: `SQLiteError` for a file that is not a complete database, `NSError` 134080 for a foreign WAL.
  init(_ connection: SQLiteConnection, _ path: String) throws {
    self.path = path
    let (bytes, size) = try connection.beginningOfFile()
    guard size > 0 else {
      throw SQLiteError(
        code: SQLITE_NOTADB, message: "the file is empty, and only opening it for writing makes a store of it", sql: nil
      )
    }
    header = try DatabaseHeader(bytes)
    isWALInUse = try FileManager.default.fileExists(atPath: path + "-shm") && connection.isWALInUse()
    wal = WALHeader(path: path + "-wal")
    if !isWALInUse { try Self.twice { problemOfWAL() } }
    try checkLength(size)
  }

  /// The file must be a regular one, and it and its WAL must be readable.
  ///
  /// - Throws: `SQLiteError`.
  static func checkReadable(_ path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let isMissing = errno == ENOENT
      throw SQLiteError(
        code: errno == EACCES ? SQLITE_PERM : SQLITE_CANTOPEN,
        message: isMissing ? "there is no such file" : String(cString: strerror(errno)), sql: nil)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      throw SQLiteError(
        code: SQLiteError.notAFileCode, message: isFolder ? "it is a folder, not a file" : "it is not a regular file",
        sql: nil)
    }
    let files = FileManager.default
    for file in [path, path + "-wal", path + "-journal"]
    where files.fileExists(atPath: file) && !files.isReadableFile(atPath: file) {
      throw SQLiteError(code: SQLITE_PERM, message: "\(file) may not be read", sql: nil)
    }
  }

  // MARK: The WAL

  /// A program that closes the store at this moment removes its files one after the other. A problem counts only if it
  /// still exists a little later.
  private static func twice(_ problem: () -> String?) throws {
    guard problem() != nil else { return }
    usleep(50_000)
    if let problem = problem() { throw NSError.coreData(.open, problem) }
  }

  private func problemOfWAL() -> String? {
    let wal = WALHeader(path: walPath)
    let index = WALIndexHeader(path: indexPath)
    guard let wal, wal.hasFrames else {
      return index.flatMap { missing($0, wal) }
    }
    guard wal.isHeaderSound else {
      return
        "The WAL \(walPath) is damaged: the checksum of its header is wrong, and SQLite would treat it as empty. "
        + "\(together) To go on without what is in the WAL, remove it and \(indexPath)."
    }
    guard wal.pageSize == header.pageSize else {
      return
        "The WAL \(walPath) does not belong to the store \(path): its pages have \(wal.pageSize) bytes, those of the "
        + "store \(header.pageSize). \(together)"
    }
    guard wal.isFirstFrameOfHeader else {
      return "The WAL \(walPath) is damaged: its first page was not written under its header, and SQLite would "
        + "treat it as empty. \(together) To go on without what is in the WAL, remove it and \(indexPath)."
    }
    guard let index, index.frameCount > 0 else { return nil }
    guard wal.salts == index.salts else {
      return
        "The WAL \(walPath) and \(indexPath) are not from the same time: files of different copies were mixed. "
        + "\(together) If the machine went down while the store was written to, remove \(indexPath), which is rebuilt "
        + "from the WAL."
    }
    return missing(index, wal)
  }

  /// Whether the index refers to pages that neither the file nor the WAL has.
  private func missing(_ index: WALIndexHeader, _ wal: WALHeader?) -> String? {
    guard index.framesOnlyInWAL > 0 else { return nil }
    let present = wal.map { $0.hasFrames ? $0.frameCount : 0 }
    guard (present ?? 0) < index.frameCount else { return nil }
    let what =
      present.map { "which is cut off after \($0) of \(index.frameCount) pages" } ?? "which is missing"
    return
      "The store \(path) needs its WAL \(walPath), \(what): \(index.framesOnlyInWAL) pages were not written into the "
      + "file yet. \(together) To go on without them, remove \(indexPath)."
  }

  private var together: String {
    "Bring \(path), \(walPath) and \(indexPath) together, all three as they were in one place at one time: only together "
      + "they are the store."
  }

  // MARK: The file

  /// Pages may be missing at the end only if a WAL or a journal has them.
  private func checkLength(_ size: Int) throws {
    guard let pageCount = header.pageCount, pageCount * header.pageSize > size, wal?.hasFrames != true,
      !FileManager.default.fileExists(atPath: path + "-journal")
    else { return }
    throw SQLiteError(
      code: SQLITE_CORRUPT,
      message: "it is cut off: it has \(size) bytes and should have \(pageCount * header.pageSize), which are "
        + "\(pageCount) pages of \(header.pageSize)", sql: nil)
  }

  /// The file by itself and the file with its WAL must be the same store.
  ///
  /// - Parameter connection: A connection that sees the WAL and must not checkpoint it when it closes.
  func checkStore(_ connection: SQLiteConnection) throws {
    guard !isWALInUse, wal?.hasFrames == true, let alone = try? uuidOfFileAlone() else { return }
    let whole: String?
    do {
      whole = try uuid(connection)
    } catch let error as SQLiteError where error.primaryCode == SQLITE_ERROR {
      // Without Z_METADATA the file is not a store.
      whole = nil
    } catch {
      // The next reader reports the problem.
      return
    }
    guard alone != whole else { return }
    throw NSError.coreData(
      .open,
      "The WAL \(walPath) does not belong to the store \(path): the file belongs to the store \(alone), the WAL to "
        + "\(whole ?? "another database"). \(together)")
  }

  private func uuidOfFileAlone() throws -> String? {
    let connection = try SQLiteConnection(path: path, mode: .immutable)
    defer { connection.close() }
    return try uuid(connection)
  }

  private func uuid(_ connection: SQLiteConnection) throws -> String? {
    guard case .text(let uuid)? = try connection.rows("SELECT Z_UUID FROM Z_METADATA LIMIT 1").first?.first else {
      return nil
    }
    return uuid
  }
}
