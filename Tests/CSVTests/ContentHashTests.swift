@testable import CSV
import Foundation
import TestSupport
import Testing

@Suite("A content's hash is XXH3 with 128 bits, whatever the pieces it comes in")
struct ContentHashTests {
  static let sizes = [0, 1, 3, 16, 17, 128, 240, 241, 1024, 65_537, 300_000]

  @Test("xxhsum prints the same", .seeded, arguments: sizes)
  func agreesWithXxhsum(size: Int) throws {
    let folder = try TemporaryFolder()
    let bytes = Self.bytes(size)
    let file = folder.url.appendingPathComponent("content")
    try Data(bytes).write(to: file)
    let hash = ContentHash()
    var rest = bytes[...]
    while !rest.isEmpty {
      hash.update(rest.prefix(1000))
      rest = rest.dropFirst(1000)
    }
    #expect(hash.byteCount == size)
    #expect(try Self.xxhsum(file) == hash.digest.hex)
  }

  @Test("A digest can be taken on the way, and a copy goes on by itself")
  func copies() {
    let hash = ContentHash()
    hash.update([1, 2, 3])
    let copy = ContentHash(copying: hash)
    let early = hash.digest
    hash.update([4])
    #expect(copy.digest == early)
    #expect(hash.digest != early)
    copy.update([4])
    #expect(copy.digest == hash.digest)
  }

  @Test("A reader hashes all that it passes", arguments: ["\n", "\r\n"], [1, 7, 1000])
  func readerHashes(lineEnd: String, recordsMax: Int) throws {
    let long = String(repeating: "x", count: 5000)
    let text =
      "\u{FEFF}a,b" + lineEnd + "1,2" + lineEnd + lineEnd + "\"q" + lineEnd + "r\",2" + lineEnd
      + "\(long),\(long)" + lineEnd + lineEnd + "3,4" + lineEnd + lineEnd
    let bytes = Array(text.utf8)
    for readBytes in [64, 4096] {
      let reader = try CSVReader(
        ByteSource(bytes: bytes), dialect: .csv, limits: CSVLimits(fieldBytesMax: 100, recordBytesMax: 200),
        readBytes: readBytes, usesFastScanner: true)
      let hash = ContentHash()
      reader.contentHash = hash
      var block = RecordBlock()
      while try reader.next(into: &block, recordsMax: recordsMax) {
        #expect(hash.byteCount == block.end.byteOffset)
        let prefix = ContentHash()
        prefix.update(bytes.prefix(block.end.byteOffset))
        #expect(prefix.digest == hash.digest)
      }
      #expect(hash.byteCount == bytes.count)
    }
  }

  @Test("A digest's text reads back, and nothing else does")
  func text() {
    let digest = ContentDigest(high: 0x0123_4567_89AB_CDEF, low: 7)
    #expect(digest.hex == "0123456789abcdef0000000000000007")
    #expect(ContentDigest(hex: digest.hex) == digest)
    for text in [
      "", "0123456789abcdef000000000000000", "+123456789abcdef0000000000000007", "g" + digest.hex.dropFirst(),
    ] {
      #expect(ContentDigest(hex: text) == nil)
    }
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    var generator = Randomness.generator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  private static func xxhsum(_ file: URL) throws -> String {
    String(try Programs.output(of: ["xxhsum", "-H2", file.path]).prefix { $0 != " " })
  }
}
