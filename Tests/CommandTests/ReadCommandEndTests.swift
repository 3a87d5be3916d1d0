import Foundation
import TestSupport
import Testing

/// Commands that read inputs, and don't end by themselves: nothing of them outlives the program that has started them, and
/// what they print and say is bounded.
@Suite struct ReadCommandEndTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    let records = (1...400).map { "2020-01-01,Place \($0),3\n" }
    try folder.write("date,location,rating\n" + records.joined(), to: "log.csv")
  }

  /// - Parameter script: Of the command that prints an input, or a range of it.
  private func setRead(_ read: String, script: String) throws {
    try folder.write("#!/bin/sh\n\(script)\n", to: "command")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("command"))
    try folder.write(
      """
      { "name": "nightly", "read": \(read), "chunkRows": 50, "columns": ["date", "location", "rating"] }
      """, to: "nightly.json")
  }

  private static let whole = "{ \"run\": [\"./command\", \"{path}\"] }"
  private static let range = """
    { "run": ["cat", "{path}"], "range": ["./command", "{path}", "{first}", "{length}"] }
    """

  @Test func `A command ends with the program, and so does what it has started`() throws {
    try setRead(Self.whole, script: "sleep 1000 & trap '' TERM; sleep 1000")
    let program = try Tool.start("validate", "log.csv", "--pipeline", "./nightly.json", in: folder)
    func sleeping() -> [ProcessTree.Member] {
      ProcessTree(below: program.processIdentifier).members.filter { $0.command.hasPrefix("sleep") }
    }
    while program.isRunning, sleeping().count < 2 { usleep(10_000) }
    let members = ProcessTree(below: program.processIdentifier).members
    #expect(members.count { $0.isRunning } >= 3)
    program.signal(SIGKILL)
    #expect(program.terminationStatus == 128 + SIGKILL)
    let deadline = Date(timeIntervalSinceNow: 10)
    while members.contains(where: \.isRunning), Date() < deadline { usleep(10_000) }
    #expect(members.filter(\.isRunning).map(\.command) == [])
    members.forEach { if $0.isRunning { $0.kill() } }
  }

  @Test func `What a command has started and left stays when the command has ended`() throws {
    try setRead(Self.whole, script: "cat \"$1\"; (sleep 1; echo done >left) >/dev/null 2>&1 &")
    #expect(try Tool.run("validate", "log.csv", "--pipeline", "./nightly.json", in: folder).status == 0)
    let deadline = Date(timeIntervalSinceNow: 10)
    while !folder.exists("left"), Date() < deadline { usleep(10_000) }
    #expect(folder.exists("left"))
  }

  @Test func `A range that prints more than its bytes is ended at once`() throws {
    try setRead(Self.range, script: "trap '' TERM; head -c 100000000 /dev/zero; sleep 1000; sleep 1000")
    let plan = try Tool.run(
      "plan", "./nightly.json", "log.csv", "--dry-run", "-o", "plan.json", "--shard-bytes", "2000", in: folder)
    #expect(plan.status == 0, "\(plan.messages)")
    let work = try Tool.run("work", "--dry-run", "--plan", "plan.json", "--shard", "1", in: folder)
    #expect(work.status == 74 && work.messages.contains("its command prints more than the"), "\(work.messages)")
    #expect(work.messages.contains("correct 'range'"), "\(work.messages)")
  }

  @Test func `What a command says on standard error goes into no file, and its first line is shown`() throws {
    // No file may have more than 512 KB here, and the command says 4 MB.
    let script = "echo 'lost the bucket' >&2; head -c 4000000 /dev/zero | tr '\\0' x >&2; cat \"$1\"; exit \"$END\""
    try setRead(Self.whole, script: script)
    func validate(end: Int) throws -> ProgramOutput {
      try Tool.shell(
        "ulimit -f 512; END=\(end) exec \"$surfjournal\" validate log.csv --pipeline ./nightly.json --json", in: folder)
    }
    let good = try validate(end: 0)
    #expect(good.status == 0, "\(good.messages)")
    #expect(try good.json().counts.read == 400)
    let failed = try validate(end: 3)
    #expect(failed.messages.contains("./command ended with the status 3: lost the bucket"), "\(failed.messages)")
  }
}
