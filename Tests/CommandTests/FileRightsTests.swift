import Foundation
import TestSupport
import Testing

/// Files that a run makes are no more public than the store, a link does not make them be written elsewhere, and they hold
/// nothing of the environment.
@Suite struct FileRightsTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write("date,rating\n2020-01-01,4\n2020-01-02,nine\n", to: "a.csv")
    try folder.write("{\"name\": \"p\", \"columns\": [\"date\", \"rating\"]}", to: "p.json")
  }

  private static let run = """
    "$surfjournal" import a.csv --pipeline p.json --store s --report r.json --report r.html --log events -q
    "$surfjournal" export --store s -o out.csv --hash --incremental -q
    "$surfjournal" export --store s --all-entities -o all -q
    "$surfjournal" copy s copy -q
    """

  private func modes() throws -> [String: String] {
    let lines = try Programs.output(of: ["find", ".", "-type", "f", "-printf", "%P %m\n"], in: folder)
      .split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let words = line.split(separator: " ").map(String.init)
        return (words[0], words[1])
      })
  }

  private static let made = [
    "a.csv.rejects.csv", "a.csv.rejects.csv.jsonl", "all/JournalEntry.csv", "all/pipeline.json", "copy", "events",
    "out.csv", "out.csv.xxh128", "r.html", "r.json", "s",
  ]

  @Test(arguments: [("000", "644"), ("027", "640"), ("077", "600")])
  func `New files have the rights of the umask`(_ mask: String, _ rights: String) throws {
    _ = try Tool.shell("umask \(mask); " + Self.run, in: folder)
    let made = try modes().filter { !["a.csv", "p.json"].contains($0.key) }
    #expect(made.keys.sorted().filter(Self.made.contains) == Self.made, "\(made)")
    #expect(Set(made.values) == [rights], "\(made)")
  }

  @Test(arguments: ["000", "022", "027"])
  func `They have no more than the store's, and replaced files keep theirs`(_ mask: String) throws {
    _ = try Tool.shell("umask \(mask); echo > r.html; chmod 604 r.html; touch s; chmod 600 s; " + Self.run, in: folder)
    var made = try modes().filter { !["a.csv", "p.json"].contains($0.key) }
    #expect(made.removeValue(forKey: "r.html") == "604")
    #expect(made.keys.sorted().filter(Self.made.contains) == Self.made.filter { $0 != "r.html" }, "\(made)")
    #expect(Set(made.values) == ["600"], "\(made)")
  }

  @Test(arguments: ["a.csv.rejects.csv.part", "a.csv.rejects.csv.jsonl.part", "s.lock"])
  func `A link with a name that can be guessed is not followed`(_ name: String) throws {
    try folder.write("precious\n", to: "other")
    try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: "other")
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", in: folder)
    #expect(output.status == (name == "s.lock" ? 73 : 65), "\(output.messages)")
    #expect(try folder.text("other") == "precious\n")
    #expect(name == "s.lock" || !folder.exists(name))
  }

  @Test(arguments: ["a.csv.rejects.csv.part", "a.csv.rejects.csv.jsonl.part", "s.lock"], ["pipe", "folder", "device"])
  func `Nothing is waited for where something else has a name that can be guessed`(_ name: String, _ kind: String)
    throws
  {
    try put(kind, at: name)
    let output = try Tool.shell("timeout 20 $surfjournal import a.csv --pipeline p.json --store s", in: folder)
    #expect(output.status == (name == "s.lock" ? 73 : kind == "folder" ? 74 : 65), "\(output.messages)")
    #expect(output.status == 65 || output.messages.contains(name), "\(output.messages)")
    if output.status == 65 { #expect(try folder.text("a.csv.rejects.csv").hasSuffix("2020-01-02,nine\n")) }
  }

  @Test(arguments: ["out.csv.mark.json", "out.csv.xxh128"], ["pipe", "folder", "device"])
  func `An export does not wait for what has the name of a file next to its output`(_ name: String, _ kind: String)
    throws
  {
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", in: folder).status == 65)
    try put(kind, at: name)
    let option = name.hasSuffix(".json") ? "--incremental" : "--hash"
    let export = "timeout 20 $surfjournal export --store s -o out.csv \(option)"
    let output = try Tool.shell(export, in: folder)
    #expect([66, 73].contains(output.status), "\(output.status) \(output.messages)")
    #expect(output.messages.contains(name), "\(output.messages)")
    #expect(output.messages.contains(kind == "pipe" ? "a FIFO" : "a \(kind)"), "\(output.messages)")
    #expect(!folder.exists("out.csv"))
    try FileManager.default.removeItem(atPath: folder.path(name))
    #expect(try Tool.shell(export, in: folder).status == 0)
  }

  @Test(arguments: ["pipe", "folder", "device"])
  func `A replay does not wait for what has the name of the details`(_ kind: String) throws {
    try folder.write("date,rating\n2020-01-02,4\n", to: "r.csv")
    try put(kind, at: "r.csv.jsonl")
    let output = try Tool.shell("timeout 20 $surfjournal replay r.csv --store s --pipeline p.json", in: folder)
    #expect([66, 73, 74].contains(output.status), "\(output.status) \(output.messages)")
    #expect(output.messages.contains("r.csv.jsonl"), "\(output.messages)")
  }

  @Test func `A checksum that is a FIFO is not waited for`() throws {
    try put("pipe", at: "a.csv.xxh128")
    let output = try Tool.shell("timeout 20 $surfjournal import a.csv --verify-hash --store s", in: folder)
    #expect(output.status == 66, "\(output.status) \(output.messages)")
    #expect(output.messages.contains("a.csv.xxh128 can't be read: it is a FIFO"), "\(output.messages)")
  }

  private func put(_ kind: String, at name: String) throws {
    let made = try Tool.shell(
      kind == "device"
        ? "mknod \(name) c 1 3 2>/dev/null || ln -s /dev/null \(name)"
        : "\(kind == "folder" ? "mkdir" : "mkfifo") \(name)", in: folder)
    try #require(made.status == 0, "\(made.messages)")
  }

  private static let importing = ["import", "a.csv", "--pipeline", "p.json", "--store", "s"]

  /// Files that a command writes, and the command.
  static let written: [(name: String, arguments: [String])] = [
    ("r.json", importing + ["--report", "shared/r.json"]), ("e.log", importing + ["--log", "shared/e.log"]),
    ("out.csv", ["export", "--store", "first", "-o", "shared/out.csv"]),
    ("out.csv.xxh128", ["export", "--store", "first", "-o", "shared/out.csv", "--hash"]),
    ("g.json", ["guess", "a.csv", "-o", "shared/g.json", "--force"]),
  ]

  @Test(.enabled(if: geteuid() == 0, "links of other users can only be made by root"), arguments: written)
  func `Nothing is written through another user's link in a folder that everyone may write to`(
    _ name: String, _ arguments: [String]
  ) throws {
    try folder.makeFolder("shared")
    try folder.setMode(0o1777, of: "shared")
    try folder.write("precious\n", to: "other")
    _ = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "first", in: folder)
    try FileManager.default.createSymbolicLink(atPath: folder.path("shared/\(name)"), withDestinationPath: "../other")
    #expect(lchown(folder.path("shared/\(name)"), 65534, 65534) == 0)
    let output = try Programs.run(Tool.url.path, arguments, in: folder)
    #expect(output.status == 77, "\(output.status) \(output.messages)")
    #expect(try folder.text("other") == "precious\n")
  }

  /// Kinds of files that another user has made where a command writes.
  enum Planted: CaseIterable { case file, empty, fifo }

  @Test(
    .enabled(if: geteuid() == 0, "files of other users can only be made by root"), arguments: written, Planted.allCases)
  func `Nothing is written to another user's file in a folder that everyone may write to`(
    _ written: (name: String, arguments: [String]), _ planted: Planted
  ) throws {
    try folder.makeFolder("shared")
    try folder.setMode(0o1777, of: "shared")
    let path = "shared/\(written.name)"
    if planted == .fifo {
      #expect(mkfifo(folder.path(path), 0o666) == 0)
    } else {
      try folder.write(planted == .file ? "precious\n" : "", to: path)
    }
    try folder.setMode(0o666, of: path)
    #expect(chown(folder.path(path), 65534, 65534) == 0)
    _ = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "first", in: folder)
    func run() throws -> ProgramOutput {
      try Programs.run("/usr/bin/timeout", ["20", Tool.url.path] + written.arguments, in: folder)
    }
    let output = try run()
    #expect(output.status == 77, "\(output.status) \(output.messages)")
    #expect(output.messages.contains(path) && output.messages.contains("belongs to another user"), "\(output.messages)")
    if planted == .fifo { return }
    #expect(try folder.text(path) == (planted == .file ? "precious\n" : ""))
    // One that the folder's owner has put there is meant for it.
    #expect(chown(folder.path("shared"), 65534, 65534) == 0)
    #expect(try [0, 65].contains(run().status))
    #expect(try folder.text(path).count > 20)
  }

  @Test(.enabled(if: geteuid() == 0, "files of other users can only be made by root"))
  func `A report that is refused is so before the import`() throws {
    try folder.makeFolder("shared")
    try folder.setMode(0o1777, of: "shared")
    try folder.write("", to: "shared/r.json")
    #expect(chown(folder.path("shared/r.json"), 65534, 65534) == 0)
    let output = try Programs.run(Tool.url.path, Self.importing + ["--report", "shared/r.json"], in: folder)
    #expect(output.status == 77 && !folder.exists("s"), "\(output.messages)")
  }

  @Test func `A store with a second name is read but not written to, and the advice helps`() throws {
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", in: folder).status == 65)
    try FileManager.default.linkItem(atPath: folder.path("s"), toPath: folder.path("t"))
    let listed = try Tool.run("list", "--store", "t", in: folder).text
    #expect(listed.contains("2020-01-01"))
    for command in ["import", "validate"] {
      let output = try Tool.run(command, "a.csv", "--pipeline", "p.json", "--store", "t", in: folder)
      #expect(output.status == 65)
      #expect(output.messages.contains("has 2 names (hard links)"), "\(output.messages)")
    }
    #expect(try Tool.run("list", "--store", "t", in: folder).text == listed)
    #expect(!folder.exists("t-wal"))
    _ = try Tool.shell("find . -samefile t | grep -v '^./t$' | xargs rm", in: folder)
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "t", "--again", in: folder)
    #expect(output.status == 65, "\(output.messages)")
  }

  @Test func `Temporary names can't be guessed`() throws {
    let calls = try FileCalls()
    var names: Set<String> = []
    for _ in 0..<3 {
      _ = try calls.run(
        ["import", "a.csv", "--pipeline", "p.json", "--store", "s", "--again", "--report", "r.json"], in: folder)
      names.formUnion(try calls.log.filter { $0.hasPrefix("open ") && $0.hasSuffix(".partial") })
    }
    #expect(names.count == 3, "\(names)")
  }

  @Test func `Secrets of the environment are in no file and no message`() throws {
    let secret = "hush-4711-hush"
    let output = try Programs.run(
      "/bin/bash", ["-c", Self.run + "\n\"$surfjournal\" validate a.csv --json; \"$surfjournal\" run missing --json"],
      in: folder, environment: ["surfjournal": Tool.url.path, "SURF_PASSWORD": secret])
    #expect(!output.text.contains(secret) && !output.messages.contains(secret))
    #expect(output.text.contains("\"rejected\""))
    #expect(try modes().count > 10)
    #expect(try Programs.run("/usr/bin/grep", ["-rlF", secret, "."], in: folder).text == "")
  }
}
