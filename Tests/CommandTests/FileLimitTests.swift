import Foundation
import Glibc
import TestSupport
import Testing

/// Limits of the article Limits that a whole command shows.
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

  private static let pipeline = #"{"name": "p", "columns": ["date", "location"]}"#

  @Test func `A pipeline file of 4 MiB is read, and one with a byte more is refused`() throws {
    for (bytes, status) in [(4 << 20, Int32(0)), (4 << 20 + 1, 78)] {
      let spaces = String(repeating: " ", count: bytes - Self.pipeline.utf8.count)
      try folder.write(Self.pipeline + spaces, to: "p.json")
      let output = try run("check", "p.json")
      let isRefused = (output.messages + output.text).contains("p.json: has more than 4 MiB")
      #expect(output.status == status && isRefused == (status != 0), "\(output)")
    }
  }

  /// The record itself is one level.
  @Test func `A JSON record nested 128 deep is imported, and a deeper one is rejected`() throws {
    let lines = [127, 128].map { levels in
      let nested = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      return "{\"date\": \"2014-07-14\", \"location\": \"Spot \(levels)\", \"more\": \(nested)}\n"
    }
    try folder.write(lines.joined(), to: "a.jsonl")
    try folder.write(Self.pipeline, to: "p.json")
    let output = try run("import", "a.jsonl", "--pipeline", "p.json", "--store", "s", "--extra-columns", "ignore")
    #expect(output.status == 65 && output.text.contains("nested deeper than 128 levels"), "\(output)")
    #expect(try Programs.sqlite("s", "SELECT ZLOCATION FROM ZJOURNALENTRY", in: folder) == "Spot 127\n")
  }

  private func export(_ model: String) throws -> ProgramOutput {
    try run("export", "--entity", "Stop", "--store", "none", "--model", model)
  }

  /// A model within the limits is read: what is missing then is the store.
  @Test func `A model file over 64 MiB, or nested more than 64 deep, is refused`() throws {
    try folder.makeFolder("a.xcdatamodel")
    for (levels, reason) in [(63, "does not exist"), (64, "line 1: Its elements are nested more than 64 deep")] {
      let nested = String(repeating: "<a>", count: levels) + String(repeating: "</a>", count: levels)
      try folder.write("<model>\(nested)\(Self.ring.dropFirst("<model>".count))", to: "a.xcdatamodel/contents")
      let output = try export("a.xcdatamodel")
      #expect(output.status == 66 && output.messages.contains(reason), "\(output.messages)")
    }
    try #require(truncate(folder.path("a.xcdatamodel/contents"), 64 << 20 + 1) == 0)
    let output = try export("a.xcdatamodel")
    #expect(output.status == 66 && output.messages.contains("more than 64 MiB"), "\(output.messages)")
  }

  @Test func `A folder whose path leaves no room for a name is refused, not passed over`() throws {
    let script = """
      import os
      os.mkdir("in")
      os.chdir("in")
      for _ in range(int(4096 / 241) + 1):
          os.mkdir("d" * 240)
          os.chdir("d" * 240)
      open("a.csv", "w").write("date,location\\n2014-07-14,Rincon\\n")
      """
    try Programs.python(script, in: folder)
    try folder.write(
      #"{"name": "p", "columns": ["date", "location"], "source": ["in/**/*.csv"]}"#, to: "p.json")
    let output = try run("run", "p.json", "--store", "s", "-q")
    let reason = "bytes, and the system's limit is 4096 with a name"
    #expect(output.status == 66 && output.messages.contains(reason), "\(output.messages.suffix(300))")
    #expect(!folder.exists("s"))
    // What removes the folder at the end knows no paths of this length.
    try Programs.output(of: ["rm", "-rf", "in"], in: folder)
  }

  @Test func `A store's name leaves room for the files next to it`() throws {
    try Logs.write(records: 2, to: "two.csv", in: folder)
    let output = try Tool.run("import", "two.csv", "--store", String(repeating: "s", count: 249), in: folder)
    #expect(output.status == 73, "\(output.messages)")
    #expect(output.messages.contains("choose a shorter name"), "\(output.messages)")
    #expect(try folder.names == ["two.csv"])
  }

  @Test(arguments: [("mkfifo p.json", "a FIFO"), ("ln -s /dev/zero p.json", "a device")])
  func `A FIFO or a device in place of a pipeline is refused as what it is`(_ command: String, _ kind: String) throws {
    try folder.write(Logs.two, to: "log.csv")
    try folder.write(#"{ "extends": "./p.json", "name": "q" }"#, to: "q.json")
    for (name, status) in [("p", 66), ("q", 78)] {
      let output = try Tool.shell(
        "[ -e p.json ] || \(command); timeout 20 $surfjournal import log.csv --pipeline ./\(name).json --store s",
        in: folder)
      #expect(output.status == status, "\(output.status) \(output.messages)")
      #expect(output.messages.contains("it is \(kind), not a regular file"), "\(output.messages)")
    }
  }
}
