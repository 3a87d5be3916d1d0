import ManagedObjectModel
import CSQLite
import Foundation
import SystemSupport

/// Checks a store's three files before SQLite uses them: SQLite silently drops a WAL that does not belong to the file,
/// or writes it over the file.
struct StoreFileCheck {
  /// What the store is opened for.
  enum Purpose {
    case writing
    case reading
    /// A look at what a program that is about to write will see.
    case readingBeforeWriting
    /// Also what SQLite sees of a damaged WAL.
    case readingDamagedWAL

    /// Whether a WAL is accepted as a power failure may leave it: without frames that were not synced. What a program had
    /// waited for is on the disk, so that it can go on. A program that only reads reports what its answer lacks.
    var acceptsLosses: Bool { self != .reading }
  }

  /// Without symbolic links.
  let path: String
  let purpose: Purpose
  let header: DatabaseHeader
  /// The number of pages that the file has by itself.
  let pagesInFile: Int
  /// Nil if there is none.
  let wal: WALHeader?
  /// Whether a connection has the WAL open: then it belongs to the file.
  let isWALInUse: Bool
  /// What the WAL lacks that SQLite goes on without, as a sentence; nil if it lacks nothing.
  private(set) var loss: String?
  private var foreignWAL: NSError?

  var walPath: String { path + "-wal" }
  var indexPath: String { path + "-shm" }

  /// - Parameter connection: A read-only connection to the file that has not read yet.
  /// - Throws: `SQLiteError` for a file that is not a complete database, `NSError` 134080 for a WAL that is damaged or
  ///   does not belong to the file.
  init(_ connection: SQLiteConnection, _ path: String, for purpose: Purpose) throws {
    self.path = path
    self.purpose = purpose
    let (bytes, size) = try connection.beginningOfFile()
    guard !DatabaseHeader.isUnmade(bytes, at: path) else {
      throw SQLiteError(
        code: SQLITE_NOTADB, message: "the file is empty, and only opening it for writing makes a store of it", sql: nil
      )
    }
    do {
      header = try DatabaseHeader(bytes)
    } catch var error as SQLiteError {
      error.isOfWriter = purpose == .writing || purpose == .readingBeforeWriting
      throw error
    }
    pagesInFile = size / header.pageSize
    isWALInUse = try mayExist(path + "-shm") && connection.isWALInUse()
    wal = try Self.walHeader(at: path + "-wal")
    if !isWALInUse { (foreignWAL, loss) = try checkWAL() }
    try checkLength(size)
  }

  /// Nil if there is no WAL. Throws if there is one that can't be read, as on a failing disk: without it the file would
  /// be read without its last commits.
  private static func walHeader(at path: String) throws -> WALHeader? {
    // Another program may create or remove it between two looks.
    for _ in 1...3 {
      let header = WALHeader(path: path)
      var status = stat()
      guard stat(path, &status) == 0 else {
        if header != nil || errno == ENOENT { return header }
        throw SQLiteError(.last, "\(path) can't be examined")
      }
      if let header, header.size > 0 || status.st_size == 0 { return header }
    }
    throw SQLiteError(code: SQLITE_IOERR, message: "\(path) can't be read", sql: nil)
  }

