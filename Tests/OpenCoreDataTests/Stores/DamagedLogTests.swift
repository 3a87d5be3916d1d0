import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite: "Database File Format" 4, "WAL-mode File Format" 2): SQLite reads a log up to the first frame whose salts
// or checksum are wrong, and silently drops what follows. A log that lost transactions is an error; an unfinished
// transaction, frames of an earlier generation and an old index are not.

@Suite("A log that has lost transactions is an error, and what a crash leaves is none", .seeded)
struct DamagedLogTests {
  private static let pageSize = 4096
  private static let frameSize = 24 + pageSize

  /// A store with three rows in the file and then one transaction for each further row in the log.
  private static func setup(transactions: Int = 3) throws -> StoreSetup {
    let setup = try StoreSetup()
    try setup.add(0..<3)
    try setup.reopen()
    for number in 0..<transactions { try setup.add(3 + number..<4 + number) }
    return setup
  }

  private func log(_ file: URL) -> URL { URL(fileURLWithPath: file.path + "-wal") }

  private func change(_ file: URL, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: log(file))
    body(&data)
    try data.write(to: log(file))
  }

  private func big(_ data: Data, _ offset: Int) -> Int {
    data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The rows that a reader sees; nil if it refuses the store as damaged.
  private func count(_ file: URL, readOnly: Bool = true, readsDamaged: Bool = false) throws -> Int? {
    if readsDamaged {
      let opened = try OpenedDatabase.openForReading(file.path, readsDamagedWAL: true)
      defer { withExtendedLifetime(opened) {} }
      return try opened.connection.integer("SELECT count(*) FROM ZSESSION").map(Int.init)
    }
    do {
      return try StoreSetup.count(file, readOnly: readOnly)
    } catch let error as NSError where error.code == NSPersistentStoreOpenError {
      #expect(error.localizedDescription.contains("-wal"), "\(error.localizedDescription)")
      return nil
    }
  }

  @Test(
    "Each flipped bit that would change an answer is reported, with and without the index", arguments: [true, false])
  func flippedBits(hasIndex: Bool) throws {
    let setup = try Self.setup()
    let endings = hasIndex ? ["", "-wal", "-shm"] : ["", "-wal"]
    let length = try Data(contentsOf: log(setup.stack.file)).count
    var random = Randomness.generator()
    // Each field of each frame's header, and places in the pages.
    let headers = stride(from: 32, to: length, by: Self.frameSize).flatMap { start in
      stride(from: 0, to: 24, by: 3).map { start + $0 }
    }
    let fields = TestLength.isLong ? headers : Array(headers.shuffled(using: &random).prefix(24))
    let rounds = TestLength.rounds(12, long: 1000)
    let places = fields + (0..<rounds).map { _ in Int.random(in: 0..<length, using: &random) }
    var refused = 0
    for place in places {
      let file = try setup.copy(endings)
      let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
      try change(file) { $0[place] ^= bit }
      let before = try StoreSetup.contents(beside: file)
      let seen = try count(file)
      #expect(seen == nil || seen == 6, "byte \(place), bit \(bit)")
      #expect(try StoreSetup.contents(beside: file) == before)
      if seen == nil {
        refused += 1
        #expect(try count(file, readOnly: false) == nil, "byte \(place), bit \(bit)")
      }
    }
    #expect(refused > places.count / 2)
  }

  @Test("What is left of a damaged WAL is read where that is asked for, and the loss is reported in numbers")
  func reading() throws {
    let setup = try Self.setup()
    let file = try setup.copy(["", "-wal"])
    let data = try Data(contentsOf: log(file))
    let starts = Array(stride(from: 32, to: data.count, by: Self.frameSize))
    let ends = starts.filter { big(data, $0 + 4) > 0 }
    try #require(ends.count == 3)
    try change(file) { $0[ends[0] + Self.frameSize + 100] ^= 1 }
    let lost = starts.count { $0 > ends[0] }
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file) }
    let text = error?.localizedDescription ?? ""
    #expect(text.contains("\(lost) are lost with the ends of 2 transactions"), "\(text)")
    #expect(error?.isOfDamagedWAL == true)
    #expect(try count(file, readsDamaged: true) == 4)
  }

  @Test(
    "A WAL that ends anywhere, without an index, is read up to its last whole transaction", arguments: [true, false])
  func tornTails(readOnly: Bool) throws {
    let setup = try Self.setup()
    let data = try Data(contentsOf: log(setup.stack.file))
    let starts = Array(stride(from: 32, to: data.count, by: Self.frameSize))
    for start in starts {
      for cut in [start, start + 10, start + 24, start + 2000, start + Self.frameSize] {
        let file = try setup.copy(["", "-wal"])
        try change(file) { $0 = $0.prefix(cut) }
        let whole = starts.count { $0 + Self.frameSize <= cut && big(data, $0 + 4) > 0 }
        #expect(try count(file, readOnly: readOnly) == 3 + whole, "cut at \(cut)")
      }
      // A header under which the page was not written, as the last thing before a kill.
      let file = try setup.copy(["", "-wal"])
      try change(file) { $0 = $0.prefix(start + 24) + Data(count: Self.pageSize) }
      let whole = starts.count { $0 < start && big(data, $0 + 4) > 0 }
      #expect(try count(file, readOnly: readOnly) == 3 + whole)
    }
  }

  @Test("Old frames behind a WAL that started over are not damage", arguments: [true, false])
  func restarted(readOnly: Bool) throws {
    let setup = try Self.setup(transactions: 6)
    let writer = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    _ = try writer.rows("PRAGMA wal_checkpoint(RESTART)")
    for key in 1...2 {
      try writer.execute("DELETE FROM ZSESSION WHERE Z_PK = \(key)")
      for endings in [["", "-wal"], ["", "-wal", "-shm"]] {
        #expect(try count(try setup.copy(endings), readOnly: readOnly) == 9 - key)
      }
    }
    writer.close()
  }

  @Test(
    "A frame that was not written before later ones is reported to readers, and a writer goes on as SQLite does",
    arguments: [true, false], [0, 1])
  func unwritten(hasIndex: Bool, transactionsBefore: Int) throws {
    let setup = try Self.setup()
    let data = try Data(contentsOf: log(setup.stack.file))
    let starts = Array(stride(from: 32, to: data.count, by: Self.frameSize))
    let end = try #require(starts.first { big(data, $0 + 4) > 0 })
    let file = try setup.copy(hasIndex ? ["", "-wal", "-shm"] : ["", "-wal"])
    let next = transactionsBefore == 0 ? starts[0] : end + Self.frameSize
    try change(file) { $0.replaceSubrange(next..<next + Self.frameSize, with: Data(count: Self.frameSize)) }
    #expect(try count(file) == nil)
    #expect(try count(file, readsDamaged: true) == 3 + transactionsBefore)
    #expect(try count(file, readOnly: false) == 3 + transactionsBefore)
  }

  @Test(
    "A WAL as a power failure leaves it is opened for writing as SQLite opens it, and a reader gets a report of what it lacks",
    arguments: [true, false])
  func powerFailure(hasIndex: Bool) throws {
    let setup = try Self.setup(transactions: 5)
    let endings = hasIndex ? ["", "-wal", "-shm"] : ["", "-wal"]
    let length = try Data(contentsOf: log(setup.stack.file)).count
    var random = Randomness.generator()
    for _ in 0..<TestLength.rounds(20, long: 1000) {
      let file = try setup.copy(endings)
      // Each write is one of a frame's header or page; of it the disk has any blocks.
      let first = Int.random(in: 0..<length / Self.frameSize, using: &random)
      let lastKept = Bool.random(using: &random) ? length : Int.random(in: 0...length, using: &random)
      try change(file) { data in
        for start in stride(from: 32 + first * Self.frameSize, to: length, by: Self.frameSize) {
          for block in [start..<start + 24] + (0..<8).map({ start + 24 + $0 * 512..<start + 24 + ($0 + 1) * 512 })
          where Int.random(in: 0..<4, using: &random) == 0 {
            data.replaceSubrange(block, with: Data(count: block.count))
          }
        }
        // The header is synced before the first frame.
        if first == 0, Bool.random(using: &random) { data = Data(count: data.count) }
        data = data.prefix(lastKept)
      }
      let copy = try folderCopy(of: file)
      let expected = try Int(sqlite(copy, "SELECT count(*) FROM ZSESSION"))
      let seen = try count(file)
      #expect(seen == nil || seen == expected)
      #expect(try count(file, readOnly: false) == expected)
    }
  }

  @Test("A log whose header alone is empty is refused by a writer too, and stays as it is", arguments: [true, false])
  func emptyHeader(hasIndex: Bool) throws {
    let setup = try Self.setup()
    let file = try setup.copy(hasIndex ? ["", "-wal", "-shm"] : ["", "-wal"])
    try change(file) { $0.replaceSubrange(0..<32, with: Data(count: 32)) }
    let before = try Data(contentsOf: log(file))
    #expect(try count(file) == nil)
    #expect(try count(file, readOnly: false) == nil)
    #expect(try Data(contentsOf: log(file)) == before)
  }

  /// A store with its log for SQLite's own program, which makes the index anew.
  private func folderCopy(of file: URL) throws -> URL {
    let place = file.deletingLastPathComponent().appendingPathComponent("other")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let copy = place.appendingPathComponent("store.sqlite")
    for ending in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: file.path + ending, toPath: copy.path + ending)
    }
    return copy
  }

  @Test("An index of an earlier generation of the log is made again", arguments: [true, false])
  func oldIndex(readOnly: Bool) throws {
    let setup = try Self.setup()
    let file = setup.stack.file
    let old = try setup.copy(["-shm"])
    let writer = try SQLiteConnection(path: file.path, mode: .readWrite)
    _ = try writer.rows("PRAGMA wal_checkpoint(RESTART)")
    try writer.execute("DELETE FROM ZSESSION WHERE Z_PK = 1")
    let copy = try setup.copy(["", "-wal"])
    try FileManager.default.copyItem(atPath: old.path + "-shm", toPath: copy.path + "-shm")
    #expect(try count(copy, readOnly: readOnly) == 5)
    // Also within one generation: the index knows fewer transactions than the log has.
    let earlier = try setup.copy(["-shm"])
    try writer.execute("DELETE FROM ZSESSION WHERE Z_PK = 2")
    let later = try setup.copy(["", "-wal"])
    try FileManager.default.copyItem(atPath: earlier.path + "-shm", toPath: later.path + "-shm")
    #expect(try count(later, readOnly: readOnly) == 4)
    writer.close()
  }

  /// What shows that the log was written for another file, though it lacks the page with the store's UUID.
  enum Sign: String, CaseIterable, Sendable { case changes = "change", schema = "schema", pages = "neither in" }

  @Test("The log of another store with the same tables is refused", arguments: [true, false], Sign.allCases)
  func otherWAL(readOnly: Bool, sign: Sign) throws {
    let other = try StoreSetup()
    try other.add(0..<(sign == .pages ? 3000 : 3))
    try other.reopen()
    // The first page is in the log if the schema changes.
    let changes = sign == .pages ? "UPDATE ZSESSION SET Z_OPT = 2 WHERE Z_PK = 1" : "CREATE TABLE a(b)"
    try sqlite(other.stack.file, changes)
    let one = try StoreSetup.closed()
    switch sign {
    case .changes: for name in ["a", "c", "d"] { try sqlite(one.stack.file, "CREATE TABLE \(name)(b)") }
    case .schema: try sqlite(one.stack.file, "CREATE TABLE a(b); CREATE TABLE c(b); CREATE TABLE d(b)")
    case .pages: break
    }
    let file = try one.copy([""])
    try Data(contentsOf: log(other.stack.file)).write(to: log(file))
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file, readOnly: readOnly) }
    let text = error?.localizedDescription ?? ""
    #expect(text.contains("does not belong to the store") && text.contains(sign.rawValue), "\(text)")
  }

  @Test("A store that lies in its log alone is said to lack it")
  func onlyInWAL() throws {
    let setup = try StoreSetup()
    try setup.add(0..<3)
    let file = try setup.copy([""])
    let size = try Data(contentsOf: file).count
    try #require(size <= Self.pageSize)
    let error = #expect(throws: NSError.self) { try StoreSetup.count(file) }
    let text = error?.localizedDescription ?? ""
    #expect(text.contains("-wal is missing or empty"), "\(text)")
  }

  @Test("The one wrong word of a checksum is found, and random words have none")
  func wrongWord() throws {
    var random = Randomness.generator()
    for _ in 0..<50 {
      let words = 2 * Int.random(in: 1...600, using: &random)
      let bytes = (0..<4 * words).map { _ in UInt8.random(in: 0...255, using: &random) }
      let isBigEndian = Bool.random(using: &random)
      let written = WALChecksum.of(bytes[...], isBigEndian: isBigEndian)
      let word = Int.random(in: 0..<words, using: &random)
      var wrong = bytes
      wrong[4 * word + Int.random(in: 0..<4, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      let sum = WALChecksum.of(wrong[...], isBigEndian: isBigEndian)
      #expect(sum.wrongWords(for: written, of: words).contains { $0.number == word })
      #expect(written.wrongWords(for: written, of: words).isEmpty)
      let other = (0..<4 * words).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(WALChecksum.of(other[...], isBigEndian: isBigEndian).wrongWords(for: written, of: words).isEmpty)
    }
  }
}
