import CPostgreSQL
import Foundation
import ManagedObjectModel

/// The system's libpq, which is loaded when the first store of a server is opened.
// Safe: pointers to functions of a library that stays loaded, and nothing changes them.
struct PostgreSQLLibrary: @unchecked Sendable {
  let functions: cpq_functions

  private static let loaded: (library: PostgreSQLLibrary?, problem: String) = {
    var functions = cpq_functions()
    if cpq_load(&functions) { return (PostgreSQLLibrary(functions: functions), "") }
    return (nil, dlerror().map { String(cString: $0) } ?? "unknown reason")
  }()

  /// - Throws: `NSError` 134080 if the library is not installed or lacks a function.
  static func load() throws -> PostgreSQLLibrary {
    if let library = loaded.library { return library }
    throw NSError.coreData(
      .open,
      "A store in PostgreSQL needs the system's libpq of version 14 or later, which can't be loaded (\(loaded.problem)). "
        + "Install the package libpq5, or name the file of a SQLite store.",
      userInfo: [NSError.missingLibraryKey: true])
  }
}

extension NSError {
  fileprivate static let missingLibraryKey = "OpenCoreDataMissingLibrary"

  /// Whether a library of the system has to be installed first.
  package var isOfMissingLibrary: Bool { userInfo[Self.missingLibraryKey] as? Bool == true }
}
