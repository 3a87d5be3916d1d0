import Foundation
import TestSupport
import Testing

/// Devices, FIFOs and sockets that are named where the program makes more than one file: refused before the work, and left
/// as they are.
@Suite struct SpecialOutputTests {
  private let folder: TemporaryFolder

  /// The name in the folder, and what the message calls it.
  static let files = [
    ("device", "a device"), ("to-device", "a device"), ("full", "a device"), ("pipe", "a FIFO"), ("to-pipe", "a FIFO"),
    ("socket", "a socket"),
  ]

  init() throws {
    folder = try TemporaryFolder()
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try LinkedSample.prepare(folder)
    try folder.write(LinkedSample.pipeline(chunkRows: 5), to: "l.json")
    try folder.write("date,spot,rating\nsoon,Spot 1,3\n2014-07-14,Spot 1,3\n", to: "linked.csv")
    try folder.write(RunKind.records(0..<20), to: "log.csv")
    // The system's own /dev/null must not be at risk: a superuser could replace it.
    let made = try Tool.shell(
      """
      mknod device c 1 3 2>/dev/null || ln -s /dev/null device
      mknod full c 1 7 2>/dev/null || ln -s /dev/full full
      mkfifo pipe
      python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
      for name in device pipe; do ln -s $name to-$name; done
      """, in: folder)
    try #require(made.status == 0, "\(made.messages)")
  }

  private func listing() throws -> String { try Tool.shell("ls -l --time-style=+", in: folder).text }

  private func run(_ command: String) throws -> ProgramOutput {
    try Tool.shell("timeout 20 $surfjournal \(command)", in: folder)
  }

  static let rejecting = [
    "import log.csv --pipeline p.json --store s", "import log.csv --pipeline p.json --store s --dry-run",
    "validate log.csv --pipeline p.json", "seed --from log.csv -o seed --pipeline p.json",
    "import linked.csv --pipeline l.json --store s --dry-run",
  ]

  @Test(arguments: files)
  func `No rejects are written to one or next to it`(_ name: String, _ kind: String) throws {
    let before = try listing()
    for command in Self.rejecting {
      let output = try run("\(command) --rejects \(name) -q")
      #expect(output.status == 73, "\(command): \(output.status) \(output.messages)")
      let reason = "\(name) can't be used for rejects: it is \(kind),"
      #expect(output.messages.contains(reason), "\(command): \(output.messages)")
      #expect(try listing() == before, "\(command)")
    }
    try folder.write(
      "{\"extends\": \"./p.json\", \"name\": \"q\", \"rejects\": \"\(name)\"}", to: "q.json")
    let declared = try run("import log.csv --pipeline q.json --store s -q")
    #expect(declared.status == 73 && declared.messages.contains(kind), "\(declared.messages)")
    // As the message says.
    let output = try run("import log.csv --pipeline q.json --store s --rejects r.csv -q")
    #expect(output.status == 65, "\(output.messages)")
    #expect(folder.exists("r.csv") && folder.exists("r.csv.jsonl"))
  }

  @Test(arguments: ["--split-rows 1", "--split-month date", "--hash", "--incremental"])
  func `An export that makes several files makes none next to one`(_ option: String) throws {
    try RunKind.tool(RunKind.load("p.json"), in: folder, status: 65)
    let before = try listing()
    for (name, _) in Self.files {
      let output = try run("export --store s -o \(name) \(option) -q")
      #expect(output.status == 64 && output.messages.contains("\(name) is not a regular file"), "\(output.messages)")
      #expect(try listing() == before, "\(name)")
    }
  }

  /// What people write to discard something.
  @Test func `A report, a log and an export of one file go to a device, with nothing next to it`() throws {
    try RunKind.tool(RunKind.load("p.json"), in: folder, status: 65)
    _ = try Tool.shell("ln -s device r.json; ln -s device r.html", in: folder)
    let before = try listing()
    for command in [
      "validate log.csv --pipeline p.json --report r.json --report r.html --log device", "export --store s -o device",
      "export --store s -o device --gzip",
    ] {
      let output = try run("\(command) -q")
      #expect([0, 65].contains(output.status), "\(command): \(output.messages)")
      #expect(try listing() == before, "\(command)")
    }
  }
}
