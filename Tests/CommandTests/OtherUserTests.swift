import Foundation
import Glibc
import TestSupport
import Testing

/// Stores, folders and files of another user: a command does what its user may, or says what to do, and changes nothing.
@Suite(.enabled(if: Unprivileged.canBeNobody, "only root can be a second user"))
struct OtherUserTests {
  private let folder: TemporaryFolder
  private var work: String { folder.path("work") }

  /// Root's store in a folder of its own; only root may read the rest.
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("work")
    try folder.write(Logs.two, to: "work/log.csv")
    try folder.write(Logs.header + "2014-07-16,3,9,Glassy,Zuma,3\n", to: "work/more.csv")
    #expect(try Tool.run("import", "work/log.csv", "--store", "work/s", "-q", in: folder).status == 0)
    _ = try nobody("--version")
  }

  private func nobody(_ command: String) throws -> ProgramOutput {
    try Unprivileged.run(command.split(separator: " ").map(String.init), in: folder)
  }

  private func own(_ names: String..., by user: uid_t = Unprivileged.nobody) throws {
    for name in names where lchown(folder.path(name), user, user) != 0 {
      throw ProgramFailure(description: "\(name) can't be given to another user")
    }
  }

  /// Each file's name, owner, rights and content.
  private func listing() throws -> String {
    try Programs.output(
      of: ["bash", "-c", "find work -printf '%p %u %m %s\\n' | sort; find work -type f -exec sha256sum {} + | sort"],
      in: folder)
  }

  private static let readers = [
    "export --store work/s -o -", "list work/s", "show work/s 1", "inspect work/s", "verify work/s", "history work/s",
    "import work/more.csv --store work/s --dry-run", "diff work/more.csv --store work/s",
  ]
  private static let writers = [
    "import work/more.csv --store work/s", "undo work/s -y", "edit 1 --store work/s --rating 2 -y",
    "delete work/s 1 -y", "ledger compact work/s",
  ]

  @Test func `A store that only its owner may read is refused by name`() throws {
    try folder.setMode(0o600, of: "work/s")
    try folder.setMode(0o1777, of: "work")
    let before = try listing()
    for command in Self.readers + Self.writers {
      let output = try nobody(command)
      #expect(output.status == 77, "\(command): \(output.status) \(output.messages)")
      #expect(output.messages.contains("work/s"), "\(command): \(output.messages)")
      #expect(try listing() == before, "\(command)")
    }
  }

  /// The number of a user and of a group that do not exist, as of an account that was removed.
  static let missing: uid_t = 54_321

  struct Rights: Sendable, CustomTestStringConvertible {
    let store: Int
    let folder: Int
    var owner: uid_t = 0
    var testDescription: String { String(format: "store %o, folder %o", store, folder) + ", of user \(owner)" }
  }

  @Test(arguments: [
    Rights(store: 0o644, folder: 0o755), Rights(store: 0o644, folder: 0o1777), Rights(store: 0o644, folder: 0o777),
    Rights(store: 0o666, folder: 0o755), Rights(store: 0o644, folder: 0o755, owner: Self.missing),
    Rights(store: 0o644, folder: 0o777, owner: Self.missing),
  ])
  func `A store that others may only read is read, and refused to writers with what to change`(
    _ rights: Rights
  ) throws {
    try folder.setMode(rights.store, of: "work/s")
    try folder.setMode(rights.folder, of: "work")
    try own("work", "work/s", by: rights.owner)
    let before = try listing()
    for command in Self.readers {
      let output = try nobody(command)
      #expect(output.status == 0, "\(command): \(output.status) \(output.messages)")
      #expect(try listing() == before, "\(command)")
    }
    for command in Self.writers {
      let output = try nobody(command)
      #expect(output.status == 77, "\(command): \(output.status) \(output.messages)")
      #expect(output.messages.contains("work"), "\(command): \(output.messages)")
      #expect(try listing() == before, "\(command)")
    }
  }

  @Test(arguments: [0, Self.missing])
  func `In a folder that everyone may write to, each user has a store of its own`(_ owner: uid_t) throws {
    try #require(owner == 0 || (getpwuid(owner) == nil && getgrgid(owner) == nil))
    try folder.setMode(0o1777, of: "work")
    try own("work", "work/s", "work/log.csv", by: owner)
    for command in [
      "import work/log.csv --store work/mine -q", "import work/more.csv --store work/mine -q",
      "export --store work/mine -o work/out.csv --hash -q", "undo work/mine -y -q",
      "edit 1 --store work/mine --rating 2 -y",
    ] {
      let output = try nobody(command)
      #expect(output.status == 0, "\(command): \(output.status) \(output.messages)")
    }
    let others = try listing().split(separator: "\n").filter { $0.contains("mine") || $0.contains("out.csv") }
    #expect(others.count > 3 && others.allSatisfy { $0.contains(" nobody ") || !$0.hasPrefix("work") }, "\(others)")
  }

  @Test func `What another user's run left next to the store is named, with what to do`() throws {
    try folder.setMode(0o1777, of: "work")
    #expect(try nobody("import work/log.csv --store work/mine -q").status == 0)
    // A process of another user that was killed: its lock can't be removed here.
    try folder.write("", to: "work/mine.lock")
    let output = try nobody("import work/more.csv --store work/mine -q")
    #expect(output.status == 77, "\(output.status) \(output.messages)")
    #expect(output.messages.contains("mine.lock"), "\(output.messages)")
    try FileManager.default.removeItem(at: folder.file("work/mine.lock"))
    #expect(try nobody("import work/more.csv --store work/mine -q").status == 0)
  }

  // MARK: A service's folder

  private func makeNightly() throws {
    try folder.write(
      """
      {"name": "nightly", "inbox": {"folder": "in", "settleSeconds": 0}, "store": "mine", "report": ["r.json", "r.html"],
        "log": "run.log", "columns": ["date", "height", "period", "wind", "location", "rating"], "rejects": "rejects/"}
      """, to: "work/nightly.json")
    for name in ["work/in", "work/rejects"] { try folder.makeFolder(name) }
    try own("work", "work/in", "work/rejects", "work/nightly.json")
  }

  private func arrive(_ name: String, _ place: String) throws {
    try folder.write(Logs.header + "2014-07-16,3,9,Glassy,\(place),3\n", to: "work/in/\(name)")
    try own("work/in/\(name)")
  }

  @Test func `After a run by root the service's next run says what is not its own, and loses nothing`() throws {
    try makeNightly()
    try arrive("a.csv", "Zuma")
    #expect(try nobody("run work/nightly.json -q").status == 0)
    try arrive("b.csv", "Rincon")
    #expect(try Tool.run("run", "work/nightly.json", "-q", in: folder).status == 0)
    try arrive("c.csv", "Malibu")
    let output = try nobody("run work/nightly.json -q")
    #expect(output.status == 0, "\(output.status) \(output.messages)")
    #expect(try Programs.sqlite("work/mine", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "3\n")
    let foreign = try listing().split(separator: "\n").filter { $0.hasPrefix("work/r.") && !$0.contains(" nobody ") }
    #expect(foreign == [])
  }

  /// It would show what its owner may not read.
  @Test func `Another user's link in an inbox that everyone may write to is left alone, and said to be`() throws {
    try makeNightly()
    try folder.setMode(0o1777, of: "work/in")
    try own("work/in", by: 0)
    try folder.write("date,location\nroot:SECRET:x,y\n", to: "work/shadow")
    try folder.setMode(0o600, of: "work/shadow")
    for (name, owner) in [("theirs.csv", Unprivileged.nobody), ("own.csv", 0)] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("work/in/\(name)"), withDestinationPath: name == "own.csv" ? "../more.csv" : "../shadow")
      try own("work/in/\(name)", by: owner)
    }
    let output = try Tool.run("run", "work/nightly.json", "-q", in: folder)
    #expect(output.status == 0, "\(output.status) \(output.messages)")
    #expect(folder.exists("work/in/theirs.csv") && !folder.exists("work/in/own.csv"))
    #expect(try Programs.sqlite("work/mine", "SELECT ZLOCATION FROM ZJOURNALENTRY", in: folder) == "Zuma\n")
    let search = "grep -rl SECRET work --include='r.*' --include='*rejects*' --include='*.log'"
    #expect(try Tool.shell(search, in: folder).text == "")
    let log = try folder.text("work/run.log")
    #expect(log.contains("theirs.csv") && log.contains("a link of another user"), "\(log)")
  }

  @Test func `A folder that the service may not enter is named`() throws {
    try makeNightly()
    try arrive("a.csv", "Zuma")
    for (name, mode) in [("in", 0o700), ("rejects", 0o500)] {
      try own("work/\(name)", by: 0)
      try folder.setMode(mode, of: "work/\(name)")
      let output = try nobody("run work/nightly.json -q")
      #expect(output.status == 77, "\(name): \(output.status) \(output.messages)")
      #expect(output.messages.contains("work/\(name)"), "\(output.messages)")
      #expect(folder.exists("work/in/a.csv"))
      try own("work/\(name)")
      try folder.setMode(0o755, of: "work/\(name)")
    }
  }

  // MARK: Sources

  /// A pattern, and how many of the files in `a`, `b/secret` and `c` a run imports if the folder `secret` can't be entered,
  /// can't be entered but listed, and can't be listed but entered.
  static let patterns = [
    ("logs/**/*.csv", [2, 2, 2]), ("logs/**", [2, 2, 2]), ("logs/b/secret/*.csv", [0, 0, 0]),
    ("logs/{a,c,b/secret}/x.csv", [2, 2, 3]), ("logs/b/*/x.csv", [0, 0, 1]), ("logs/?/*.csv", [3, 3, 3]),
  ]

  @Test(arguments: patterns)
  func `A folder that a pattern leads into and that can't be read is named, and the others are read`(
    _ pattern: String, _ counts: [Int]
  ) throws {
    for name in ["a", "b/secret", "c", "b"] {
      try folder.makeFolder("work/logs/\(name)")
      try folder.write(Logs.header + "2014-07-16,3,9,Glassy,\(name),3\n", to: "work/logs/\(name)/x.csv")
    }
    if pattern != "logs/?/*.csv" { try FileManager.default.removeItem(at: folder.file("work/logs/b/x.csv")) }
    try folder.write(
      """
      {"name": "p", "source": "\(pattern)", "sourceOptional": true,
        "columns": ["date", "height", "period", "wind", "location", "rating"]}
      """, to: "work/p.json")
    try folder.setMode(0o1777, of: "work")
    for (mode, count) in zip([0o000, 0o444, 0o311], counts) {
      try folder.setMode(mode, of: "work/logs/b/secret")
      let output = try nobody("run work/p.json --store work/\(mode).sqlite --json")
      let place: Comment = "\(String(mode, radix: 8)): \(output.status) \(output.messages)"
      #expect(try output.json().counts.inserted == count, place)
      let isWhole = count == (pattern.contains("**") || pattern.contains("{") ? 3 : pattern.contains("?") ? 3 : 1)
      #expect(output.status == (isWhole ? 0 : 77), place)
      #expect(isWhole || output.messages.contains("/logs/b/secret"), place)
    }
  }
}
