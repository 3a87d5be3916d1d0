import Foundation
import TestSupport
import Testing

/// Plans in a file, for workers that only check: what `plan` advises leads to the report, and what a worker that was killed
/// leaves is named with its line.
@Suite struct CheckedPlanTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    let records = (1...400).map { "2020-01-01,Place \($0),3\n" }
    try folder.write("date,location,rating\n" + records.joined(), to: "log.csv")
    try folder.write(
      "{ \"extends\": \"surf-log\", \"name\": \"nightly\", \"chunkRows\": 50 }", to: "nightly.json")
  }

  private func plan(_ file: String = "log.csv", to path: String = "plan.json") throws -> ProgramOutput {
    try Tool.run("plan", "./nightly.json", file, "--dry-run", "-o", path, "--shard-bytes", "2000", in: folder)
  }

  private func work(_ arguments: String...) throws -> String {
    let output = try Programs.run(
      Tool.url.path, ["work", "--dry-run", "--plan", "plan.json"] + arguments, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    return output.text
  }

  private func report(_ files: String...) throws -> ProgramOutput {
    let arguments = ["report", "--plan", "plan.json", "--json"] + files.flatMap { ["--from", $0] }
    return try Programs.run(Tool.url.path, arguments, in: folder)
  }

  @Test(arguments: [400, 60, 0])
  func `What a plan says to type next leads to the report`(records: Int) throws {
    let lines = try folder.text("log.csv").split(separator: "\n").prefix(records + 1)
    try folder.write(lines.joined(separator: "\n") + "\n", to: "some.csv")
    let plan = try plan("some.csv")
    #expect(plan.status == 0, "\(plan.messages)")
    let script = plan.text.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { line in
      guard line.contains("--shard N") else { return String(line) }
      let command = line.replacing("--shard N", with: "--shard $N").replacing("results-N", with: "results-$N")
      return "for N in $(surfjournal work --dry-run --plan plan.json --list); do \(command); done"
    }.joined(separator: "\n")
    let output = try Tool.shell("set -e; PATH=${surfjournal%/*}:$PATH\n\(script) --json", in: folder)
    #expect(output.status == 0, "\(script)\n\(output.messages)")
    #expect(try output.json().counts.read == records)
  }

  @Test func `A plan that can't be written is said with its path and the reason, before the files are read`() throws {
    let output = try plan("missing.csv", to: "none/plan.json")
    #expect(output.status == 73, "\(output.messages)")
    #expect(output.messages.contains("none/plan.json can't be created: the folder"), "\(output.messages)")
    let full = try plan(to: "/dev/full")
    #expect(
      full.status == 74 && full.messages.contains("/dev/full: cannot be written: No space left on device"),
      "\(full.messages)")
  }

  @Test func `Each worker may have a file of its own, and standard input is one`() throws {
    #expect(try plan().status == 0)
    let numbers = try work("--list").split(separator: "\n").map(String.init)
    #expect(numbers == ["0", "1", "2", "3"])
    for number in numbers { try folder.write(try work("--shard", number), to: number) }
    #expect(try report("3", "1", "0", "2", "1").json().counts.read == 400)
    let early = try report("3", "1")
    #expect(early.status == 75 && early.messages.contains("shards: 0, 2;"), "\(early.messages)")
    let rest = try Programs.output(of: ["cat", "0", "2"], in: folder)
    let piped = try Tool.run(
      "report", "--plan", "plan.json", "--from", "3", "--from", "-", "--from", "1", "--json", in: folder, input: rest)
    #expect(try piped.json().counts.read == 400)
    let missing = try report("3", "4")
    #expect(missing.status == 66 && missing.messages.contains("4: cannot be opened"), "\(missing.messages)")
  }

  @Test func `A line that is not a whole result is named, and without it the missing shard is`() throws {
    #expect(try plan().status == 0)
    let results = try work()
    var lines = results.split(separator: "\n").map(String.init)
    for (cut, number) in [(results.dropLast(30), 4), ("\(lines[0])\n\n\(lines[1].dropLast(9))\(lines[2])"[...], 3)] {
      try folder.write(String(cut), to: "results.jsonl")
      let output = try report("results.jsonl")
      #expect(output.status == 65)
      #expect(output.messages.contains("results.jsonl:\(number): this is not a result"), "\(output.messages)")
    }
    lines.removeLast()
    try folder.write(lines.joined(separator: "\n"), to: "results.jsonl")
    let output = try report("results.jsonl")
    #expect(
      output.status == 75 && output.messages.contains("shards: 3; check them with 'work --dry-run --plan plan.json"),
      "\(output.messages)")
    let name = try #require(lines[0].firstMatch(of: /"plan":"([^"]+)"/)).1
    try folder.write(results.replacingOccurrences(of: name, with: "other"), to: "results.jsonl")
    let other = try report("results.jsonl")
    #expect(other.status == 65 && other.messages.contains("results.jsonl:1: the result is of another plan"))
  }
}
