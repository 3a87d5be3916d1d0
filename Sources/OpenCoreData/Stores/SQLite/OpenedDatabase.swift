import Foundation

/// A connection to a store's file, and how it was come by.
package struct OpenedDatabase {
  package let connection: SQLiteConnection
  let path: String
  let isReadOnly: Bool
  var privateCopy: PrivateCopy?

  static func open(_ url: URL?, options: StoreOptions) throws -> OpenedDatabase {
    guard let url else {
      return OpenedDatabase(
        connection: try SQLiteConnection(path: "", mode: .privateTemporary), path: "", isReadOnly: false)
    }
    if options.isReadOnly { return try openForReading(url.path, options: options) }
    let connection = try SQLiteConnection(
      path: url.path, mode: .readWriteCreate, busyTimeoutMilliseconds: options.timeoutMilliseconds)
    // SQLite falls back to reading. A later save would fail, and leave a log that can't be written to either.
    if connection.mayOnlyRead {
      connection.close()
      throw SQLiteError(code: 8, message: "the file may not be written to", sql: nil)
    }
    return OpenedDatabase(connection: connection, path: url.path, isReadOnly: false)
  }

  /// Opens for a reader of foreign tables, as the store of a context is opened for reading. Keep the value while the
  /// connection is in use.
  package static func openForReading(_ path: String) throws -> OpenedDatabase {
    try openForReading(path, options: try StoreOptions(nil))
  }

  /// Opens without changing a byte of the file, its -wal or its -shm.
  ///
  /// With a -shm SQLite can be told to leave it alone. Without one but with a -wal, SQLite would have to make one,
  /// so a private copy is read. Without either, an ordinary connection makes both files and removes them again;
  /// where the folder can't be written, again a copy.
  static func openForReading(_ path: String, options: StoreOptions) throws -> OpenedDatabase {
    let files = FileManager.default
    guard files.fileExists(atPath: path) else {
      throw SQLiteError(code: 14, message: "there is no such file", sql: nil)
    }
    for file in [path, path + "-wal"] where files.fileExists(atPath: file) && !files.isReadableFile(atPath: file) {
      throw SQLiteError(code: 3, message: "\(file) may not be read", sql: nil)
    }
    let timeout = options.timeoutMilliseconds
    if files.fileExists(atPath: path + "-shm") {
      let connection = try SQLiteConnection(
        path: path, mode: .readOnlySharedMemory, busyTimeoutMilliseconds: timeout)
      return OpenedDatabase(connection: connection, path: path, isReadOnly: true)
    }
    let canLeaveNoTrace =
      !files.fileExists(atPath: path + "-wal") && files.isWritableFile(atPath: path)
      && files.isWritableFile(atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    if canLeaveNoTrace {
      let connection = try SQLiteConnection(path: path, mode: .readWrite, busyTimeoutMilliseconds: timeout)
      try connection.execute("PRAGMA query_only = ON")
      return OpenedDatabase(connection: connection, path: path, isReadOnly: true)
    }
    let copy = try PrivateCopy(of: path)
    let connection = try SQLiteConnection(path: copy.path, mode: .readWrite, busyTimeoutMilliseconds: timeout)
    try connection.execute("PRAGMA query_only = ON")
    return OpenedDatabase(connection: connection, path: copy.path, isReadOnly: true, privateCopy: copy)
  }
}

/// A store's file and log, copied into a folder of their own that goes with this object.
final class PrivateCopy: Sendable {
  private let folder: URL
  let path: String

  init(of original: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "OpenCoreData-\(UUID().uuidString)", isDirectory: true)
    path = folder.appendingPathComponent("copy.sqlite").path
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: original, toPath: path)
    if FileManager.default.fileExists(atPath: original + "-wal") {
      try FileManager.default.copyItem(atPath: original + "-wal", toPath: path + "-wal")
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}

/// The options of `addPersistentStore` that concern a SQLite store.
struct StoreOptions {
  let isReadOnly: Bool
  let timeoutMilliseconds: Int32
  /// In order of name, so that opening a store is the same every time.
  let pragmas: [(name: String, value: String)]
  let vacuums: Bool
  let analyzes: Bool
  let ignoresVersions: Bool

  static let timeoutSecondsDefault = 10.0

  init(_ options: [AnyHashable: Any]?) throws {
    func isOn(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false }
    isReadOnly = isOn(NSReadOnlyPersistentStoreOption)
    vacuums = isOn(NSSQLiteManualVacuumOption)
    analyzes = isOn(NSSQLiteAnalyzeOption)
    ignoresVersions = isOn(NSIgnorePersistentStoreVersioningOption)
    let seconds =
      (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? Self.timeoutSecondsDefault
    timeoutMilliseconds = Int32(clamping: Int(max(0, min(seconds, 1e6)) * 1000))
    var pragmas: [(name: String, value: String)] = []
    for (key, value) in (options?[NSSQLitePragmasOption] as? NSDictionary) ?? [:] {
      let (name, text) = ("\(key)", "\(value)")
      // Pragmas can't be bound; what is spliced must be a word or a number.
      guard (name + text).allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }) else {
        throw NSError.coreData(.open, "The pragma \(name) = \(text) is not a name and a word or number.")
      }
      pragmas.append((name, text))
    }
    self.pragmas = pragmas.sorted { $0.name < $1.name }
  }
}
