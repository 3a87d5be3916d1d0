@testable import CSV
import Foundation
import TestSupport
import Testing

// Rules: RFC 1952; gzip is recognised by its first bytes; what came out before a fault is delivered before the fault.

@Suite("Gzip is read as Python's gzip writes it, and damage is reported after the good bytes")
struct GzipReadingTests {
  private static let text = Array("date,location\n2020-01-01,\"Queens, Waikiki\"\n2020-01-02,Rincon\n".utf8)

  private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    try python(
      "import sys,gzip; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read(), mtime=5))", input: bytes)
  }

  /// All bytes, and the error at their end if there is one.
  private func inflate(
    _ bytes: [UInt8], pieces: Int = 1 << 16, buffer: Int = 1 << 16
  ) throws -> (bytes: [UInt8], error: CSVError?) {
    let source = ByteSource(try RawInput(.memory(bytes), name: "memory"), gzipBufferBytes: buffer)
    var result: [UInt8] = []
    do throws(CSVError) {
      while try source.read(appendingTo: &result, bytesMax: pieces) > 0 {}
    } catch {
      return (result, error)
    }
    return (result, nil)
  }

  @Test("One member, several members and zero padding, in pieces of any size", arguments: [1, 7, 1 << 16])
  func members(pieces: Int) throws {
    let one = try gzip(Self.text)
    for input in [one, one + [0, 0, 0, 0]] {
      let found = try inflate(input, pieces: pieces)
      #expect(found.bytes == Self.text && found.error == nil)
    }
    let two = try inflate(one + (try gzip(Array("x,y\n".utf8))), pieces: pieces)
    #expect(two.bytes == Self.text + Array("x,y\n".utf8) && two.error == nil)
  }

  /// A way of writing a member: an expression of Python's for the bytes `data`.
  struct Writing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expression: String
  }

  private static func deflated(level: Int = 6, _ strategy: String) -> String {
    "(lambda c: c.compress(data) + c.flush())(zlib.compressobj(\(level), wbits=31, strategy=zlib.\(strategy)))"
  }
  /// The raw data, to put another header before them (RFC 1952, 2.3).
  private static let raw =
    "zlib.compress(data, wbits=-15) + struct.pack('<II', zlib.crc32(data), len(data) & 0xFFFFFFFF)"

  static let writings = [
    Writing(testDescription: "stored", expression: "gzip.compress(data, 0)"),
    Writing(testDescription: "fast", expression: "gzip.compress(data, 1)"),
    Writing(testDescription: "best", expression: "gzip.compress(data, 9)"),
    Writing(testDescription: "fixed codes", expression: deflated("Z_FIXED")),
    Writing(testDescription: "codes only", expression: deflated("Z_HUFFMAN_ONLY")),
    Writing(testDescription: "runs only", expression: deflated("Z_RLE")),
    Writing(
      testDescription: "many members",
      expression: "b''.join(gzip.compress(data[i:i+997]) for i in range(0, len(data), 997))"),
    Writing(
      testDescription: "name and comment",
      expression: "b'\\x1f\\x8b\\x08\\x18' + bytes(6) + b'a name\\0a comment\\0' + \(raw)"),
    Writing(
      testDescription: "extra field",
      expression: "b'\\x1f\\x8b\\x08\\x04' + bytes(6) + struct.pack('<H', 300) + bytes(300) + \(raw)"),
    Writing(
      testDescription: "checksum of the header",
      expression:
        "(lambda h: h + struct.pack('<H', zlib.crc32(h) & 0xFFFF))(b'\\x1f\\x8b\\x08\\x02' + bytes(6)) + \(raw)"),
  ]

  @Test("Every way of writing it, through buffers of any size", arguments: writings, [2, 13, 1 << 16])
  func written(writing: Writing, buffer: Int) throws {
    // Repetitions near and far, and none.
    var state: UInt32 = 1
    let data: [UInt8] = (0..<(TestLength.isLong ? 200_000 : 80_000)).map { index in
      state = state &* 1_664_525 &+ 1_013_904_223
      return index / 10_000 % 2 == 0 ? UInt8(state >> 24) : UInt8(48 + index % 1000 / 100)
    }
    let bytes = try python(
      "import sys,gzip,zlib,struct; data=sys.stdin.buffer.read(); sys.stdout.buffer.write(\(writing.expression))",
      input: data)
    for pieces in [911, 1 << 20] {
      let found = try inflate(bytes, pieces: pieces, buffer: buffer)
      #expect(found.bytes == data && found.error == nil)
    }
  }

  @Test("Reserved flags in the header of any member are damage", arguments: [0x20, 0x40, 0x80] as [UInt8])
  func reservedFlags(flag: UInt8) throws {
    let one = try gzip(Self.text)
    var flagged = one
    flagged[3] |= flag
    for (input, good) in [(flagged, []), (one + flagged, Self.text)] {
      let found = try inflate(input)
      #expect(found.bytes == good && found.error?.code == .compression)
      #expect(found.error?.message.contains("reserved flags") == true)
    }
  }

  @Test("Cut off at any byte, it is a compression error with its position, after what came out before")
  func truncated() throws {
    let whole = try gzip(Self.text)
    for length in 2..<whole.count {
      let found = try inflate(Array(whole[..<length]), buffer: length % 2 == 0 ? 3 : 1 << 16)
      #expect(found.error?.code == .compression, "cut at \(length)")
      #expect(found.error?.compressedByte == length, "cut at \(length)")
      #expect(Self.text.starts(with: found.bytes), "cut at \(length)")
    }
  }

  @Test("A changed byte anywhere never gives wrong text without an error")
  func corrupted() throws {
    let whole = try gzip(Self.text)
    for index in 10..<whole.count {
      var damaged = whole
      damaged[index] ^= 0x55
      let found = try inflate(damaged)
      #expect(found.error?.code == .compression, "byte \(index)")
    }
  }

  @Test("What came out before the damage is the same through buffers of any size", arguments: [0.2, 0.5, 0.97])
  func damagedInTheMiddle(place: Double) throws {
    let long = Array((0..<40_000).map { "row \($0),\($0 * 7919 % 10007)\n" }.joined().utf8)
    var damaged = try gzip(long)
    let index = Int(Double(damaged.count) * place)
    for byte in damaged[index..<(index + 40)].indices { damaged[byte] = 0xFF }
    let whole = try inflate(damaged, pieces: 1 << 22)
    #expect(whole.error?.code == .compression && Double(whole.bytes.count) > Double(long.count) * place * 0.9)
    for (pieces, buffer) in [(911, 1 << 16), (5000, 2), (70_000, 300)] {
      let found = try inflate(damaged, pieces: pieces, buffer: buffer)
      #expect(found.bytes.count == whole.bytes.count && found.bytes == whole.bytes && found.error?.code == .compression)
    }
  }

  @Test("What follows the gzip data and is not padding is an error, and the data were read")
  func trailing() throws {
    let found = try inflate(try gzip(Self.text) + Array("rest".utf8))
    #expect(found.bytes == Self.text && found.error?.code == .compression)
  }

  @Test("The name does not matter, only the first bytes do")
  func magic() throws {
    let folder = try TemporaryFolder()
    try Data(try gzip(Self.text)).write(to: folder.url.appendingPathComponent("log.csv"))
    try Data(Self.text).write(to: folder.url.appendingPathComponent("log.csv.gz"))
    for name in try folder.names {
      let reader = try CSVReader(ByteSource(path: folder.path(name)))
      #expect(try readAll(reader).map(\.values) == [["2020-01-01", "Queens, Waikiki"], ["2020-01-02", "Rincon"]])
    }
  }

  @Test("Whole records before the damage are handed out, then the error, every time it is asked")
  func recordsBeforeDamage() throws {
    let long = Array((0..<20_000).map { "row \($0),\($0 * 7919 % 10007)\n" }.joined().utf8)
    let whole = try gzip(long)
    let reader = try CSVReader(
      ByteSource(bytes: Array(whole[..<(whole.count / 2)])), dialect: CSVDialect(hasHeader: false))
    var block = RecordBlock()
    var count = 0
    let error = #expect(throws: CSVError.self) {
      while try reader.next(into: &block, recordsMax: 100) {
        #expect(block.string(of: block.fields[0]) == "row \(count)")
        count += block.records.count
      }
    }
    #expect(count > 1000 && error?.code == .compression)
    #expect(throws: CSVError.self) { try reader.next(into: &block, recordsMax: 1) }
  }

  @Test("Missing files, folders and files without permission are source errors with the system's number")
  func sources() throws {
    let folder = try TemporaryFolder()
    let missing = #expect(throws: CSVError.self) { try ByteSource(path: folder.path("none")) }
    #expect(missing?.code == .source && missing?.errnoCode == ENOENT)
    let directory = #expect(throws: CSVError.self) { try ByteSource(path: folder.url.path) }
    #expect(directory?.code == .source && directory?.errnoCode == EISDIR)
  }
}
