import ManagedObjectModel
import PersistentStores
import Foundation

extension StoreInspection.File {
  /// Nil for a store of a server.
  init?(_ store: ExaminedStore) throws {
    guard let file = store.file else { return nil }
    func number(_ pragma: String) throws -> Int { try store.connection.rows("PRAGMA \(pragma)").first?.first?.int ?? 0 }
    let path = store.path
    let pageSize = try number("page_size")
    let bytes = Self.bytes(path) ?? 0
    let connection = file.path == path ? file.connection : nil
    // Before the WAL: a program that has the store open goes on writing.
    let index = WALIndexHeader(path + "-shm", opened: connection)
    let wal = StoreInspection.WAL(
      path + "-wal", pageSizeBytes: pageSize, pagesInFile: bytes / max(1, pageSize), index: index)
    let kinds = ["none", "full", "incremental"]
    let kind = try number("auto_vacuum")
    self.init(
      bytes: bytes, pageSizeBytes: pageSize, pages: try number("page_count"),
      freePages: try number("freelist_count"), journalMode: try Self.journalMode(file.connection),
      encoding: try store.connection.rows("PRAGMA encoding").first?.first?.string ?? "",
      autoVacuum: kinds.indices.contains(kind) ? kinds[kind] : "\(kind)", wal: wal,
      sharedMemory: StoreInspection.SharedMemory(path + "-shm", wal: path + "-wal", index: index))
  }

  /// The file's own mode, independent of the connection that reads it.
  private static func journalMode(_ connection: SQLiteConnection) throws -> String {
    try DatabaseHeader(connection.beginningOfFile().bytes).usesWAL ? "wal" : "delete"
  }

  static func bytes(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }
}

extension StoreInspection.WAL {
  /// Nil if there is no WAL.
  init?(_ path: String, pageSizeBytes: Int, pagesInFile: Int, index: WALIndexHeader?) {
    guard let bytes = StoreInspection.File.bytes(path) else { return nil }
    self.bytes = bytes
    frames = 0
    state = bytes == 0 ? "empty" : "foreign"
    guard let header = WALHeader(path: path), header.isWhole, header.isHeaderSound, header.pageSize == pageSizeBytes
    else { return }
    let found = WALFrames(path: path, header: header, pagesInFile: pagesInFile)
    state = found.loss(seenBy: index) == nil ? "valid" : "damaged"
    frames = found.committed
  }
}

extension StoreInspection.SharedMemory {
  init?(_ path: String, wal: String, index: WALIndexHeader?) {
    guard let bytes = StoreInspection.File.bytes(path) else { return nil }
    self.bytes = bytes
    state = bytes == 0 ? "empty" : "stale"
    guard let index, let header = WALHeader(path: wal), header.isWhole, index.salts == header.salts else { return }
    state = "valid"
  }
}

extension WALIndexHeader {
  /// - Parameter connection: A connection that may have the file in use.
  fileprivate init?(_ path: String, opened connection: SQLiteConnection?) {
    let known = (try? connection?.beginningOfWALIndex(Self.length)).flatMap(WALIndexHeader.init)
    guard let header = known ?? WALIndexHeader(path: path) else { return nil }
    self = header
  }
}

extension StoreInspection.ExternalData {
  init?(_ store: URL) throws {
    let folder = LargeValues.valueFolder(of: store)
    guard FileManager.default.fileExists(atPath: folder.path) else { return nil }
    let names = try LargeValues.names(in: folder)
    self.folder = folder.path
    files = names.count
    bytes = names.reduce(0) { $0 + (StoreInspection.File.bytes(folder.appendingPathComponent($1).path) ?? 0) }
  }
}
