import ManagedObjectModel
import CSQLite
import Foundation
import SystemSupport

/// An error of SQLite before it is converted to a Core Data error.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
  /// The extended result code (`SQLITE_CONSTRAINT_UNIQUE`, …).
  package let code: Int32
  package let message: String
  /// The statement that failed, without its bound values.
  package let sql: String?
  /// Whether the file was opened for writing, which makes a store where no file is.
  var isOfWriter = false
  /// Whether it concerns a file next to the store that only SQLite should have made.
  private var isBesideStore = false

  /// The primary result code: the low byte of the extended one.
  package var primaryCode: Int32 { code & 0xff }

  /// `SQLITE_IOERR_NOMEM`, which Swift does not import.
  static let ioErrorWithoutMemory = SQLITE_IOERR | 12 << 8

  /// SQLite has rolled a transaction back and reported success.
  static let ofLostTransaction = SQLiteError(
    code: SQLITE_NOMEM, message: "SQLite has lost the transaction, as it does without memory", sql: nil)

  package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }
  package var isUniqueness: Bool {
    [CSQLITE_CONSTRAINT_UNIQUE, CSQLITE_CONSTRAINT_PRIMARYKEY, CSQLITE_CONSTRAINT_ROWID].contains(Int(code))
  }
  /// Whether others hold a lock, or the locks of the WAL could not be taken in many attempts.
  package var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL].contains(primaryCode) }

  /// SQLite's message, or a plainer one.
  package var plainMessage: String {
    primaryCode == SQLITE_PROTOCOL ? "its locks can't be taken" : message
  }

  /// The code for a path that does not lead to a regular file (SQLITE_CANTOPEN_ISDIR).
  static let notAFileCode = SQLITE_CANTOPEN | 2 << 8

  /// The code of this program for a predicate's pattern that can't be decided; SQLite gives none like it.
  static let undecidedPatternCode = SQLITE_ERROR | 0x7F << 8

  /// The remedy for the common errors.
  package var advice: String? {
    switch primaryCode {
    case _ where isBesideStore: "Move it away, or name another store."
    case _ where code == Self.notAFileCode: "Name the store's file, usually a .sqlite."
    case SQLITE_BUSY, SQLITE_LOCKED: "Another program is writing to it: try again when it has finished."
    case SQLITE_PROTOCOL:
      "Other programs take them all the time, or its file system has none: try again, and keep it on a local disk."
    case SQLITE_NOTADB: Self.wrongFileAdvice(isOfWriter: isOfWriter)
    case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM: "Check the path and the permissions of the file and its folder."
    case SQLITE_FULL: "Free some space and try again."
    case SQLITE_NOMEM: "Try again when more memory is free."
    case SQLITE_IOERR: "The disk may be full or failing: check it and try again."
    case SQLITE_CORRUPT: "The file is damaged: restore it from a copy."
    default: nil
    }
  }

  /// The remedy where a file is not a store.
  static func wrongFileAdvice(isOfWriter: Bool) -> String {
    isOfWriter ? "Check the path; to make a new store, name a file that does not exist." : "Check the path."
  }

  package var description: String {
    let statement = sql.map { " in: \($0)" } ?? ""
    return "SQLite error \(code): \(message)\(statement)"
  }

  init(code: Int32, message: String, sql: String?, isBesideStore: Bool = false) {
    self.code = code
    self.message = message
    self.sql = sql
    self.isBesideStore = isBesideStore
  }

  /// - Parameter path: The file that is made if there is none; nil for one that was opened.
  init(_ handle: OpaquePointer?, code: Int32, sql: String?, creating path: String? = nil) {
    let extended = handle.map { sqlite3_extended_errcode($0) } ?? code
    let specific = (extended & 0xff) == (code & 0xff) ? extended : code
    let text = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    self.sql = sql
    // SQLite takes a file for damaged that the system can't read. (SQLite's source: SQLITE_IOERR_CORRUPTFS.)
    if code & 0xff == SQLITE_CORRUPT, let handle, csqlite_read_errno(handle) == EIO {
      (self.code, message) = (SQLITE_IOERR, "disk I/O error: \(String(cString: strerror(EIO)))")
      return
    }
    // Where a file next to the store can't be opened for writing, SQLite only reads, whatever the reason is.
    if [SQLITE_READONLY, Self.readOnlySharedMemory].contains(specific), let handle, Self.mayBeWritten(handle) {
      (self.code, message) = (SQLITE_IOERR, "disk I/O error: a file next to it could not be opened for writing")
      return
    }
    // SQLite asks the system before it writes whether the path still leads to the open file, and takes a failure for a no.
    if specific == Self.movedFile {
      (self.code, message) = (SQLITE_IOERR, "disk I/O error: the file was moved or replaced, or can't be examined")
      return
    }
    // The connection refuses to commit what is left of a transaction that SQLite has lost.
    if Int(specific) == CSQLITE_CONSTRAINT_COMMITHOOK {
      (self.code, message) = (Self.ofLostTransaction.code, Self.ofLostTransaction.message)
      return
    }
    // "Unable to open" is also SQLite's word for a disk that is full or fails, where no permission helps.
    var systemCode = handle.map { sqlite3_system_errno($0) } ?? 0
    // Where a file can't be made, SQLite tries to read it, and then knows only that it is not there.
    if code & 0xff == SQLITE_CANTOPEN, systemCode == ENOENT, let path = path ?? handle.flatMap(Self.writtenPath),
      let reason = Self.reasonOfMissingFile(near: path)
    {
      if reason == 0 {
        (self.code, message) = (SQLITE_IOERR, "\(text): a file could not be made, and can be made now")
        return
      }
      systemCode = reason
    }
    guard code & 0xff == SQLITE_CANTOPEN, let cause = Self.causes[systemCode] else {
      (self.code, message) = (specific, text)
      return
    }
    (self.code, message) = (cause, "\(text): \(String(cString: strerror(systemCode)))")
  }

  /// The file that a connection writes to, if it is there.
  private static func writtenPath(_ handle: OpaquePointer) -> String? {
    guard sqlite3_db_readonly(handle, "main") == 0, let name = sqlite3_db_filename(handle, "main"),
      access(name, F_OK) == 0
    else { return nil }
    return String(cString: name)
  }

  /// Why no file can be made next to another; 0 if one can be made again, nil where that is not known.
  private static func reasonOfMissingFile(near path: String) -> Int32? {
    let reason = csqlite_creation_errno(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    return reason < 0 ? nil : reason
  }

  /// The shared memory can't be made for a reader (SQLITE_READONLY_CANTINIT).
  private static let readOnlySharedMemory = SQLITE_READONLY | 5 << 8

  /// Whether the system lets this process write to the file that was opened for writing, and to those next to it.
  private static func mayBeWritten(_ handle: OpaquePointer) -> Bool {
    guard sqlite3_db_readonly(handle, "main") == 0, let name = sqlite3_db_filename(handle, "main") else { return false }
    let path = String(cString: name)
    return ["", "-wal", "-shm"].allSatisfy { end in
      access(path + end, W_OK) == 0 || ![EACCES, EPERM, EROFS].contains(errno)
    }
  }

  /// `SQLITE_READONLY_DBMOVED`.
  private static let movedFile = SQLITE_READONLY | 4 << 8

  private static let causes = [ENOSPC: SQLITE_FULL, EDQUOT: SQLITE_FULL, EIO: SQLITE_IOERR]

  /// A failure of the system on a file that belongs to a store.
  package init(_ error: POSIXError, _ problem: String) {
    let number = error.code.rawValue
    let code: Int32 =
      switch error.code {
      case .EACCES, .EPERM: SQLITE_PERM
      case .EROFS: SQLITE_READONLY
      case .ENOMEM: SQLITE_NOMEM
      case .ENOTDIR, .EISDIR, .ELOOP, .ENOENT, .EEXIST: SQLITE_CANTOPEN
      default: Self.causes[number] ?? SQLITE_IOERR
      }
    self.init(code: code, message: "\(problem): \(String(cString: strerror(number)))", sql: nil)
  }
}

extension NSError {
  /// SQLite's error converted to a Core Data error.
  package static func sqlite(_ error: SQLiteError, _ code: CoreDataCode, message: String) -> NSError {
    let code = error.isBusy ? .timeout : code
    let advice = error.advice.map { " \($0)" } ?? ""
    return .coreData(
      code, "\(message): \(error.plainMessage)\(error.plainMessage.hasSuffix(".") ? "" : ".")\(advice)",
      userInfo: [
        NSSQLiteErrorDomain: NSNumber(value: error.code),
        NSUnderlyingErrorKey: NSError(
          domain: NSSQLiteErrorDomain, code: Int(error.code),
          userInfo: [NSLocalizedDescriptionKey: error.description]),
      ])
  }
}
