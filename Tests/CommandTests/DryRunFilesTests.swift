import Foundation
import TestSupport
import Testing

/// A dry run into a copy of the store finds the unfinished rejects of a stopped run, and must not touch them.
@Suite struct DryRunFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
    try folder.write(LinkedSample.pipeline(chunkRows: 5), to: "l.json")
    try folder.write(RunKind.definitions["p.json", default: ""], to: "p.json")
    let lines = (0..<40).map { number in
      number % 4 == 1 ? "soon,Spot 1,3" : "2014-01-\(10 + number % 18),Spot \(number % 5),\(number % 5 + 1)"
    }
    try folder.write("date,spot,rating\n" + lines.joined(separator: "\n") + "\n", to: "linked.csv")
    try folder.write(RunKind.records(0..<60, badEvery: 4), to: "a.csv")
    try folder.write(RunKind.records(100..<120), to: "b.csv")
  }

  private func run(_ arguments: [String]) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments + ["--store", "s", "-q"], in: folder)
  }

  private func contents() throws -> [String: Data] {
    let ends = [".csv", ".part", ".jsonl", "/s"]
    return try folder.names.filter { name in ends.contains { "/\(name)".hasSuffix($0) } }.reduce(into: [:]) {
      $0[$1] = try folder.data($1)
    }
  }

  @Test func `A dry run that goes on after a stopped run leaves the rejects as they are`() throws {
    let load = ["import", "linked.csv", "--pipeline", "l.json"]
    try #require(try run(load + ["--max-errors", "4"]).status == 65)
    try #require(folder.exists("linked.csv.rejects.csv.part"))
    let before = try contents()
    let dry = try run(load + ["--dry-run"])
    #expect(dry.status == 65, "\(dry.messages)")
    #expect(try contents() == before)
    let listed = try run(load + ["--dry-run", "--rejects", "rejects/"])
    #expect(try listed.status == 65 && folder.text("rejects/linked.csv.rejects.csv").split(separator: "\n").count == 11)
    #expect(try run(load).status == 65)
    #expect(try folder.text("linked.csv.rejects.csv").split(separator: "\n").count == 11)
  }

  @Test func `A dry run on a copy writes the rejects to the file that is named, and their details next to it`() throws {
    let output = try run(["import", "linked.csv", "--pipeline", "l.json", "--dry-run", "--rejects", "r.csv"])
    #expect(output.status == 65, "\(output.messages)")
    #expect(try folder.text("r.csv").split(separator: "\n").count == 11)
    #expect(try folder.text("r.csv.jsonl").contains("\"labels\""))
    #expect(output.text.contains("r.csv\n"), "\(output.text)")
  }

  @Test(arguments: ["linked.csv", "a.csv"])
  func `The records that a dry run lists are corrected in the input, not replayed`(_ input: String) throws {
    let pipeline = input == "linked.csv" ? "l.json" : "p.json"
    let dry = ["import", input, "--pipeline", pipeline, "--dry-run", "--store", "s", "--rejects", "r.csv"]
    let output = try Programs.run(Tool.url.path, dry, in: folder)
    #expect(
      output.text.hasSuffix(
        "\nNext: correct these records in the inputs (they are in \(folder.path("r.csv"))), then import.\n"),
      "\(output.text)")
    let corrected = try folder.text(input).replacingOccurrences(of: "soon", with: "2014-02-01")
    try folder.write(corrected.replacingOccurrences(of: ",99", with: ",4"), to: input)
    #expect(try run(["import", input, "--pipeline", pipeline]).status == 0, "\(corrected)")
  }

  @Test func `A dry run that replaces several files agrees with the run, and leaves the rejects as they are`() throws {
    let load = ["import", "a.csv", "b.csv", "--pipeline", "p.json"]
    try #require(try run(load + ["--max-errors", "8"]).status == 65)
    try #require(folder.exists("a.csv.rejects.csv.part"))
    try folder.write(RunKind.records(10..<40, badEvery: 4), to: "a.csv")
    let before = try contents()
    let replace = load + ["--replace", "--json"]
    let dry = try run(replace + ["--dry-run"])
    #expect(try contents() == before)
    let shown = try Programs.run(
      Tool.url.path, load + ["--replace", "--dry-run", "--store", "s"], in: folder)
    #expect(shown.text.contains("would be replaced") && !shown.text.contains("were replaced"), "\(shown.text)")
    let real = try run(replace)
    #expect(try dry.json().counts == real.json().counts)
    #expect(dry.status == real.status)
  }
}
