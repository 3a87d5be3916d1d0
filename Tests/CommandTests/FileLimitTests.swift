import Foundation
import TestSupport
import Testing

/// Limits of the article Limits that a whole command shows: labels, circles of relationships, decompression.
@Suite struct FileLimitTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  @Test func `A label over the limit is refused at once, with its column, size and limit`() throws {
    let ignored = ["--missing-columns", "ignore", "--extra-columns", "ignore", "-q"]
    for (bytes, status) in [(10_000, Int32(0)), (10_001, 65), (3 << 20, 65)] {
      let label = String(repeating: "x", count: bytes)
      try folder.write("date,location,\(label)\n2014-07-14,Rincon,1\n", to: "a.csv")
      let begin = ContinuousClock.now
      let output = try Programs.run(Tool.url.path, ["import", "a.csv", "--store", "s\(bytes)"] + ignored, in: folder)
      #expect(output.status == status, "\(bytes): \(output.messages)")
      if status == 0 { continue }
      for part in ["a.csv", "\(bytes) bytes", "10000", "label", "close a quote"] {
        #expect((output.messages + output.text).contains(part), "\(output.messages)")
      }
      #expect(output.messages.utf8.count < 5000)
      // Without the limit, the time grew with the length times that of every column's name.
      #expect(ContinuousClock.now - begin < .seconds(60))
    }
  }

  private static let ring = """
    <model>
      <entity name="Stop">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="next" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Stop"
          inverseName="previous" inverseEntity="Stop"/>
        <relationship name="previous" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Stop"
          inverseName="next" inverseEntity="Stop"/>
      </entity>
    </model>
    """

  /// Each object leads to the next one, and the last to the first.
  @Test func `A circle of objects is imported, shown, verified, exported and deleted`() throws {
    let count = 2000
    try folder.makeFolder("Ring.xcdatamodel")
    try folder.write(Self.ring, to: "Ring.xcdatamodel/contents")
    let lines = (0..<count).map { "n\($0),n\(($0 + 1) % count)\n" }
    try folder.write("name,next.name\n" + lines.joined(), to: "stops.csv")
    try folder.write(
      """
      {"name": "ring", "model": "Ring.xcdatamodel", "entity": "Stop", "columns": ["name",
        {"name": "next.name", "attribute": "next.name", "link": {"ifMissing": "reject"}}]}
      """, to: "p.json")
    let loaded = try run("import", "stops.csv", "--pipeline", "p.json", "--store", "s", "-q")
    #expect(loaded.status == 0, "\(loaded.messages)\(loaded.text.prefix(2000))")
    let linked = "SELECT count(*), count(DISTINCT ZNEXT), sum(ZNEXT IS NULL) FROM ZSTOP"
    #expect(try Programs.sqlite("s", linked, in: folder) == "\(count)|\(count)|0\n")
    let model = ["--model", "Ring.xcdatamodel"]
    let shown = try Programs.run(Tool.url.path, ["show", "s", "1", "--entity", "Stop"] + model, in: folder)
    #expect(shown.status == 0 && shown.text.split(separator: "\n").count < 10, "\(shown)")
    #expect(try Programs.run(Tool.url.path, ["verify", "s", "-q"] + model, in: folder).status == 0)
    let exported = try Programs.run(
      Tool.url.path, ["export", "--all-entities", "--store", "s", "-o", "out", "-q"] + model, in: folder)
    #expect(exported.status == 0, "\(exported.messages)")
    #expect(try folder.text("out/Stop.csv").split(separator: "\n").count == count + 1)
    let deleted = try Programs.run(
      Tool.url.path, ["delete", "s", "5", "--entity", "Stop", "-y"] + model, in: folder)
    #expect(deleted.status == 0 && deleted.text.contains("also deleted: \(count - 1) Stop"), "\(deleted)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZSTOP", in: folder) == "0\n")
  }

  /// The ratio has no limit of its own: 8 MB in a few hundred bytes.
  @Test func `A file that unpacks to thousands of times its size costs the memory of its longest record`() throws {
    try Programs.python(
      """
      import bz2
      text = b"date,location\\n2014-01-01," + b"a" * 8_000_000 + b"\\n2014-01-02,Rincon\\n"
      open("a.csv.bz2", "wb").write(bz2.compress(text))
      """, in: folder)
    #expect(try folder.data("a.csv.bz2").count < 1000)
    try folder.write(
      """
      {"name": "p", "columns": ["date", "location"], "limits": {"recordBytesMax": 100000, "fieldBytesMax": 100000}}
      """, to: "p.json")
    let output = try run("import", "a.csv.bz2", "--pipeline", "p.json", "--store", "s")
    #expect(output.status == 65 && output.text.contains("record-too-long"), "\(output.messages)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "1\n")
    let match = try #require(output.text.firstMatch(of: /peak memory (\d+)\.\d MB/), "\(output.text)")
    #expect(Int(match.1) ?? .max < 100)
    let late = try run("import", "a.csv.bz2", "--pipeline", "p.json", "--store", "t", "--timeout", "0.001", "-q")
    #expect([0, 65, 75].contains(late.status), "\(late.messages)")
  }
}
