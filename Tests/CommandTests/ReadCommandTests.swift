import Foundation
import TestSupport
import Testing

/// Inputs that a declared command reads: the plan reads them whole, a worker the bytes of its shard. What the command prints
/// is checked, so that nothing wrong is imported.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct ReadCommandTests {
  private let world: PlannedImport
  private var folder: TemporaryFolder { world.folder }

  private static let range = """
    ["dd", "if=objects/{path}", "iflag=skip_bytes,count_bytes", "skip={first}", "count={length}", "status=none"]
    """

  init() throws {
    world = try PlannedImport()
    try folder.makeFolder("objects")
    try setRead("{ \"run\": [\"cat\", \"objects/{path}\"], \"range\": \(Self.range) }")
  }

  private func setRead(_ read: String) throws {
    try folder.write(
      """
      { "name": "nightly", "read": \(read), "chunkRows": 100,
        "columns": [{ "name": "date", "rules": ["required"] }, "location",
          { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }] }
      """, to: "nightly.json")
  }

  /// Writes a log that only the command finds.
  private func writeObject(_ name: String, records: Int) throws {
    try world.writeLog("log.csv", records: records)
    try FileManager.default.moveItem(atPath: folder.path("log.csv"), toPath: folder.path("objects/\(name)"))
  }

  private func script(_ name: String, _ text: String) throws {
    try folder.write("#!/bin/sh\n\(text)\n", to: name)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
  }

  @Test(arguments: [true, false])
  func `Shards of what a command prints are imported as one machine imports it`(byRange: Bool) throws {
    if !byRange { try setRead("{ \"run\": [\"cat\", \"objects/{path}\"] }") }
    try writeObject("a.csv", records: 1500)
    let plan = try world.plan("a.csv")
    let shards = try #require(Int(try world.psql("SELECT count(*) FROM sj_shard")))
    #expect(shards > 2)
    for shard in (0..<shards).reversed() {
      let work = try world.run("work", "--plan", plan, "--store", world.address, "--shard", "\(shard)")
      #expect(work.status == 0, "\(work.messages)")
    }
    try world.compare(plan, files: "a.csv")
  }

  @Test func `A name is one argument of the command, whatever is in it, and no option`() throws {
    let name = "it's $(touch x); a {first}.csv"
    try writeObject(name, records: 300)
    let plan = try world.plan(name, shardBytes: 4000)
    let work = try world.run("work", "--plan", plan, "--store", world.address)
    #expect(work.status == 0, "\(work.messages)")
    #expect(!folder.exists("x"))
    #expect(try world.rows(of: world.address).count == 294)
    try setRead("{ \"run\": [\"cat\", \"{path}\"] }")
    let option = try world.run("plan", "./nightly.json", "--store", world.address, "--", "-n.csv")
    #expect(option.status == 64 && option.messages.contains("would take the name -n.csv for an option"))
  }

  @Test func `A command that fails in the middle imports nothing`() throws {
    try script("half", "head -c 5000 \"objects/$1\"; echo 'lost the bucket' >&2; exit 3")
    try writeObject("a.csv", records: 1000)
    try setRead("{ \"run\": [\"./half\", \"{path}\"] }")
    let plan = try world.run("plan", "./nightly.json", "a.csv", "--store", world.address)
    #expect(plan.status == 74, "\(plan.messages)")
    #expect(plan.messages.contains("./half ended with the status 3: lost the bucket"), "\(plan.messages)")
    try setRead(
      "{ \"run\": [\"cat\", \"objects/{path}\"], \"range\": [\"./half\", \"{path}\", \"{first}\", \"{last}\"] }")
    let number = try world.plan("a.csv")
    let work = try world.run("work", "--plan", number, "--store", world.address)
    #expect(work.status == 74 && work.messages.contains("ended with the status 3"), "\(work.messages)")
    #expect(try world.rows(of: world.address) == [])
    // A worker that can read it goes on.
    try script("half", "dd if=\"objects/$1\" iflag=skip_bytes,count_bytes skip=$2 count=$(($3 - $2 + 1)) status=none")
    #expect(try world.run("work", "--plan", number, "--store", world.address).status == 0)
  }

  @Test func `Bytes that are missing, too many or others than at first are noticed`() throws {
    try writeObject("a.csv", records: 1000)
    let range = "\"range\": [\"./part\", \"{path}\", \"{first}\", \"{length}\"]"
    try setRead("{ \"run\": [\"cat\", \"objects/{path}\"], \(range) }")
    let plan = try world.plan("a.csv")
    let read = "dd if=\"objects/$1\" iflag=skip_bytes,count_bytes skip=$2 status=none"
    for (text, message) in [
      ("\(read) count=$(($3 - 1))", "bytes from"), ("\(read) count=$3; printf x", "bytes from"),
      ("\(read) count=$3 | tr 4 5", "has changed since it was planned"),
    ] {
      try script("part", text)
      let work = try world.run("work", "--plan", plan, "--store", world.address, "--shard", "1")
      #expect([65, 74].contains(work.status) && work.messages.contains(message), "\(work.messages)")
      #expect(try world.rows(of: world.address) == [])
    }
    try script("part", "\(read) count=$3")
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    try script("part", "exit 1")
    try world.compare(plan, files: "a.csv")
  }

  @Test(arguments: [
    ("{ \"range\": [\"a\", \"{path}\", \"{first}\", \"{last}\"] }", "read.run: is missing"),
    ("{ \"run\": [\"cat\"] }", "has no {path} among its arguments"),
    ("{ \"run\": [\"cat\", \"{path}\"], \"range\": [\"dd\", \"{path}\", \"{first}\"] }", "has no {last} or {length}"),
    ("{ \"run\": [], \"timeoutSeconds\": 0 }", "names no program"),
  ])
  func `A command that can't work is a mistake of the pipeline`(read: String, message: String) throws {
    try setRead(read)
    let check = try world.run("check", "./nightly.json")
    #expect(check.status == 78 && check.text.contains(message), "\(check.text)\(check.messages)")
  }
}
