import ManagedObjectModel
import CSQLite
import Foundation

/// The first 100 bytes of a database. (SQLite: "Database File Format", 1.3.)
package struct DatabaseHeader {
  let pageSize: Int
  /// Whether commits are written to a -wal.
  package let usesWAL: Bool
  /// The number of pages that the header states; nil if that number is not maintained.
  let pageCount: Int?
  let counters: Counters

  static let length = 100

  /// Numbers of the first page that only increase.
  struct Counters: Hashable {
    let change: Int
    let schema: Int

    init(_ bytes: [UInt8], at offset: Int = 0) {
      change = bytes.bigEndian32(offset + 24)
      schema = bytes.bigEndian32(offset + 40)
    }
  }

  /// - Parameter bytes: The beginning of the file.
  /// - Throws: `SQLiteError` if the file is not a database.
  package init(_ bytes: [UInt8]) throws {
    guard bytes.count == Self.length, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw Self.refusal(bytes)
    }
    let size = bytes.bigEndian16(16)
    pageSize = size == 1 ? 65_536 : size
    guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else { throw Self.refusal(bytes) }
    usesWAL = bytes[19] == 2
    let isKeptUp = bytes.bigEndian32(24) == bytes.bigEndian32(92) && bytes.bigEndian32(28) > 0
    pageCount = isKeptUp ? bytes.bigEndian32(28) : nil
    counters = Counters(bytes)
  }

  /// Whether a file is still to be made: it is empty; or it begins with zeros, as a power failure may leave it, and a
  /// journal takes back the transaction that was to make it. (SQLite: "Database File Format", 3.)
  ///
  /// - Parameters:
  ///   - bytes: The beginning of the file.
  ///   - path: Its path, without symbolic links.
  static func isUnmade(_ bytes: [UInt8], at path: String) -> Bool {
    if bytes.isEmpty { return true }
    guard bytes.allSatisfy({ $0 == 0 }), let journal = FileHandle.ofRegularFile(path + "-journal") else {
      return false
    }
    defer { try? journal.close() }
    let start = Array((try? journal.read(upToCount: 20)) ?? Data())
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    // The number of pages before the transaction.
    return start.count == 20 && start.starts(with: magic) && start.bigEndian32(16) == 0
  }

  private static func refusal(_ bytes: [UInt8]) -> SQLiteError {
    // Texts and other programs' formats begin with letters; encrypted files begin with arbitrary bytes.
    let letters = bytes.prefix(16).count { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
    let guess =
      letters < 10 && bytes.count == length
      ? ", or it is encrypted (those of SQLCipher look like this) or damaged: decrypt it with the program that wrote it, "
        + "or restore it from a copy"
      : ""
    return SQLiteError(code: SQLITE_NOTADB, message: "file is not a database" + guess, sql: nil)
  }
}

extension [UInt8] {
  func bigEndian16(_ offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }
  func bigEndian32(_ offset: Int) -> Int { bigEndian16(offset) << 16 | bigEndian16(offset + 2) }
  func littleEndian32(_ offset: Int) -> Int {
    Int(self[offset]) | Int(self[offset + 1]) << 8 | Int(self[offset + 2]) << 16 | Int(self[offset + 3]) << 24
  }
}

extension SQLiteConnection {
  /// The beginning of the file and its size, as SQLite's own handle reads them.
  ///
  /// Opening and closing the file outside SQLite would release every lock that this process holds on it: POSIX locks
  /// belong to the process, not to the handle.
  package func beginningOfFile() throws -> (bytes: [UInt8], size: Int) {
    try withFile { file, methods in
      var size: sqlite3_int64 = 0
      var bytes = [UInt8](repeating: 0, count: DatabaseHeader.length)
      var code = methods.xFileSize?(file, &size) ?? SQLITE_ERROR
      bytes = Array(bytes.prefix(Int(size)))
      if code == SQLITE_OK, !bytes.isEmpty {
        code = bytes.withUnsafeMutableBytes { methods.xRead?(file, $0.baseAddress, Int32($0.count), 0) ?? SQLITE_ERROR }
      }
      guard code == SQLITE_OK else { throw SQLiteError(code: code, message: Self.words(code), sql: nil) }
      return (bytes, Int(size))
    }
  }

  /// Whether the connection's file is still to be made.
  func isUnmade(at path: String) throws -> Bool { DatabaseHeader.isUnmade(try beginningOfFile().bytes, at: path) }

  /// Whether a connection, of this process or another, has the WAL's shared memory in use. A connection that only reads
  /// the -shm (`Mode.readOnlySharedMemory`) finds out without changing it.
  func isWALInUse() throws -> Bool {
    try withFile { file, methods in
      var memory: UnsafeMutableRawPointer?
      let code = methods.xShmMap?(file, 0, 32_768, 0, &memory)
      _ = methods.xShmUnmap?(file, 0)
      return code == SQLITE_OK && memory != nil
    }
  }

  /// The beginning of the WAL index as this connection has it in memory; nil if it has none. Reading it from the file
  /// instead would release every lock on it.
  package func beginningOfWALIndex(_ count: Int) throws -> [UInt8]? {
    guard try rows("PRAGMA journal_mode").first?.first == .text("wal") else { return nil }
    return try withFile { file, methods in
      var memory: UnsafeMutableRawPointer?
      guard methods.xShmMap?(file, 0, 32_768, 0, &memory) == SQLITE_OK, let memory else { return nil }
      return Array(UnsafeRawBufferPointer(start: memory, count: count))
    }
  }

  private func withFile<Result>(
    _ body: (UnsafeMutablePointer<sqlite3_file>, sqlite3_io_methods) throws -> Result
  ) throws -> Result {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods else {
      throw SQLiteError(code: code, message: Self.words(code), sql: nil)
    }
    return try body(file, methods.pointee)
  }

  private static func words(_ code: Int32) -> String { String(cString: sqlite3_errstr(code)) }
}