  /// The file and those next to it must be regular ones, and it and its WAL must be readable.
  ///
  /// - Throws: `SQLiteError`.
  static func checkReadable(_ path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { throw SQLiteError(code: SQLITE_CANTOPEN, message: "the file does not exist", sql: nil) }
      throw SQLiteError(.last, "the file can't be examined")
    }
    try StorePath.checkKind(path)
    for file in [path, path + "-wal", path + "-journal"] where access(file, R_OK) != 0 {
      if [ENOENT, ENOTDIR].contains(errno) { continue }
      if errno == EACCES { throw SQLiteError(code: SQLITE_PERM, message: "\(file) may not be read", sql: nil) }
      throw SQLiteError(.last, "\(file) can't be examined")
    }
  }

  /// A file that is written to must have one name: each name leads to a WAL and a lock of its own, so that two programs
  /// would write at the same time, and each would miss what the other has in its WAL.
  ///
  /// - Throws: `NSError` 134080.
  static func checkHasOneName(_ path: String) throws {
    var status = stat()
    // What is not a regular file is refused by its kind. Each folder has a second name, its own ".".
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1 else { return }
    throw NSError.coreData(
      .open,
      "The store \(path) has \(status.st_nlink) names (hard links). Programs that write to it by different names damage "
        + "it. List the names with `find FOLDER -samefile STORE`, where FOLDER contains all of them, and remove all but "
        + "one; or copy the store with `cp` and use the copy.")
  }

  // MARK: The file

  /// Pages may be missing at the end only if a WAL or a journal has them.
  private func checkLength(_ size: Int) throws {
    guard let pageCount = header.pageCount, pageCount * header.pageSize > size, wal?.hasFrames != true,
      !mayExist(path + "-journal")
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
    if try !checkUUID(connection), let foreignWAL { throw foreignWAL }
  }

  /// - Returns: Whether the WAL holds another store than the file, and that was announced (`ExchangeSign`).
  private func checkUUID(_ connection: SQLiteConnection) throws -> Bool {
    guard !isWALInUse, wal?.hasFrames == true, let (alone, keysAlone) = try? ofFileAlone() else { return false }
    let whole: String?
    var keys: [String: Int64] = [:]
    do {
      whole = try uuid(connection)
      keys = (try? self.keys(connection)) ?? [:]
    } catch let error as SQLiteError where error.primaryCode == SQLITE_ERROR {
      // Without Z_METADATA the file is not a store.
      whole = nil
    } catch {
      // The next reader reports the problem.
      return false
    }
    // Keys are never used again, so the last ones given out only grow.
    let older = keys.filter { $0.value < keysAlone[$0.key] ?? 0 }.keys.min()
    if let older, alone == whole, purpose == .readingDamagedWAL {
      throw NSError.coreData(
        .open,
        "What SQLite sees of the damaged WAL \(walPath) is older than the file \(path): the last key of \(older) is "
          + "\(keysAlone[older] ?? 0) in the file, and \(keys[older] ?? 0) with the WAL. Restore the store from a copy. To read "
          + "what the file has by itself, copy it to another folder without its WAL.")
    }
    if let older, alone == whole {
      throw NSError.coreData(
        .open,
        "The WAL \(walPath) does not belong to the store \(path): it is older than the file, in which the last key of "
          + "\(older) is \(keysAlone[older] ?? 0), and with the WAL it is \(keys[older] ?? 0). \(together)")
    }
    if alone == whole { return false }
    if ExchangeSign.announces(whole, of: URL(fileURLWithPath: path)) { return true }
    throw NSError.coreData(
      .open,
      "The WAL \(walPath) does not belong to the store \(path): the file belongs to the store \(alone), the WAL to "
        + "\(whole ?? "another database"). \(together)")
  }

  private func ofFileAlone() throws -> (uuid: String, keys: [String: Int64])? {
    let connection = try SQLiteConnection(path: path, mode: .immutable)
    defer { connection.close() }
    guard let uuid = try uuid(connection) else { return nil }
    return (uuid, (try? keys(connection)) ?? [:])
  }

  /// The last key given out for each entity, of a reasonable number of entities.
  private func keys(_ connection: SQLiteConnection) throws -> [String: Int64] {
    let rows = try connection.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 LIMIT 20000")
    var result: [String: Int64] = [:]
    for row in rows { if case .text(let name) = row[0], case .integer(let key) = row[1] { result[name] = key } }
    return result
  }

  private func uuid(_ connection: SQLiteConnection) throws -> String? {
    guard case .text(let uuid)? = try connection.rows("SELECT Z_UUID FROM Z_METADATA LIMIT 1").first?.first else {
      return nil
    }
    return uuid
  }
}
