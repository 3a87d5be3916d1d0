import Foundation
import TestSupport
import Testing

/// Stores that are made to cost time or memory: each command ends with an answer or a reason, in bounded time and
/// memory, and none is called in order.
@Suite struct HostileStoreTests {
  private static let commands = ["inspect", "verify", "export", "list"]

  /// The memory that a command may address, in kibibytes; what the stores would unfold to does not fit.
  private static let kilobytesMax = 1_000_000
  /// Guards against hangs only: the commands need seconds.
  private static let secondsMax = 120

  private func run(_ command: String, _ store: String, more: String = "", in folder: TemporaryFolder) throws
    -> ProgramOutput
  {
    let words =
      switch command {
      case "export": "export --store \(store) --entity E1 --guess-model --quiet --output -"
      case "list": "list --store \(store)"
      default: "\(command) \(store)"
      }
    return try Tool.shell(
      "timeout \(Self.secondsMax) \"$surfjournal\" \(words) \(more)", kilobytesMax: Self.kilobytesMax, in: folder)
  }

  @Test(arguments: [("many", "E4000"), ("family", "E15000")])
  func `Work grows with the number of entities, not with its square`(_ name: String, last: String) throws {
    let folder = try TemporaryFolder()
    try HostileStores.write(name, in: folder)
    let inspected = try run("inspect", "\(name).sqlite", in: folder)
    #expect(inspected.status == 0 && inspected.text.contains(last), "\(inspected.messages.prefix(500))")
    let verified = try run("verify", "\(name).sqlite", in: folder)
    #expect([0, 65].contains(verified.status), "\(verified.status) \(verified.messages.prefix(500))")
    let exported = try run("export", "\(name).sqlite", in: folder)
    #expect(exported.status == 0 && exported.text == "name\na\n", "\(exported.messages.prefix(500))")
  }

  /// The name of the store and a part of the reason.
  private static let refused = [
    ("deep", "over more than 100 others"), ("circle", "inherits from itself"), ("names", "more than 1000 bytes"),
    ("double", "unfold to too many values"), ("shared", "unfold to more than 64 MiB"), ("set", "is a set"),
    ("Z_PRIMARYKEY", "Z_PRIMARYKEY is a view"), ("Z_METADATA", "Z_METADATA is a view"),
    ("Z_MODELCACHE", "Z_MODELCACHE is a view"), ("ATRANSACTION", "ATRANSACTION is a view"), ("ZE1", "ZE1 is a view"),
  ]

  @Test(arguments: refused)
  func `What unfolds without end, and what is not a table, is refused with the reason`(
    _ name: String, reason: String
  ) throws {
    let folder = try TemporaryFolder()
    try HostileStores.write(name, in: folder)
    for command in Self.commands {
      let output = try run(command, "\(name).sqlite", in: folder)
      // An inspection shows what it can read of damaged metadata.
      let isShown = command == "inspect" && ["double", "shared", "set"].contains(name)
      #expect(
        output.status == (isShown ? 0 : 65), "\(command) \(name): \(output.status) \(output.messages.prefix(300))")
      #expect((output.messages + output.text).contains(reason), "\(command) \(name): \(output.messages.prefix(300))")
      #expect(output.messages.utf8.count < 2000 && output.text.utf8.count < 10_000)
    }
    #expect(try folder.names == ["\(name).sqlite"])
  }

  @Test(arguments: [("bomb", "inflates to more than 64 MiB"), ("cache", "unfold to too many values")])
  func `A model that unfolds without end counts as damage`(_ name: String, reason: String) throws {
    let folder = try TemporaryFolder()
    try HostileStores.write(name, in: folder)
    let verified = try run("verify", "\(name).sqlite", in: folder)
    #expect(verified.status == 65 && verified.text.contains("modelCacheUnreadable"), "\(verified.text)")
    #expect(verified.text.contains(reason), "\(verified.text)")
    #expect(try run("inspect", "\(name).sqlite", in: folder).status == 0)
  }

  @Test(arguments: ["circle", "nameless", "odd"])
  func `A store with impossible entities is not in order, and no internal error`(_ name: String) throws {
    let folder = try TemporaryFolder()
    try HostileStores.write(name, in: folder)
    for command in ["verify", "export"] {
      let output = try run(command, "\(name).sqlite", in: folder)
      #expect(output.status == 65, "\(command) \(name): \(output.status) \(output.text)\(output.messages)")
      #expect(!(output.text + output.messages).contains("\u{1B}"))
    }
  }

  @Test func `A ledger that is an endless query is refused`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--store", "s.sqlite", in: folder).status == 0)
    _ = try Programs.sqlite(
      "s.sqlite",
      """
      DROP TABLE SJ_RUN;
      CREATE VIEW SJ_RUN AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i AS runID FROM r
      """, in: folder)
    let output = try Tool.shell("timeout \(Self.secondsMax) \"$surfjournal\" history s.sqlite", in: folder)
    #expect(output.status == 65 && output.messages.contains("SJ_RUN"), "\(output.status) \(output.messages)")
  }

  @Test func `Values of metadata keys that look like secrets are shown on request only`() throws {
    let folder = try TemporaryFolder()
    try HostileStores.write("usual", in: folder)
    for more in ["", "--json"] {
      let masked = try run("inspect", "usual.sqlite", more: more, in: folder)
      #expect(masked.status == 0 && masked.text.contains("session_token") && !masked.text.contains("s3cret"))
      #expect(masked.text.contains("Rincon") && !masked.text.contains("\u{1B}"))
      let shown = try run("inspect", "usual.sqlite", more: more + " --show-values", in: folder)
      #expect(shown.text.contains("s3cret-t0ken"))
    }
  }

  @Test func `A reader that closes early is not an error`() throws {
    let folder = try TemporaryFolder()
    try HostileStores.write("many", in: folder)
    let output = try Tool.shell(
      "\"$surfjournal\" inspect many.sqlite | head -1; echo ${PIPESTATUS[0]}", in: folder)
    #expect(output.text == "many.sqlite\n0\n" && output.messages.isEmpty, "\(output.text)\(output.messages)")
  }
}
