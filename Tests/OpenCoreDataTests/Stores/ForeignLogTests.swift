import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite: "Database File Format" 4, "WAL-mode File Format" 2): if a -wal is missing although the store needs
// one, or if its salts do not match, that is an error and not a store without rows; a log is refused before SQLite
// drops it or writes it into the file; a log that starts over is valid.

@Suite("A log that does not belong to its store is an error, not zero rows")
struct ForeignLogTests {
  enum Way: String, CaseIterable, Sendable { case reading, writing }

  /// The words that the refusal of `file` lacks; its files have to stay as they are.
  private func wordsMissing(inRefusalOf file: URL, _ way: Way, _ words: String...) throws -> [String] {
    let before = try StoreSetup.contents(beside: file)
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file, readOnly: way == .reading) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreOpenError)
    let text = error?.localizedDescription ?? ""
    let after = try StoreSetup.contents(beside: file)
    for name in ["store.sqlite", "store.sqlite-wal"] { #expect(after[name] == before[name]) }
    if way == .reading { #expect(after == before) }
    return (words + ["together"]).filter { !text.contains($0) }
  }

  private func change(_ file: URL, ending: String, _ body: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: file.path + ending)
    var data = try Data(contentsOf: url)
    body(&data)
    try data.write(to: url)
  }

  @Test(
    "A WAL that is missing, empty or cut off is an error for readers, and a writer opens it as SQLite does",
    arguments: ["missing", "empty", "cut off"])
  func missing(kind: String) throws {
    let setup = try StoreSetup.withWAL()
    let file = try setup.copy(kind == "missing" ? ["", "-shm"] : ["", "-wal", "-shm"])
    if kind == "empty" { try change(file, ending: "-wal") { $0 = Data() } }
    if kind == "cut off" { try change(file, ending: "-wal") { $0 = $0.prefix(32 + 4120 + 100) } }
    let cause = kind == "missing" ? "missing" : "cut off"
    #expect(try wordsMissing(inRefusalOf: file, .reading, "needs its WAL", cause) == [])
    // A power failure leaves it so: the index is never synced, and no program had waited for the log.
    #expect(try StoreSetup.count(file, readOnly: false) == 3)
  }

  @Test("The log and its index are of different times", arguments: Way.allCases)
  func salts(way: Way) throws {
    let (one, other) = (try StoreSetup.withWAL(), try StoreSetup.withWAL())
    let file = try one.copy(["", "-wal"])
    try FileManager.default.copyItem(
      atPath: other.stack.file.path + "-shm", toPath: file.path + "-shm")
    #expect(try wordsMissing(inRefusalOf: file, way, "not from the same time", "remove") == [])
  }

  @Test(
    "The log is damaged, or of other pages", arguments: Way.allCases,
    [("magic", 0), ("checksum", 25), ("salt", 32 + 8)])
  func damaged(way: Way, place: (name: String, byte: Int)) throws {
    let setup = try StoreSetup.withWAL()
    let file = try setup.copy(["", "-wal"])
    try change(file, ending: "-wal") { $0[place.byte] ^= 0x40 }
    #expect(try wordsMissing(inRefusalOf: file, way, "damaged") == [])
  }

  @Test("The log has pages of another size", arguments: Way.allCases)
  func pageSize(way: Way) throws {
    let setup = try StoreSetup.withWAL()
    let log = try setup.copy(["", "-wal"])
    let small = try StoreSetup.closed()
    try sqlite(
      small.stack.file, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 2048; VACUUM; PRAGMA journal_mode = WAL")
    let file = try small.copy([""])
    try FileManager.default.copyItem(atPath: log.path + "-wal", toPath: file.path + "-wal")
    #expect(try wordsMissing(inRefusalOf: file, way, "4096", "2048") == [])
  }

  @Test("The WAL is another store's", arguments: Way.allCases, [true, false])
  func otherStore(way: Way, hasIndex: Bool) throws {
    // The other's log begins with its metadata, since all of that store lies in its log.
    let (one, other) = (try StoreSetup.closed(), try StoreSetup())
    try other.add(0..<2)
    let file = try one.copy([""])
    for ending in hasIndex ? ["-wal", "-shm"] : ["-wal"] {
      try FileManager.default.copyItem(atPath: other.stack.file.path + ending, toPath: file.path + ending)
    }
    let uuid = other.stack.coordinator.persistentStores[0].identifier
    #expect(try wordsMissing(inRefusalOf: file, way, "belong", uuid) == [])
  }

  @Test("A log that has started over is read, as is one that was written back", arguments: Way.allCases)
  func startedOver(way: Way) throws {
    let setup = try StoreSetup.withWAL()
    // Written back whole, the next commit begins at the front: before old pages.
    let writer = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    _ = try writer.rows("PRAGMA wal_checkpoint(RESTART)")
    #expect(try StoreSetup.count(try setup.copy(["", "-wal", "-shm"]), readOnly: way == .reading) == 5)
    try writer.execute("DELETE FROM ZSESSION WHERE Z_PK = 1")
    #expect(try StoreSetup.count(try setup.copy(["", "-wal", "-shm"]), readOnly: way == .reading) == 4)
    // As a crash between the new header and its first page leaves it: the salt has counted up, the pages are old.
    let crashed = try setup.copy(["", "-wal"])
    try change(crashed, ending: "-wal") { data in
      data.replaceSubrange(0..<32, with: Self.header(after: Array(data.prefix(32))))
    }
    #expect(try StoreSetup.count(crashed, readOnly: way == .reading) == 5)
    writer.close()
  }

  @Test("New salts in front of old frames are a first header's, never a later one's", arguments: Way.allCases)
  func newSalts(way: Way) throws {
    let setup = try StoreSetup.withWAL()
    let writer = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    _ = try writer.rows("PRAGMA wal_checkpoint(FULL)")
    writer.close()
    // A program was killed between the restart and the header, which another one wrote and was killed in turn.
    let first = try setup.copy(["", "-wal"])
    try change(first, ending: "-wal") { data in
      data.replaceSubrange(0..<32, with: Self.header(Array(data.prefix(32)), checkpoints: 0, firstSalt: 0xFEDC_BA98))
    }
    #expect(try StoreSetup.count(first, readOnly: way == .reading) == 5)
    let later = try setup.copy(["", "-wal"])
    try change(later, ending: "-wal") { data in
      data.replaceSubrange(0..<32, with: Self.header(Array(data.prefix(32)), checkpoints: 2, firstSalt: 0xFEDC_BA98))
    }
    #expect(try wordsMissing(inRefusalOf: later, way, "first page was not written under its header") == [])
  }

  /// Its checksum goes on from the header's, which that of an older page would not.
  @Test("Changed salts of the only page are damage, also under a first header", arguments: Way.allCases)
  func onlyPage(way: Way) throws {
    let setup = try StoreSetup.closed()
    let writer = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    defer { writer.close() }
    try writer.execute("UPDATE ZSESSION SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
    let file = try setup.copy(["", "-wal"])
    try change(file, ending: "-wal") { data in
      #expect(data.count == 32 + 24 + 4096 && data[12..<16] == Data(count: 4))
      data[32 + 8] ^= 0x40
    }
    #expect(try wordsMissing(inRefusalOf: file, way, "damaged", "1 is lost") == [])
  }

  /// The header of a log that starts over after one with `bytes`.
  private static func header(after bytes: [UInt8]) -> [UInt8] {
    header(
      bytes, checkpoints: UInt32(bytes.bigEndian32(12)) &+ 1, firstSalt: UInt32(bytes.bigEndian32(16)) &+ 1)
  }

  private static func header(_ bytes: [UInt8], checkpoints: UInt32, firstSalt: UInt32) -> [UInt8] {
    var bytes = bytes
    for (place, number) in [(12, checkpoints), (16, firstSalt)] {
      for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * byte)) }
    }
    bytes[20] ^= 0x55
    let sum = WALChecksum.of(bytes[0..<24], isBigEndian: bytes[3] & 1 == 1)
    for (place, number) in [(24, sum.first), (28, sum.second)] {
      for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * byte)) }
    }
    return bytes
  }
}
