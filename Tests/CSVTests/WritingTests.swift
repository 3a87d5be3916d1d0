@testable import CSV
import Foundation
import TestSupport
import Testing

// Rules: RFC 4180, quotes only where needed; what is written reads back to the same values, here and in Python; files
// appear whole or not at all.

@Suite("What is written reads back to the same values")
struct WritingTests {
  static let quoting: [(value: String, text: String)] = [
    ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""),
    ("two\nlines", "\"two\nlines\""),
    ("a\rb", "\"a\rb\""), (" lead", "\" lead\""), ("trail ", "\"trail \""), ("in side", "in side"),
    ("Kauaʻi", "Kauaʻi"),
    ("a;b", "a;b"),
  ]

  @Test("Only what needs quotes gets them", arguments: quoting)
  func quotes(value: String, text: String) throws {
    #expect(String(decoding: try written([["x", value, "y"]]), as: UTF8.self) == "x,\(text),y\n")
  }

  @Test("A record of one empty value is written so that it is not a blank line")
  func singleEmpty() throws {
    #expect(String(decoding: try written([[""], ["a"]]), as: UTF8.self) == "\"\"\na\n")
  }

  private static func nasty(_ seed: UInt64) -> [[String]] {
    var random = SeededGenerator(seed: seed)
    let parts = ["a", ",", "\"", "\n", "\r", "é", "鵠沼", " ", ";", "\t", "\u{FEFF}", "#", "'", "\"\""]
    return (0..<50).map { _ in
      (0..<4).map { _ in
        (0..<Int.random(in: 0...5, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      }
    }
  }

  @Test("Random values come back, in every dialect with quotes", .seeded, arguments: Randomness.seeds(10, long: 500))
  func roundTrip(seed: UInt64) throws {
    let records = Self.nasty(seed)
    for delimiter in [",", ";", "\t"] {
      for lineEnd in [CSVDialect.LineEnd.lf, .crlf] {
        let dialect = CSVDialect(delimiter: delimiter.utf8.first ?? 0, hasHeader: false, lineEnd: lineEnd)
        let bytes = try written(records, dialect: dialect)
        #expect(try readAll(bytes, dialect: dialect).map(\.values) == records, "seed \(seed)")
      }
    }
  }

  @Test(
    "Python's csv reads what is written, and what it writes is read", .seeded, arguments: Randomness.seeds(4, long: 100)
  )
  func pythonAgrees(seed: UInt64) throws {
    // A plain record first: Python does not quote a byte order mark at the front of a file, where it is none of the text.
    let records = [["a", "b", "c", "d"]] + Self.nasty(seed)
    let echo = """
      import sys,csv,io,json
      rows=list(csv.reader(io.StringIO(sys.stdin.buffer.read().decode('utf-8'),newline='')))
      sys.stdout.buffer.write(json.dumps(rows).encode())
      """
    let json = try python(echo, input: try written(records))
    #expect(try JSONDecoder().decode([[String]].self, from: Data(json)) == records, "seed \(seed)")
    let write = """
      import sys,csv,io,json
      out=io.StringIO(newline=''); csv.writer(out).writerows(json.loads(sys.stdin.buffer.read()))
      sys.stdout.buffer.write(out.getvalue().encode())
      """
    let bytes = try python(write, input: Array(try JSONEncoder().encode(records)))
    #expect(try readAll(bytes).map(\.values) == records, "seed \(seed)")
  }

  @Test("Gzip output is the same every time, and Python's gzip reads it", .seeded)
  func gzip() throws {
    let records = Self.nasty(Randomness.seed)
    let bytes = try written(records, compression: .gzip)
    #expect(try written(records, compression: .gzip) == bytes)
    #expect(Array(bytes[..<8]) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0], "no name and no time")
    let plain = try python(
      "import sys,gzip; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))", input: bytes)
    #expect(plain == (try written(records)))
  }

  @Test(
    "The journal app's dialect writes nothing quoted, and refuses what needs quotes with its field",
    arguments: [
      ("a,b", 1), ("two\nlines", 1), ("cr\r", 1),
    ])
  func journalApp(value: String, field: Int) throws {
    let sink = try ByteSink.memory()
    var writer = try CSVWriter(sink, dialect: .journalApp)
    try writer.write(["1/2/14", "3.9", "12", "NW", "Rincon \"the Queen\"", "4"])
    do throws(CSVError) {
      try writer.write(["1/3/14", value, "", "", "", ""])
      Issue.record("\(value) was written")
    } catch {
      #expect(error.code == .unquotableValue && error.field == field)
    }
    try writer.write(["1/4/14", "", "", "", "", ""])
    try writer.flush()
    try sink.commit()
    #expect(String(decoding: sink.bytes, as: UTF8.self) == "1/2/14,3.9,12,NW,Rincon \"the Queen\",4\n1/4/14,,,,,\n")
  }
}

@Suite("An output file appears whole under its name, or not at all")
struct SinkTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("Before the commit there is nothing under the name; after it, all")
  func commit() throws {
    let sink = try ByteSink(path: folder.path("out.csv"))
    try sink.write("half")
    #expect(!FileManager.default.fileExists(atPath: folder.path("out.csv")))
    try sink.write(" and half")
    try sink.commit()
    #expect(try String(contentsOfFile: folder.path("out.csv"), encoding: .utf8) == "half and half")
    #expect(try folder.names == ["out.csv"])
  }

  @Test("Finished, it waits for its name; cancelled or forgotten then, nothing is left", arguments: [0, 1, 2])
  func finished(ending: Int) throws {
    try Data("older".utf8).write(to: folder.url.appendingPathComponent("out.csv.gz"))
    var sink: ByteSink? = try ByteSink(path: folder.path("out.csv.gz"), compression: .gzip)
    try sink?.write("newer")
    try sink?.finish()
    #expect(try String(contentsOfFile: folder.path("out.csv.gz"), encoding: .utf8) == "older")
    #expect(try folder.names.count == 2)
    if ending == 0 {
      try sink?.commit(syncsFolder: false)
      try sink?.syncFolder()
      let bytes = try Data(contentsOf: folder.url.appendingPathComponent("out.csv.gz"))
      #expect(bytes.count == sink?.storedBytes)
      #expect(bytes.starts(with: [0x1F, 0x8B]))
    } else if ending == 1 {
      sink?.cancel()
    }
    sink = nil
    #expect(try folder.names == ["out.csv.gz"])
    if ending > 0 { #expect(try String(contentsOfFile: folder.path("out.csv.gz"), encoding: .utf8) == "older") }
  }

  @Test("A sink hashes what it takes in and what it stores", .seeded, arguments: [ByteSink.Compression.none, .gzip])
  func hashes(compression: ByteSink.Compression) throws {
    let sink = try ByteSink.memory(compression: compression)
    (sink.contentHash, sink.storedHash) = (ContentHash(), ContentHash())
    var random = Randomness.generator()
    var content: [UInt8] = []
    for size in [0, 1, 100, 70_000, 65_536, 3] {
      let bytes = (0..<size).map { _ in UInt8.random(in: 97...99, using: &random) }
      content += bytes
      try sink.write(bytes)
    }
    try sink.commit()
    let (whole, stored) = (ContentHash(), ContentHash())
    whole.update(content)
    stored.update(sink.bytes)
    #expect(sink.contentHash?.digest == whole.digest)
    #expect(sink.storedHash?.digest == stored.digest)
    #expect((whole.digest == stored.digest) == (compression == .none))
    #expect(sink.writtenBytes == content.count && sink.storedBytes == sink.bytes.count)
  }

  @Test("Cancelled or forgotten, it leaves nothing new and an older file as it was", arguments: [true, false])
  func abandoned(cancels: Bool) throws {
    try Data("older".utf8).write(to: folder.url.appendingPathComponent("out.csv"))
    var sink: ByteSink? = try ByteSink(path: folder.path("out.csv"))
    try sink?.write("newer")
    if cancels { sink?.cancel() }
    sink = nil
    #expect(try String(contentsOfFile: folder.path("out.csv"), encoding: .utf8) == "older")
    #expect(try folder.names == ["out.csv"])
  }

  @Test("A replaced file keeps its permissions")
  func permissions() throws {
    let path = folder.path("out.csv")
    try Data("older".utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let sink = try ByteSink(path: path)
    try sink.write("newer")
    try sink.commit()
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o640)
  }

  @Test("A folder that is missing, a folder in the name's place and a full device are write errors")
  func failures() throws {
    let missing = #expect(throws: CSVError.self) { try ByteSink(path: folder.path("none/out.csv")) }
    #expect(missing?.code == .write && missing?.errnoCode == ENOENT)
    let directory = #expect(throws: CSVError.self) { try ByteSink(path: folder.url.path) }
    #expect(directory?.code == .write && directory?.errnoCode == EISDIR)
    let full = try ByteSink(path: "/dev/full")
    let error = #expect(throws: CSVError.self) {
      try full.write([UInt8](repeating: 0x61, count: 1 << 20))
      try full.commit()
    }
    #expect(error?.code == .write && error?.errnoCode == ENOSPC)
  }
}
