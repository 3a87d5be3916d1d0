import Foundation

extension StoreInspection.File {
  init(_ store: ExaminedStore) throws {
    func number(_ pragma: String) throws -> Int { try store.connection.rows("PRAGMA \(pragma)").first?.first?.int ?? 0 }
    let path = store.url.path
    let pageSize = try number("page_size")
    let isAlone = store.opened.hasLogOfItsOwn
    let log = isAlone ? nil : StoreInspection.Log(path + "-wal", pageSizeBytes: pageSize)
    let kinds = ["none", "full", "incremental"]
    let kind = try number("auto_vacuum")
    self.init(
      bytes: Self.bytes(path) ?? 0, pageSizeBytes: pageSize, pages: try number("page_count"),
      freePages: try number("freelist_count"), journalMode: Self.journalMode(path),
      encoding: try store.connection.rows("PRAGMA encoding").first?.first?.string ?? "",
      autoVacuum: kinds.indices.contains(kind) ? kinds[kind] : "\(kind)", log: log,
      sharedMemory: isAlone ? nil : StoreInspection.SharedMemory(path + "-shm", log: path + "-wal"))
  }

  /// The file's own, whatever the connection that reads it has: byte 18 of the header is 2 for a log.
  private static func journalMode(_ path: String) -> String {
    guard let header = FileHead.bytes(path, count: 20), header.count == 20 else { return "unknown" }
    return header[18] == 2 ? "wal" : "delete"
  }

  static func bytes(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }
}

/// The first bytes of a file.
enum FileHead {
  static func bytes(_ path: String, count: Int) -> [UInt8]? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    return (try? file.read(upToCount: count)).flatMap { $0 }.map { [UInt8]($0) } ?? []
  }

  static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

extension StoreInspection.Log {
  private static let headerBytes = 32
  private static let frameHeaderBytes = 24

  /// See "The Write-Ahead Log" of SQLite's file format. Nil where there is no log.
  init?(_ path: String, pageSizeBytes: Int) {
    guard let bytes = StoreInspection.File.bytes(path) else { return nil }
    self.bytes = bytes
    frames = 0
    state = bytes == 0 ? "empty" : "foreign"
    guard let header = FileHead.bytes(path, count: Self.headerBytes), header.count == Self.headerBytes,
      [0x377f_0682, 0x377f_0683].contains(FileHead.bigEndian(header[0..<4])),
      FileHead.bigEndian(header[8..<12]) == pageSizeBytes
    else { return }
    state = "valid"
    frames = Self.frames(path, salts: header[16..<24], stride: Self.frameHeaderBytes + pageSizeBytes)
  }

  /// A log that was begun anew has other salts, and old frames behind the new ones.
  private static func frames(_ path: String, salts: ArraySlice<UInt8>, stride: Int) -> Int {
    guard let file = FileHandle(forReadingAtPath: path) else { return 0 }
    defer { try? file.close() }
    var count = 0
    while (try? file.seek(toOffset: UInt64(headerBytes + count * stride))) != nil,
      let header = (try? file.read(upToCount: frameHeaderBytes)).flatMap({ $0 }), header.count == frameHeaderBytes,
      [UInt8](header)[8..<16].elementsEqual(salts)
    {
      count += 1
    }
    return count
  }
}

extension StoreInspection.SharedMemory {
  /// The header stands there twice, and has the salts of the log as they are in it.
  init?(_ path: String, log: String) {
    guard let bytes = StoreInspection.File.bytes(path) else { return nil }
    self.bytes = bytes
    state = bytes == 0 ? "empty" : "stale"
    guard let header = FileHead.bytes(path, count: 96), header.count == 96,
      header[0..<48].elementsEqual(header[48..<96]), header[12] == 1,
      let log = FileHead.bytes(log, count: 32), log.count == 32, header[32..<40].elementsEqual(log[16..<24])
    else { return }
    state = "valid"
  }
}

extension StoreInspection.ExternalData {
  /// The folder in which Apple's framework keeps values that are too large for the database.
  static func folder(of store: URL) -> URL {
    store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.deletingPathExtension().lastPathComponent)_SUPPORT", isDirectory: true)
      .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
  }

  init?(_ store: URL) {
    let folder = Self.folder(of: store)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return nil }
    self.folder = folder.path
    files = names.count
    bytes = names.reduce(0) { $0 + (StoreInspection.File.bytes(folder.appendingPathComponent($1).path) ?? 0) }
  }
}
