import CArchive

/// The system's libarchive, which is loaded when the first input needs it.
// Safe: pointers to functions of a library that stays loaded, and nothing changes them.
struct ArchiveLibrary: @unchecked Sendable {
  let functions: archive_functions

  private static let loaded: (library: ArchiveLibrary?, problem: String) = {
    var functions = archive_functions()
    if archive_load(&functions) { return (ArchiveLibrary(functions: functions), "") }
    return (nil, dlerror().map { String(cString: $0) } ?? "unknown reason")
  }()

  /// - Parameters:
  ///   - kind: what needs the library, for the message.
  ///   - path: the input, for the message.
  /// - Throws: `CSVError` with the code `source-error` if the library is not installed or lacks a function.
  static func load(for kind: ByteSource.Compression, path: String) throws(CSVError) -> ArchiveLibrary {
    if let library = loaded.library { return library }
    throw CSVError(
      .source,
      "is \(kind.noun), and reading it takes the system's libarchive, which can't be loaded (\(loaded.problem)); install the package libarchive13, or decompress the file first",
      path: path, errnoCode: CSVError.missingLibrary)
  }
}
