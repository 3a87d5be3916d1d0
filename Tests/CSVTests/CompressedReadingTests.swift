@testable import CSV
import Foundation
import TestSupport
import Testing

// Rule: what other programs compressed is read as the text that they were given, or refused after what came before the
// damage; never is a part taken for the whole. The zstd program and Python's modules make the samples.

@Suite("Zstandard, xz, bzip2 and zip are read as other programs write them, and damage is an error", .seeded)
struct CompressedReadingTests {
  /// A way of compressing.
  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A shell command from standard input to standard output.
    let command: String
    /// Whether it makes an archive, which is not a stream.
    var isArchive = false
    /// Whether all of the content is covered by a checksum.
    var isChecked = true
  }

  private static func python(_ name: String, writes expression: String) -> Way {
    Way(
      testDescription: name,
      command: "python3 -c 'import sys,bz2,lzma; data=sys.stdin.buffer.read(); sys.stdout.buffer.write(\(expression))'")
  }

  private static func zip(_ name: String, method: Int, write: String = "writestr(\"log.csv\", data)") -> Way {
    Way(
      testDescription: name,
      command: """
        python3 -c 'import sys,io,zipfile; data=sys.stdin.buffer.read(); file=io.BytesIO()
        zip=zipfile.ZipFile(file, "w", \(method)); zip.\(write); zip.close(); sys.stdout.buffer.write(file.getvalue())'
        """, isArchive: true)
  }

  static let streams = [
    Way(testDescription: "zstd", command: "zstd -qc"),
    Way(testDescription: "zstd -19 --long", command: "zstd -qc -19 --long"),
    Way(testDescription: "zstd --no-check", command: "zstd -qc --no-check", isChecked: false),
    Way(testDescription: "pzstd", command: "pzstd -qc -p 2"), Way(testDescription: "xz", command: "xz -c"),
    Way(testDescription: "xz, blocks", command: "xz -c --block-size=4096 -C sha256"),
    Way(testDescription: "bzip2", command: "bzip2 -c"), Way(testDescription: "bzip2 -1", command: "bzip2 -1 -c"),
    python("lzma", writes: "lzma.compress(data)"), python("bz2", writes: "bz2.compress(data)"),
    python("bz2, many streams", writes: "b\"\".join(bz2.compress(data[i:i+9973]) for i in range(0, len(data), 9973))"),
  ]
  static let archives = [
    Way(testDescription: "zip", command: "zip -q - -", isArchive: true), zip("zipfile", method: 8),
    zip("zipfile, stored", method: 0),
    zip("zipfile, bzip2", method: 12), zip("zipfile, lzma", method: 14),
    zip(
      "zipfile, from macOS", method: 8,
      write:
        "writestr(\"a/\", b\"\"); zip.writestr(\"__MACOSX/._a\", b\"x\"); zip.writestr(\"a/é.csv\", data); zip.writestr(\"a/.DS_Store\", b\"y\")"
    ),
    zip("zipfile, comment", method: 8, write: "writestr(\"log.csv\", data); zip.comment = b\"a comment PK\\x05\\x06\""),
  ]

  private static let short = Array("date,location\n2020-01-01,\"Queens, Waikiki\"\n2020-01-02,Rincon\n".utf8)

  private static func log(_ count: Int) -> [UInt8] {
    var random = Randomness.generator()
    var bytes: [UInt8] = []
    while bytes.count < count {
      bytes += Array("2014-07-14T07:\(Int.random(in: 10...59, using: &random)):00Z,\(random.next()),Rincon\n".utf8)
    }
    return bytes
  }

  private func compressed(_ text: [UInt8], _ way: Way) throws -> [UInt8] {
    Array(try Programs.bytes(of: ["bash", "-c", way.command], input: Data(text)))
  }

  /// All bytes, and the error at their end if there is one.
  private func read(_ bytes: [UInt8], pieces: Int = 1 << 16) throws -> (bytes: [UInt8], error: CSVError?) {
    let source = try ByteSource(bytes: bytes)
    var result: [UInt8] = []
    do throws(CSVError) {
      while try source.read(appendingTo: &result, bytesMax: pieces) > 0 {}
    } catch {
      return (result, error)
    }
    #expect(source.consumedBytes == bytes.count && source.inflatedBytes == result.count)
    return (result, nil)
  }

  @Test("Whole, in pieces of any size, from memory and through a pipe", arguments: streams + archives)
  func whole(way: Way) throws {
    for text in [Self.short, Self.log(250_000), Self.log(Int.random(in: 1...70_000))] {
      let bytes = try compressed(text, way)
      for pieces in [1 << 20, 70_001, 997] {
        let found = try read(bytes, pieces: pieces)
        #expect(found.error == nil && found.bytes == text)
      }
      var rest = bytes[...]
      let source = ByteSource(
        try RawInput(
          .generator { buffer throws(CSVError) in
            let piece = rest.prefix(min(buffer.count, 1000))
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
          }, name: "pipe"))
      var piped: [UInt8] = []
      while try source.read(appendingTo: &piped) > 0 {}
      #expect(piped == text)
    }
  }

  @Test("Empty content is an empty text", arguments: streams)
  func empty(way: Way) throws {
    let bytes = try compressed([], way)
    // pzstd writes nothing at all for nothing.
    guard !bytes.isEmpty else { return }
    let found = try read(bytes)
    #expect(found.bytes.isEmpty && found.error == nil, "\(String(describing: found.error))")
  }

  @Test("Frames that follow each other are one text", arguments: streams)
  func members(way: Way) throws {
    let (one, two) = (Self.log(150_000), Self.log(90_000))
    let found = try read(try compressed(one, way) + compressed([], way) + compressed(two, way))
    #expect(found.error == nil && found.bytes == one + two)
  }

  @Test("Cut off at any byte, it is an error with its position after what came before", arguments: streams + archives)
  func truncated(way: Way) throws {
    let one = try compressed(Self.short, way)
    let whole = way.isArchive ? one : one + one
    let border = way.isArchive ? 0 : whole.count / 2
    // pzstd puts a frame of 12 bytes without content before each frame, and behind the border it is a whole one.
    let borders = way.testDescription == "pzstd" ? [border, border + 12] : [border]
    for length in 5..<whole.count where !borders.contains(length) {
      let found = try read(Array(whole[..<length]))
      #expect(found.error?.code == .compression, "cut at \(length): \(String(describing: found.error))")
      #expect(found.error?.compressedByte == length, "cut at \(length): \(String(describing: found.error))")
      #expect((Self.short + Self.short).starts(with: found.bytes), "cut at \(length)")
    }
  }

  @Test("A long file cut off anywhere is never taken for a shorter one", arguments: streams + archives)
  func cutLong(way: Way) throws {
    let text = Self.log(300_000)
    let whole = try compressed(text, way)
    var random = Randomness.generator()
    for length in (0..<TestLength.rounds(10, long: 200)).map({ _ in Int.random(in: 10..<whole.count, using: &random) })
      + [whole.count - 1]
    {
      let found = try read(Array(whole[..<length]))
      if found.error == nil {
        // Some ways write several frames: a cut between two of them is a whole file of fewer frames.
        let isBorder = ["many streams", "pzstd"].contains { way.testDescription.contains($0) }
        #expect(isBorder, "cut at \(length) of \(whole.count)")
        continue
      }
      #expect(found.error?.code == .compression && found.error?.compressedByte == length, "cut at \(length)")
      #expect(text.starts(with: found.bytes))
    }
  }

  @Test("A changed byte anywhere never gives other text without an error", arguments: streams + archives)
  func corrupted(way: Way) throws {
    guard way.isChecked else { return }
    let whole = try compressed(Self.short, way)
    // With another byte among the first ten it would be another format.
    for index in 10..<whole.count {
      var damaged = whole
      damaged[index] ^= 0x55
      let found = try read(damaged)
      // A byte of a name or of a time changes nothing of the content.
      if found.error == nil { #expect(found.bytes == Self.short, "byte \(index)") }
    }
  }

  @Test("What follows the data is an error, and the data were read", arguments: streams + archives)
  func trailing(way: Way) throws {
    let bytes = try compressed(Self.short, way)
    for rest in ["rest", "a longer rest of 30 bytes or more", "\n"] {
      let found = try read(bytes + Array(rest.utf8))
      #expect(found.error?.code == .compression, "\(rest): \(String(describing: found.error))")
      #expect(Self.short.starts(with: found.bytes))
    }
  }

  @Test("An encrypted archive is refused by name")
  func encrypted() throws {
    let folder = try TemporaryFolder()
    try Data(Self.short).write(to: folder.file("log.csv"))
    try Programs.output(of: ["zip", "-q", "-P", "secret", "log.zip", "log.csv"], in: folder)
    let found = try read(Array(try folder.data("log.zip")))
    #expect(found.error?.code == .format && found.error?.message.contains("encrypted") == true)
  }

  @Test("A window beyond the library's bound is refused with advice that works")
  func longWindow() throws {
    let text = Self.log(2000)
    let bytes = try compressed(text, Way(testDescription: "", command: "cat | zstd -qc --ultra -22 --long=31"))
    let error = try read(bytes).error
    #expect(error?.message.contains("zstd -dc --long=31") == true, "\(String(describing: error))")
    #expect(try Array(Programs.bytes(of: ["zstd", "-dc", "--long=31"], input: Data(bytes))) == text)
  }
}
