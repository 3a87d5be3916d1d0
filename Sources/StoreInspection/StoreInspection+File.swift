import ManagedObjectModel
import PersistentStores
import Foundation

extension StoreInspection.File {
  init(_ store: ExaminedStore) throws {
    func number(_ pragma: String) throws -> Int { try store.connection.rows("PRAGMA \(pragma)").first?.first?.int ?? 0 }
    let path = store.url.path
    let pageSize = try number("page_size")
    let log = store.hadWAL ? StoreInspection.Log(path + "-wal", pageSizeBytes: pageSize) : nil
    let kinds = ["none", "full", "incremental"]
    let kind = try number("auto_vacuum")
    self.init(
      bytes: Self.bytes(path) ?? 0, pageSizeBytes: pageSize, pages: try number("page_count"),
      freePages: try number("freelist_count"), journalMode: try Self.journalMode(store.connection),
      encoding: try store.connection.rows("PRAGMA encoding").first?.first?.string ?? "",
      autoVacuum: kinds.indices.contains(kind) ? kinds[kind] : "\(kind)", log: log,
      sharedMemory: store.hadSharedMemory
        ? StoreInspection.SharedMemory(
          path + "-shm", log: path + "-wal", opened: store.opened.path == path ? store.connection : nil) : nil)
  }

  /// The file's own mode, independent of the connection that reads it.
  private static func journalMode(_ connection: SQLiteConnection) throws -> String {
    try DatabaseHeader(connection.beginningOfFile().bytes).usesWAL ? "wal" : "delete"
  }

  static func bytes(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }
}

extension StoreInspection.Log {
  /// Nil if there is no WAL.
  init?(_ path: String, pageSizeBytes: Int) {
    guard let bytes = StoreInspection.File.bytes(path) else { return nil }
    self.bytes = bytes
    frames = 0
    state = bytes == 0 ? "empty" : "foreign"
    guard let header = WALHeader(path: path), header.isWhole, header.isHeaderSound, header.pageSize == pageSizeBytes
    else { return }
    state = "valid"
    frames = Self.frames(path, header)
  }

  /// A WAL that was restarted has other salts, and old frames after the new ones.
  private static func frames(_ path: String, _ log: WALHeader) -> Int {
    guard let file = FileHandle(forReadingAtPath: path) else { return 0 }
    defer { try? file.close() }
    var count = 0
    while count < log.frameCount, (try? file.seek(toOffset: UInt64(log.offset(ofFrame: count)))) != nil,
      let header = (try? file.read(upToCount: WALHeader.frameHeaderLength)).flatMap({ $0 }),
      [UInt8](header).dropFirst(8).prefix(8).elementsEqual(log.salts)
    {
      count += 1
    }
    return count
  }
}

extension StoreInspection.SharedMemory {
  /// - Parameter connection: A connection that may have the file in use.
  init?(_ path: String, log: String, opened connection: SQLiteConnection?) {
    guard let bytes = StoreInspection.File.bytes(path) else { return nil }
    self.bytes = bytes
    state = bytes == 0 ? "empty" : "stale"
    let known = (try? connection?.beginningOfWALIndex(WALIndexHeader.length)).flatMap(WALIndexHeader.init)
    guard let header = known ?? WALIndexHeader(path: path), let log = WALHeader(path: log), log.isWhole,
      header.salts == log.salts
    else { return }
    state = "valid"
  }
}

extension StoreInspection.ExternalData {
  init?(_ store: URL) {
    let folder = LargeValues.valueFolder(of: store)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return nil }
    self.folder = folder.path
    files = names.count
    bytes = names.reduce(0) { $0 + (StoreInspection.File.bytes(folder.appendingPathComponent($1).path) ?? 0) }
  }
}
