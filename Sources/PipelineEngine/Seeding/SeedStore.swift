import CSV
import Foundation
import ManagedObjectModel
import PersistentStores

/// Makes a store to ship from an imported one: the same tables and rows in a new file.
///
/// The file is written anew, table by table in key order, like a vacuum. It contains nothing of the ledger or of the
/// import's history, so that the same content gives the same bytes. Unlike a vacuum it keeps tables and indexes in the
/// order in which Apple's framework creates them.
struct SeedStore {
  private let options: SeedOptions
  /// The tables of the import that are left out of a seed.
  private let ledger: LedgerTables

  init(_ options: SeedOptions, without ledger: LedgerTables) {
    self.options = options
    self.ledger = ledger
  }

  /// - Returns: The UUID of the store.
  func make(from imported: String, to made: String) throws(RunFailure) -> UUID {
    do {
      let connection = try SQLiteConnection(path: made, mode: .readWriteCreate)
      defer { connection.close() }
      // All before the first page is written, as in every Core Data store.
      try connection.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2; PRAGMA synchronous = FULL")
      try connection.run("ATTACH DATABASE ? AS imported", [.text(imported)])
      let uuid = try connection.transaction { try copy(connection) }
      try connection.execute("DETACH DATABASE imported")
      if !options.isSingleFile { try leaveWAL(connection, made) }
      return uuid
    } catch let error as RunFailure {
      throw error
    } catch let error as SQLiteError {
      let cause = cause(of: error, reading: imported)
      throw RunFailure(store: .sqlite(cause, .save, message: "\(made) can't be made of the import"))
    } catch {
      throw RunFailure(store: error as NSError)
    }
  }

  /// SQLite takes a file that the system can't read for damaged, and says of an attached one no more than that.
  private func cause(of error: SQLiteError, reading imported: String) -> SQLiteError {
    guard error.failureKind == .corrupt else { return error }
    do {
      let connection = try SQLiteConnection(path: imported, mode: .readWrite)
      defer { connection.close() }
      if try connection.rows("PRAGMA quick_check(1)") != [[.text("ok")]] { return error }
    } catch {
      if let error = error as? SQLiteError { return error }
    }
    return SQLiteError(POSIXError(.EIO), "\(imported) can't be read")
  }

  // MARK: Tables and rows

  private func copy(_ connection: SQLiteConnection) throws -> UUID {
    let skipped = ledger.names.map { "'\($0)'" }.joined(separator: ", ")
    let objects = try connection.rows(
      """
      SELECT type, name, sql FROM imported.sqlite_master
      WHERE sql IS NOT NULL AND tbl_name NOT IN (\(skipped)) AND tbl_name NOT LIKE 'sqlite%' ORDER BY rowid
      """)
    for object in objects {
      guard let sql = object[2].plain as? String else { continue }
      try connection.execute(sql)
    }
    let tables = objects.filter { $0[0] == .text("table") }.compactMap { $0[1].plain as? String }
    let content = ContentHash()
    for table in tables {
      let name = "\"\(table)\""
      try connection.execute("INSERT INTO main.\(name) SELECT * FROM imported.\(name)")
      if table != "Z_METADATA", table != "Z_MODELCACHE" { try digest(table, connection, into: content) }
    }
    try digestHashes(connection, into: content)
    let uuid = options.uuid ?? Self.uuid(of: content.digest)
    try connection.run("UPDATE main.Z_METADATA SET Z_UUID = ?", [.text(uuid.uuidString)])
    return uuid
  }

  // MARK: The UUID

  /// The values of all rows with their types and lengths, so that different contents never give the same bytes.
  private func digest(_ table: String, _ connection: SQLiteConnection, into content: ContentHash) throws {
    var bytes = Self.bytes(Array(table.utf8), tag: 0)
    let statement = try connection.statement("SELECT * FROM main.\"\(table)\" ORDER BY rowid")
    defer { statement.reset() }
    while try statement.step() {
      for column in 0..<statement.columnCount { bytes += Self.bytes(of: statement.value(column)) }
      if bytes.count >= 1 << 16 {
        content.update(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    content.update(bytes)
  }

  /// Only the model hashes of the metadata; not the program that wrote it, which changes with this program.
  private func digestHashes(_ connection: SQLiteConnection, into content: ContentHash) throws {
    guard let list = try connection.rows("SELECT Z_PLIST FROM main.Z_METADATA").first?.first?.plain as? Data else {
      return
    }
    for (name, hash) in try StoreMetadata(propertyList: list).versionHashes.sorted(by: { $0.key < $1.key }) {
      content.update(Self.bytes(Array(name.utf8), tag: 0) + Self.bytes([UInt8](hash), tag: 4))
    }
  }

  private static func bytes(of value: StoredValue) -> [UInt8] {
    switch value {
    case .null: [1]
    case .integer(let number): [2] + bigEndian(UInt64(bitPattern: number))
    case .real(let number): [3] + bigEndian(number.bitPattern)
    case .decimal(let number): bytes(Array("\(number)".utf8), tag: 5)
    case .text(let text): bytes(Array(text.utf8), tag: 5)
    case .blob(let data): bytes([UInt8](data), tag: 4)
    }
  }

  private static func bytes(_ content: [UInt8], tag: UInt8) -> [UInt8] {
    [tag] + bigEndian(UInt64(content.count)) + content
  }

  private static func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - UInt64($0)))) }
  }

  /// A UUID of version 8, whose content RFC 9562 leaves to the implementation: here the 128-bit XXH3 that reports
  /// identify contents by. Version 5 would need SHA-1, which takes many times longer without being more distinctive.
  private static func uuid(of digest: ContentDigest) -> UUID {
    var bytes = bigEndian(digest.high) + bigEndian(digest.low)
    bytes[6] = 0x80 | bytes[6] & 0x0F
    bytes[8] = 0x80 | bytes[8] & 0x3F
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }

  // MARK: The WAL

  /// Turns the store into one with a WAL. Closing it would checkpoint and remove the WAL, so the three files are copied
  /// while it is open and nothing is written, as from an app that is still running. The WAL contains a change and its
  /// reversal: everything is in the store itself, so that nothing is lost with the WAL.
  private func leaveWAL(_ connection: SQLiteConnection, _ made: String) throws {
    _ = try connection.rows("PRAGMA journal_mode = WAL")
    for sign in ["+", "-"] { try connection.execute("UPDATE main.Z_PRIMARYKEY SET Z_MAX = Z_MAX \(sign) 1") }
    for suffix in ["", "-wal", "-shm"] { try FileCopy.copy(made + suffix, to: made + ".copy" + suffix) {} }
    connection.close()
    for suffix in ["", "-wal", "-shm"] where rename(made + ".copy" + suffix, made + suffix) != 0 {
      throw RunFailure(made + suffix, "can't be replaced by its copy", errno: errno)
    }
  }
}
