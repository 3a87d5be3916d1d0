@testable import CSV
import Foundation
import TestSupport
import Testing

// Rules: RFC 1952, one member without time or name; RFC 1951, blocks that may refer back over 32 KiB. What comes out
// depends on the content alone. Sources of the checks: Python's gzip and `gzip -t`, which are other readers, and
// one thread that makes the blocks one after the other.

@Suite("Gzip made by many threads is the one that a single thread makes, and one member", .seeded)
struct GzipWritingTests {
  struct Content: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
  }

  private static let blockBytes = GzipDeflater.blockBytes

  /// Records with much that comes again, also over the borders of blocks.
  private static func log(_ count: Int) -> [UInt8] {
    var random = Randomness.generator()
    var bytes: [UInt8] = []
    let places = ["Rincon", "鵠沼海岸", "\"Queens, Waikiki\"", "Kauaʻi"]
    while bytes.count < count {
      let number = Int.random(in: 0..<1_000_000, using: &random)
      bytes += Array("2014-07-14T07:\(number % 60):00Z,\(number % 97),\(places[number % 4]),\(number)\n".utf8)
    }
    return Array(bytes[..<count])
  }

  private static func noise(_ count: Int) -> [UInt8] {
    var random = Randomness.generator()
    var bytes: [UInt8] = []
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
    return Array(bytes[..<count])
  }

  static let contents = [
    Content("empty", []), Content("one byte", [0x61]), Content("one byte less than a block", log(blockBytes - 1)),
    Content("exactly a block", log(blockBytes)), Content("one byte more than a block", log(blockBytes + 1)),
    Content("exactly two blocks", log(2 * blockBytes)), Content("many blocks", log(6 * blockBytes + 4321)),
    Content("the same byte all along", [UInt8](repeating: 0x2C, count: 5 * blockBytes + 5)),
    Content("what can't be compressed", noise(4 * blockBytes + 77)),
  ]

  /// What a deflater makes of the content when it comes in pieces.
  private func gzip(
    _ content: [UInt8], workersMax: Int, pieceBytes: Int = .max
  ) throws(CSVError) -> [UInt8] {
    let deflater = GzipDeflater(workersMax: workersMax)
    var stored: [UInt8] = []
    let put: (UnsafeRawBufferPointer) throws(CSVError) -> Void = { stored += $0 }
    var rest = content[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieceBytes))
      try piece.withUnsafeBufferPointer { bytes throws(CSVError) in
        try deflater.write(UnsafeRawBufferPointer(bytes), to: put)
      }
      rest = rest.dropFirst(pieceBytes)
    }
    try deflater.finish(to: put)
    return stored
  }

  /// The deflate data of a content, made here and now: what lies between the ten bytes in front and the eight behind.
  private func deflated(_ content: [UInt8]) -> [UInt8] {
    let deflater = BlockDeflater()
    let starts = Array(stride(from: 0, through: content.count, by: Self.blockBytes))
    return starts.flatMap { start in
      let front = max(0, start - 32 << 10)
      let end = min(content.count, start + Self.blockBytes)
      let block = DeflateBlock(
        bytes: Array(content[front..<end]), dictionaryBytes: start - front, isLast: start == starts.last)
      return deflater.deflated(block)
    }
  }

  @Test("Any number of threads makes of any pieces what one makes block by block", arguments: contents)
  func sameBytes(content: Content) throws {
    let whole = try gzip(content.bytes, workersMax: 1)
    #expect(Array(whole.dropFirst(10).dropLast(8)) == deflated(content.bytes))
    for (workersMax, pieceBytes) in [(2, .max), (3, 1000), (8, 65_537), (2, Self.blockBytes), (4, Self.blockBytes + 1)]
    {
      #expect(
        try gzip(content.bytes, workersMax: workersMax, pieceBytes: pieceBytes) == whole,
        "\(workersMax) threads, pieces of \(pieceBytes)")
    }
  }

  @Test("Python's gzip, gzip -t and our own reader read it, and find one member", arguments: contents)
  func otherReaders(content: Content) throws {
    let bytes = try gzip(content.bytes, workersMax: 3, pieceBytes: 10_000)
    let plain = try python(
      """
      import sys,zlib,gzip
      data=sys.stdin.buffer.read(); member=zlib.decompressobj(31); text=member.decompress(data)
      assert member.eof and not member.unused_data and text==gzip.decompress(data)
      sys.stdout.buffer.write(text)
      """, input: bytes)
    #expect(plain == content.bytes)
    let source = try ByteSource(bytes: bytes)
    var own: [UInt8] = []
    while try source.read(appendingTo: &own, bytesMax: 5000) > 0 {}
    #expect(own == content.bytes)
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: folder.url.appendingPathComponent("out.gz"))
    #expect(try Programs.run("/usr/bin/env", ["gzip", "-t", folder.path("out.gz")]).status == 0)
  }

  @Test("It is not longer than that of gzip -1, and hardly longer than what can't be compressed")
  func ratio() throws {
    let content = Self.log(12 * Self.blockBytes)
    let fast = try python(
      "import sys,gzip; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read(), 1))", input: content)
    #expect(try gzip(content, workersMax: 2).count < fast.count)
    let noise = Self.noise(4 * Self.blockBytes)
    #expect(Double(try gzip(noise, workersMax: 2).count) < 1.001 * Double(noise.count))
  }

  @Test("A flush in the middle of a content changes nothing")
  func flush() throws {
    let content = Self.log(3 * Self.blockBytes)
    let sinks = try (0..<2).map { _ in try ByteSink.memory(compression: .gzip) }
    for (number, sink) in sinks.enumerated() {
      for start in stride(from: 0, to: content.count, by: 50_000) {
        try sink.write(content[start..<min(start + 50_000, content.count)])
        if number == 0 { try sink.flush() }
      }
      try sink.commit()
    }
    #expect(sinks[0].bytes == sinks[1].bytes)
    #expect(sinks[0].bytes == (try gzip(content, workersMax: 2)))
  }

  @Test("However long the content is, only two blocks for each thread wait to be stored", arguments: [1, 2, 5])
  func bounded(workersMax: Int) throws {
    let deflater = GzipDeflater(workersMax: workersMax)
    let block = [UInt8](repeating: 0x61, count: Self.blockBytes)
    // The header is put on its own.
    var stored = -1
    for handedOut in 1...200 {
      try block.withUnsafeBufferPointer { bytes throws(CSVError) in
        try deflater.write(UnsafeRawBufferPointer(bytes)) { _ throws(CSVError) in stored += 1 }
      }
      #expect(handedOut - max(0, stored) <= 2 * workersMax)
    }
  }
}

