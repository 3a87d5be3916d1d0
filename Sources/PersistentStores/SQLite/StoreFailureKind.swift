import CSQLite
import Foundation
import ManagedObjectModel

/// Why SQLite failed, as far as a program can react to it.
package enum StoreFailureKind: Sendable, Hashable {
  /// The system or SQLite itself does not allow the access.
  case permissionDenied
  /// The file or its file system is read-only.
  case readOnly
  /// Another connection holds a lock.
  case busy
  case cannotOpen
  /// A server can't be reached, or has ended the connection.
  case unreachable
  /// The path is one of a folder, a pipe or a device.
  case notAFile
  /// The file is damaged.
  case corrupt
  /// The file has another format.
  case notADatabase
  case ioError
  case diskFull
  case outOfMemory
  /// A pattern of a predicate needs too many steps for a text.
  case undecidedPattern
  /// A statement does not fit the tables: they are those of another program or version.
  case otherTables
  case other

  /// - Parameter code: A result code of SQLite, primary or extended.
  init(sqliteCode code: Int32) {
    if code == SQLiteError.notAFileCode { self = .notAFile; return }
    if code == SQLiteError.undecidedPatternCode { self = .undecidedPattern; return }
    switch code & 0xff {
    case SQLITE_ERROR: self = .otherTables
    case SQLITE_NOMEM: self = .outOfMemory
    case SQLITE_IOERR where code == SQLiteError.ioErrorWithoutMemory: self = .outOfMemory
    case SQLITE_PERM, SQLITE_AUTH: self = .permissionDenied
    case SQLITE_READONLY: self = .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy
    case SQLITE_CANTOPEN: self = .cannotOpen
    case SQLITE_CORRUPT: self = .corrupt
    case SQLITE_NOTADB: self = .notADatabase
    case SQLITE_IOERR: self = .ioError
    case SQLITE_FULL: self = .diskFull
    default: self = .other
    }
  }
}

extension NSError {
  /// Where errors of stores that are not SQLite's have their `StoreFailureKind`.
  package static let storeFailureKindKey = "OpenCoreDataStoreFailureKind"

  /// Why the database of a store failed; nil for an error of another cause.
  package var storeFailureKind: StoreFailureKind? {
    if let kind = userInfo[Self.storeFailureKindKey] as? StoreFailureKind { return kind }
    return (userInfo[NSSQLiteErrorDomain] as? NSNumber).map { StoreFailureKind(sqliteCode: $0.int32Value) }
  }
}

extension SQLiteError {
  package var failureKind: StoreFailureKind { StoreFailureKind(sqliteCode: code) }
}
