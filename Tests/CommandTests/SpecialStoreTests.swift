import Foundation
import TestSupport
import Testing

/// Paths of stores that are not those of regular files: refused by name with the reason, and left as they are.
@Suite struct SpecialStoreTests {
  private let folder: TemporaryFolder

  /// The name in the folder, and what the message calls it.
  static let files = [
    ("device", "a device"), ("to-device", "a device"), ("pipe", "a FIFO"), ("to-pipe", "a FIFO"),
    ("socket", "a socket"), ("to-socket", "a socket"), ("folder", "a folder"), ("to-folder", "a folder"),
  ]

  static let commands = [
    "import log.csv --store STORE", "import log.csv --dry-run --store STORE", "import log.csv --store STORE --replace",
    "import - --store STORE", "run p.json", "validate log.csv --store STORE",
    "export --store STORE -o out.csv", "export --store STORE --split-rows 5 -o out-{part}.csv", "list STORE",
    "show STORE 1", "verify STORE", "inspect STORE", "history STORE", "undo STORE log.csv -y",
    "diff log.csv --store STORE", "add --store STORE --location X -y", "edit 1 --store STORE --rating 3 -y",
    "delete STORE 1 -y", "list STORE --entity JournalEntry", "ledger compact STORE", "ledger drop STORE",
    "seed --from log.csv -o STORE --force", "guess log.csv --store STORE -o guessed.json",
  ]

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    try folder.makeFolder("folder")
    // The system's own /dev/null must not be at risk: a superuser could replace it.
    let made = try Tool.shell(
      """
      mknod device c 1 3 2>/dev/null || ln -s /dev/null device
      mkfifo pipe
      python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
      for name in device pipe socket folder; do ln -s $name to-$name; done
      """, in: folder)
    try #require(made.status == 0, "\(made.messages)")
  }

  private func kinds() throws -> [String: String] {
    var kinds: [String: String] = [:]
    for name in try folder.names {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
      kinds[name] = (attributes[.type] as? FileAttributeType)?.rawValue
    }
    return kinds
  }

  @Test(arguments: files)
  func `No command takes them for a store`(_ name: String, _ kind: String) throws {
    try folder.write(
      #"{"name": "p", "columns": ["date", "location"], "source": "log.csv", "store": "\#(name)"}"#, to: "p.json")
    let before = try kinds()
    for command in Self.commands {
      let arguments = command.replacing("STORE", with: name).split(separator: " ").map(String.init)
      let output = try Tool.shell("timeout 20 $surfjournal \(arguments.joined(separator: " ")) < log.csv", in: folder)
      let place = "\(command) with \(kind)"
      #expect([64, 65, 66, 73].contains(output.status), "\(place): \(output.status) \(output.messages)\(output.text)")
      #expect(output.messages.contains(kind) && output.messages.contains(name), "\(place): \(output.messages)")
      #expect(try kinds() == before, "\(place)")
    }
  }

  // MARK: The files next to a store

  static let suffixes = ["-wal", "-shm", "-journal"]

  /// Puts something next to a store, and gives what the message calls it.
  private func put(_ kind: String, at name: String) throws -> String {
    let made = try Tool.shell(
      kind == "device"
        ? "mknod \(name) c 1 3 2>/dev/null || ln -s /dev/null \(name)"
        : "\(kind == "folder" ? "mkdir" : "mkfifo") \(name)", in: folder)
    try #require(made.status == 0, "\(made.messages)")
    return kind == "pipe" ? "a FIFO" : "a \(kind)"
  }

  private func expectRefused(_ command: String, beside neighbour: String, _ kind: String) throws {
    let before = try kinds()
    let arguments = command.replacing("STORE", with: "s")
    let output = try Tool.shell("timeout 20 $surfjournal \(arguments) < log.csv", in: folder)
    let place = "\(command) with \(neighbour)"
    #expect(output.status == 66, "\(place): \(output.status) \(output.messages)")
    #expect(
      output.messages.contains("\(neighbour), where SQLite keeps a part of it, is \(kind)"),
      "\(place): \(output.messages)")
    #expect(!output.messages.contains("disk"), "\(place): \(output.messages)")
    #expect(try kinds() == before, "\(place)")
  }

  @Test(arguments: suffixes, ["pipe", "folder", "device"])
  func `No command uses a store with one of them next to it`(_ suffix: String, _ kind: String) throws {
    try folder.write(
      #"{"name": "p", "columns": ["date", "location"], "source": "log.csv", "store": "s"}"#, to: "p.json")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 0)
    let shown = try put(kind, at: "s\(suffix)")
    // Where the system would wait, every command is tried.
    let some = ["import log.csv --store STORE", "export --store STORE -o out.csv", "list STORE", "verify STORE"]
    for command in kind == "pipe" ? Self.commands : some {
      try expectRefused(command, beside: "s\(suffix)", shown)
    }
    try FileManager.default.removeItem(atPath: folder.path("s\(suffix)"))
    #expect(try Tool.run("list", "s", in: folder).text.contains("Rincon"))
  }

  @Test(arguments: suffixes, ["pipe", "folder", "device"])
  func `No new store is made with one of them next to it`(_ suffix: String, _ kind: String) throws {
    let shown = try put(kind, at: "s\(suffix)")
    for command in [
      "import log.csv --store STORE", "import log.csv --dry-run --store STORE",
      "add --store STORE --location X --date 2020-01-01 -y", "seed --from log.csv -o STORE",
    ] {
      try expectRefused(command, beside: "s\(suffix)", shown)
    }
    try FileManager.default.removeItem(atPath: folder.path("s\(suffix)"))
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 0)
  }
}