@Suite("What goes wrong while gzip is written reaches the writer")
struct GzipFaultTests {
  private static let blockBytes = GzipDeflater.blockBytes

  @Test("The output fails at any piece: the error comes once, then again at every call", arguments: 0..<8)
  func output(piece: Int) throws {
    var taken = 0
    let failure = CSVError(.write, "cannot be written: disk full", errnoCode: ENOSPC)
    let output = RawOutput.custom { _ throws(CSVError) in
      if taken == piece { throw failure }
      taken += 1
    }
    let sink = try ByteSink(output, .gzip)
    let content = [UInt8](repeating: 0x61, count: 40 * Self.blockBytes)
    let first = #expect(throws: CSVError.self) {
      try sink.write(content)
      try sink.commit()
    }
    #expect(first?.errnoCode == ENOSPC)
    let second = #expect(throws: CSVError.self) { try sink.write([0x61]) }
    #expect(second?.errnoCode == ENOSPC && taken == piece)
  }

  @Test("A reader that goes away ends the writing with EPIPE")
  func brokenPipe() throws {
    signal(SIGPIPE, SIG_IGN)
    let pipe = Pipe()
    let sink = try ByteSink(
      descriptor: pipe.fileHandleForWriting.fileDescriptor, name: "pipe", compression: .gzip)
    try pipe.fileHandleForReading.close()
    let error = #expect(throws: CSVError.self) {
      let block = [UInt8](repeating: 0x61, count: Self.blockBytes)
      for _ in 0..<100 { try sink.write(block) }
    }
    #expect(error?.code == .write && error?.errnoCode == EPIPE)
  }
}
