import Foundation
import TestSupport
import Testing

/// What happens when the system refuses to write, sync or lock: the exit code names the cause, and the next run has
/// everything.
@Suite struct FileFaultTests {
  private let folder: TemporaryFolder
  private let calls: FileCalls
  init() throws {
    folder = try TemporaryFolder()
    calls = try FileCalls()
    try folder.write(
      """
      {"name": "p", "columns": ["date", {"name": "rating", "rules": [{"rule": "range", "max": 5}]}], "chunkRows": 3}
      """, to: "p.json")
    try folder.write("date,rating\n" + (0..<20).map { "2020-01-01,\($0)\n" }.joined(), to: "a.csv")
  }

  private static let diskFull = "\(ENOSPC)"
  private static let command = ["import", "a.csv", "--pipeline", "p.json", "--store", "s", "--report", "r.json"]

  @Test func `A write that stores less than it got is continued`() throws {
    #expect(try calls.run(Self.command, in: folder, writesShort: ".rejects.csv").status == 65)
    let rejects = try folder.text("a.csv.rejects.csv")
    #expect(rejects == "date,rating\n" + (6..<20).map { "2020-01-01,\($0)\n" }.joined())
    let details = try folder.text("a.csv.rejects.csv.jsonl").split(separator: "\n")
    #expect(details.count { $0.hasPrefix(#"{"record":"#) } == 14)
    for line in details { #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) } }
  }

  @Test(arguments: [
    "fsync:.rejects.csv.part:\(EIO)", "write:.rejects.csv.part:\(ENOSPC)", "write:.rejects.csv.jsonl.part:\(EIO)",
    "open:.rejects.csv.part:\(EIO)",
  ])
  func `Rejects that can't be written are an error of the disk, and the rerun has all`(_ fault: String) throws {
    let output = try calls.run(Self.command, in: folder, failing: fault)
    #expect(output.status == 74, "\(output.messages)")
    #expect(
      output.messages.contains("the rejects can't be written to \(folder.url.path)/a.csv.rejects.csv"),
      "\(output.messages)")
    expectNone(try Conservation.problems(in: folder))
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", in: folder).status == 65)
    #expect(try folder.text("a.csv.rejects.csv").split(separator: "\n").count == 15)
    #expect(try !folder.names.contains { $0.hasSuffix(".part") || $0.contains(".2.") })
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "6\n")
    expectNone(try Conservation.problems(in: folder))
  }

  @Test(arguments: [[], ["--replace"]])
  func `Rejects of a run that was killed before its first save are removed by one that finds nothing to do`(
    _ options: [String]
  ) throws {
    let killed = try calls.run(
      Self.command, in: folder, killedBefore: "fsync \(folder.url.path)/a.csv.rejects.csv.part")
    #expect(killed.status == 128 + SIGKILL && folder.exists("a.csv.rejects.csv.part"), "\(killed.messages)")
    try folder.write(try folder.text("a.csv"), to: "copy.csv")
    #expect(try Tool.run("import", "copy.csv", "--pipeline", "p.json", "--store", "s", in: folder).status == 65)
    let again = try Programs.run(Tool.url.path, Self.command + options, in: folder)
    #expect([0, 65].contains(again.status), "\(again.messages)")
    let names = try folder.names.filter { $0.contains(".part") }
    #expect(names == [], "\(again.messages)")
  }

  @Test func `Locks that the system refuses are not a fault of the program`() throws {
    #expect(try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", in: folder).status == 65)
    try folder.write("date,rating\n2020-01-02,1\n", to: "b.csv")
    let output = try calls.run(
      ["import", "b.csv", "--pipeline", "p.json", "--store", "s", "--lock-timeout", "1"], in: folder,
      failing: "lock:s-shm:\(EIO)")
    #expect([74, 75].contains(output.status), "\(output.status) \(output.messages)")
    #expect(!output.messages.contains("protocol"), "\(output.messages)")
    #expect(try Tool.run("import", "b.csv", "--pipeline", "p.json", "--store", "s", in: folder).status == 0)
  }

  @Test func `A store that can't be written back leaves nothing that the next run does not remove`() throws {
    let output = try calls.run(Self.command, in: folder, failing: "fsync:/s:\(EIO)")
    #expect(output.status == 74, "\(output.messages)")
    _ = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--store", "s", in: folder)
    #expect(try folder.names.filter { $0.hasPrefix("s") } == ["s"])
    expectNone(try Conservation.problems(in: folder))
  }

  // MARK: Reports

  @Test func `A report that could not be written is written by the next run, with its numbers`() throws {
    let output = try calls.run(Self.command, in: folder, failing: "write:r.json:\(Self.diskFull)")
    #expect(output.status == 74)
    #expect(output.messages.contains("the next run of this pipeline writes it"), "\(output.messages)")
    #expect(!folder.exists("r.json"))
    #expect(folder.exists("a.csv.rejects.csv"))
    // Another night has another file.
    try folder.write("date,rating\n2020-01-02,1\n2020-01-03,2\n", to: "b.csv")
    let next = try Tool.run(
      "import", "b.csv", "--pipeline", "p.json", "--store", "s", "--report", "r.json", in: folder)
    #expect(next.status == 65, "\(next.messages)")
    let report = try JSONDecoder().decode(Summary.self, from: folder.data("r.json"))
    #expect(report.counts == Summary.Counts(read: 22, inserted: 8, rejected: 14))
    #expect(report.issues.errors == 14)
    #expect(try folder.text("r.json").contains("was not written; its inputs are among these"))
    let last = try Tool.run("import", "b.csv", "--pipeline", "p.json", "--store", "s", "--json", in: folder)
    #expect(try last.json().counts == Summary.Counts())
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM SJ_ISSUE", in: folder) == "0\n")
    expectNone(try Conservation.problems(in: folder))
  }

  @Test(arguments: [["undo", "s", "--yes"], Self.command + ["--replace"]])
  func `Rejects of an input that was not reported get their name when it is taken back`(_ command: [String]) throws {
    let rename = "rename \(folder.url.resolvingSymlinksInPath().path)/a.csv.rejects.csv.jsonl.part"
    #expect(try calls.run(Self.command, in: folder, killedBefore: rename).status == 128 + SIGKILL)
    #expect(folder.exists("a.csv.rejects.csv.part"))
    try folder.write(try folder.text("a.csv") + "2020-01-02,1\n", to: "a.csv")
    let output = try Programs.run(Tool.url.path, command, in: folder)
    #expect([0, 65].contains(output.status), "\(output.messages)")
    #expect(try folder.names.filter { $0.hasSuffix(".part") } == [])
    #expect(try folder.text("a.csv.rejects.csv").split(separator: "\n").count == 15)
  }

  @Test func `Rejects of an import from the start take the name of the partial one that it replaces`() throws {
    let stop = Self.command + ["--max-errors", "3"]
    #expect(try Programs.run(Tool.url.path, stop, in: folder).status == 65)
    #expect(folder.exists("a.csv.rejects.csv.part"))
    #expect(try Programs.run(Tool.url.path, Self.command + ["--again"], in: folder).status == 65)
    #expect(try folder.names.filter { $0.contains("reject") } == ["a.csv.rejects.csv", "a.csv.rejects.csv.jsonl"])
    #expect(try folder.text("a.csv.rejects.csv").split(separator: "\n").count == 15)
    let paths = try Programs.sqlite("s", "SELECT rejectsPath FROM SJ_INPUT", in: folder)
    #expect(paths == folder.url.resolvingSymlinksInPath().path + "/a.csv.rejects.csv\n")
  }

  @Test func `An input that a replacement makes outdated stays so, though its report is owed`() throws {
    try folder.write("date,rating\n2020-01-01,1\n2020-01-02,2\n", to: "b.csv")
    try folder.write("date,rating\n2020-01-02,2\n2020-01-03,3\n", to: "c.csv")
    func load(_ arguments: String...) throws -> ProgramOutput {
      try Programs.run(
        Tool.url.path, ["import"] + arguments + ["--pipeline", "p.json", "--store", "s", "-q"], in: folder)
    }
    #expect(try load("b.csv").status == 0)
    #expect(try load("c.csv", "--only-new").status == 0)
    _ = try Programs.sqlite("s", "UPDATE SJ_INPUT SET state = 'unreported' WHERE path = 'c.csv'", in: folder)
    try folder.write("date,rating\n2020-01-01,1\n2020-01-04,4\n", to: "b.csv")
    let output = try load("b.csv", "--replace")
    #expect(output.status == 0, "\(output.messages)")
    let states = try Programs.sqlite("s", "SELECT path, state FROM SJ_INPUT ORDER BY inputID", in: folder)
    #expect(states == "b.csv|undone\nc.csv|outdated\nb.csv|complete\n")
  }

  @Test func `An input whose report is owed stays in the inbox, and is reported and moved by the next run`() throws {
    try folder.makeFolder("in")
    try FileManager.default.moveItem(at: folder.file("a.csv"), to: folder.file("in/a.csv"))
    try folder.write(
      try folder.text("p.json").dropLast()
        + ", \"inbox\": {\"folder\": \"in\", \"settleSeconds\": 0}, \"store\": \"s\", \"report\": \"r.json\"}",
      to: "p.json")
    let output = try calls.run(["run", "p.json", "-q"], in: folder, failing: "write:r.json:\(Self.diskFull)")
    #expect(output.status == 74, "\(output.messages)")
    #expect(folder.exists("in/a.csv"))
    #expect(try Tool.run("run", "p.json", "-q", in: folder).status == 65)
    let report = try JSONDecoder().decode(Summary.self, from: folder.data("r.json"))
    #expect(report.counts == Summary.Counts(read: 20, inserted: 6, rejected: 14))
    #expect(!folder.exists("in/a.csv"))
  }

  @Test func `Where a file system can only rename with replacing, a dead run's reservation is taken`() throws {
    try folder.makeFolder("in")
    try FileManager.default.moveItem(at: folder.file("a.csv"), to: folder.file("in/a.csv"))
    try folder.write(
      try folder.text("p.json").dropLast()
        + ", \"inbox\": {\"folder\": \"in\", \"settleSeconds\": 0}, \"store\": \"s\"}", to: "p.json")
    let command = ["run", "p.json", "-q"]
    _ = try calls.run(command, in: folder, failing: "renameat2")
    let log = try calls.log
    let open = try #require(log.lastIndex { $0.hasPrefix("open ") && $0.contains("/processed/") })
    #expect(log[(open + 1)...].contains { $0.hasPrefix("rename ") && $0.contains("/processed/") })
    let moved = try FileManager.default.subpathsOfDirectory(atPath: folder.path("in")).filter { $0.hasSuffix(".csv") }
    #expect(moved.count == 1)
    try folder.write("date,rating\n2020-01-02,1\n", to: "in/a.csv")
    try FileManager.default.removeItem(atPath: folder.path("in/" + moved[0]))
    // The move ends between the reservation of the name and the rename.
    let killed = try calls.run(command, in: folder, killedBefore: "/in/a.csv ", failing: "renameat2")
    #expect(killed.status == 128 + SIGKILL, "\(killed.messages)")
    #expect(folder.exists("in/a.csv") && folder.exists("in/" + moved[0]))
    #expect(try calls.run(command, in: folder, failing: "renameat2").status == 0)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path("in")).filter { $0.hasSuffix(".csv") }
    #expect(names == moved)
  }
}
