@testable import CSV
import Foundation
import TestSupport
import Testing

// Rule: the fast scanner is a shortcut, never another opinion. Random nasty input reads the same by both scanners, in
// pieces of any size and in blocks of any length.

@Suite("Both scanners find the same records in any input", .seeded)
struct ScannerAgreementTests {
  private static let alphabet: [[UInt8]] =
    ["a", ",", "\"", "\n", "\r", "\r\n", "é", "鵠", "\0", " ", "bcdefgh", "\"\""].map { Array($0.utf8) } + [[0xFF]]

  private static func noise(_ seed: UInt64, _ count: Int) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).flatMap { _ in alphabet.randomElement(using: &random) ?? [] }
  }

  @Test("Random input", arguments: Randomness.seeds(60, long: 5000))
  func agreement(seed: UInt64) throws {
    let bytes = Self.noise(seed, 40 + Int(seed % 60) * 17)
    let expected = try readAll(bytes, readBytes: 256 << 10, fast: false)
    for (size, recordsMax) in [(1, 1), (3, 7), (64, 1000), (1 << 18, 2)] {
      let found = try readAll(bytes, readBytes: size, fast: true, recordsMax: recordsMax)
      #expect(found == expected, "seed \(seed), pieces of \(size), blocks of \(recordsMax)")
    }
  }

  @Test("The comparison can fail: one changed byte is seen")
  func canary() throws {
    var bytes = Self.noise(7, 400)
    let before = try readAll(bytes)
    let index = try #require(bytes.firstIndex(of: 0x61))
    bytes[index] = 0x78
    #expect(try readAll(bytes) != before)
  }

  @Test(
    "The original bytes of all records, one after the other, are the input", arguments: Randomness.seeds(20, long: 1000)
  )
  func originals(seed: UInt64) throws {
    let bytes = Self.noise(seed, 300)
    #expect(try readAll(bytes).flatMap(\.original) == bytes, "seed \(seed)")
  }

  @Test("Line and byte of every record are those that counting gives", arguments: Randomness.seeds(20, long: 1000))
  func positions(seed: UInt64) throws {
    let bytes = Self.noise(seed, 300)
    for record in try readAll(bytes) {
      let before = bytes[..<record.byte]
      var lines = 1
      for (index, byte) in before.enumerated() {
        let endsLine = byte == 0x0A || (byte == 0x0D && (index + 1 >= bytes.count || bytes[index + 1] != 0x0A))
        if endsLine { lines += 1 }
      }
      #expect(record.line == lines, "seed \(seed), byte \(record.byte)")
    }
  }

  @Test("Reading on from a position gives what reading through gives", arguments: Randomness.seeds(10, long: 500))
  func resuming(seed: UInt64) throws {
    let bytes = Self.noise(seed, 300)
    let dialect = CSVDialect(hasHeader: false)
    let reader = try CSVReader(ByteSource(bytes: bytes), dialect: dialect)
    var block = RecordBlock()
    guard try reader.next(into: &block, recordsMax: 20) else { return }
    let rest = try readAll(reader)
    let resumed = try CSVReader(ByteSource(bytes: bytes), dialect: dialect, startingAt: block.end)
    #expect(try readAll(resumed) == rest, "seed \(seed)")
    #expect(resumed.position == reader.position)
  }

  @Test("Random input in random dialects", arguments: Randomness.seeds(150, long: 20_000))
  func dialects(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let dialect = RandomDialect.make(using: &random)
    let bytes = RandomDialect.noise(for: dialect, 40 + Int(seed % 20) * 10, using: &random)
    let expected = try readAll(bytes, dialect: dialect, fast: false)
    for (size, recordsMax) in [(1, 1), (3, 7), (64, 1000), (1 << 18, 2)] {
      let found = try readAll(bytes, dialect: dialect, readBytes: size, fast: true, recordsMax: recordsMax)
      #expect(found == expected, "seed \(seed), pieces of \(size), blocks of \(recordsMax), \(dialect)")
    }
  }

  @Test("Reading on after any record of a random dialect", arguments: Randomness.seeds(40, long: 3000))
  func resumingDialects(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var dialect = RandomDialect.make(using: &random)
    dialect.skippedRows = Int.random(in: 0...2, using: &random)
    dialect.droppedLastRows = Int.random(in: 0...2, using: &random)
    dialect.stopAt = Bool.random(using: &random) ? "bcdefgh" : nil
    let bytes = RandomDialect.noise(for: dialect, 60, using: &random)
    let all = try readAll(bytes, dialect: dialect)
    let reader = try CSVReader(ByteSource(bytes: bytes), dialect: dialect)
    let hash = ContentHash()
    reader.contentHash = hash
    var block = RecordBlock()
    var count = 0
    while try reader.next(into: &block, recordsMax: 3) {
      count += block.records.count
      #expect(block.end.record == count + 1 && hash.byteCount == block.end.byteOffset)
      let resumed = try CSVReader(ByteSource(bytes: bytes), dialect: dialect, startingAt: block.end)
      #expect(try readAll(resumed) == Array(all[count...]), "seed \(seed), \(dialect)")
    }
    #expect(count == all.count && reader.position.byteOffset == bytes.count)
    #expect(hash.byteCount == bytes.count)
  }
}
