import Foundation
import TestSupport
import Testing

/// The sample of JSON Lines: its entries come out, and each broken line is reported by line, byte and member.
@Suite struct JSONLinesSampleTests {
  private struct Expected: Decodable {
    let record: Int
    let line: Int
    let byte: Int
    let code: String
    let column: String?
    let why: String
  }

  private let folder: TemporaryFolder
  private let expected: [Expected]
  init() throws {
    folder = try TemporaryFolder()
    for name in ["spot-reports.jsonl", "spot-reports.json"] {
      try Data(contentsOf: Repository.file("SampleData/\(name)")).write(to: folder.file(name))
    }
    let table = Repository.file("SampleData/spot-reports.expected.json")
    expected = try JSONDecoder().decode([Expected].self, from: try Data(contentsOf: table))
  }

  private func exported(_ store: String) throws -> Data {
    let output = try Tool.run(
      "export", "--store", store, "--columns", "date,height,period,wind,location,rating", "-q", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    return output.bytes
  }

  private var entries: Data {
    get throws { try Data(contentsOf: Repository.file("SampleData/spot-reports.expected.csv")) }
  }

  private func check(_ output: ProgramOutput) throws {
    #expect(output.status == 65, "\(output.messages)")
    let summary = try output.json()
    #expect(summary.counts.isConserved && summary.counts.rejected == expected.count)
    #expect(summary.issues.listed.count == expected.count)
    for (issue, expected) in zip(summary.issues.listed, expected) {
      #expect(issue.record == expected.record && issue.line == expected.line && issue.byte == expected.byte)
      #expect(issue.code == expected.code && issue.column == expected.column, "\(expected.why): \(issue)")
      if let column = expected.column, ["json-error", "duplicate-member"].contains(expected.code) {
        #expect(issue.message.contains("'\(column)' at byte "), "\(issue)")
      }
    }
  }

  @Test func `Its entries are imported, its broken lines kept as they were, and a second run does nothing`() throws {
    try check(try Tool.run("run", "spot-reports.json", "--store", "s", "--json", in: folder))
    #expect(try exported("s") == entries)
    let lines = try folder.data("spot-reports.jsonl").split(separator: 0x0A, omittingEmptySubsequences: false)
    let rejects = expected.map { lines[$0.line - 1] + [0x0A] }.reduce(Data(), +)
    #expect(try folder.data("spot-reports.jsonl.rejects.jsonl") == rejects)
    let again = try Tool.run("run", "spot-reports.json", "--store", "s", "--json", in: folder)
    #expect(again.status == 0 && again.text.contains("known"))
    #expect(try exported("s") == entries)
  }

  @Test(arguments: ["gzip", "pipe", "small chunks", "dry run"])
  func `It is the same gzipped, through a pipe, in small chunks and in a dry run`(_ way: String) throws {
    switch way {
    case "gzip":
      let made = try Tool.shell("gzip -k spot-reports.jsonl && rm spot-reports.jsonl", in: folder)
      #expect(made.status == 0)
      try check(
        try Tool.run(
          "run", "spot-reports.json", "--input", "spot-reports.jsonl.gz", "--store", "s", "--json", in: folder))
    case "pipe":
      try check(
        try Tool.shell(
          "cat spot-reports.jsonl | \"$surfjournal\" run spot-reports.json --input - --store s --json", in: folder))
    case "small chunks":
      try check(
        try Tool.run(
          "import", "spot-reports.jsonl", "--pipeline", "spot-reports.json", "--store", "s", "--chunk-rows", "3",
          "--json", in: folder))
    default:
      try check(
        try Tool.run(
          "validate", "spot-reports.jsonl", "--pipeline", "spot-reports.json", "--store", "s", "--json", in: folder))
      return #expect(!folder.exists("s"))
    }
    #expect(try exported("s") == entries)
  }

  @Test func `Corrected rejects are replayed, whatever their first line is`() throws {
    _ = try Tool.run("run", "spot-reports.json", "--store", "s", "-q", in: folder)
    let rejects = "spot-reports.jsonl.rejects.jsonl"
    // Without the ending and the pipeline's format only the file next to it says what the records are.
    try folder.write(
      try folder.text("spot-reports.json").replacingOccurrences(of: #"  "dialect": { "format": "jsonl" },"#, with: ""),
      to: "spot-reports.json")
    for (old, new) in [(rejects, "r.txt"), (rejects + ".jsonl", "r.txt.jsonl")] {
      try FileManager.default.moveItem(at: folder.file(old), to: folder.file(new))
    }
    let good = #"{"timestamp":1500000000,"spot":{"name":"\u00c9bihens"},"wave":{"height":2.50},"rating":{"value":3}}"#
    try folder.write("[1]\n\(good)\n", to: "r.txt")
    let replay = try Tool.run("replay", "r.txt", "--json", in: folder)
    #expect(replay.status == 65, "\(replay.messages)")
    #expect(try replay.json().counts == .init(read: 2, inserted: 1, rejected: 1))
    #expect(try folder.text("r.txt") == "[1]\n")
    #expect(try String(decoding: exported("s"), as: UTF8.self).hasSuffix("2017-07-14T02:40:00Z,2.50,,,Ébihens,3\n"))
  }

  @Test(arguments: [200, 700, 1500])
  func `An import that is killed goes on where it was, and a file that grew is continued`(_ kilobytes: Int) throws {
    let lines = try folder.text("spot-reports.jsonl")
    try Data(String(repeating: lines, count: 40).utf8).write(to: folder.file("long.jsonl"))
    try folder.write(
      #"{"extends": "spot-reports.json", "name": "spot-reports", "appendOnly": true, "chunkRows": 20}"#, to: "p.json")
    let arguments = ["import", "long.jsonl", "--pipeline", "./p.json", "--json", "--store"]
    #expect(try Programs.run(Tool.url.path, arguments + ["whole"], in: folder).status == 65)
    let whole = (try exported("whole"), try folder.data("long.jsonl.rejects.jsonl"))
    for name in ["long.jsonl.rejects.jsonl", "long.jsonl.rejects.jsonl.jsonl"] {
      try FileManager.default.removeItem(at: folder.file(name))
    }
    // The program is killed as soon as it has read so much of a pipe that never ends before that.
    let script = """
      mkfifo feed
      "$surfjournal" \(arguments.map { $0 == "long.jsonl" ? "feed" : $0 }.joined(separator: " ")) killed &
      (head -c \(kilobytes)000 long.jsonl; sleep 1; kill -9 $!) > feed
      wait
      rm feed
      cp long.jsonl feed
      "$surfjournal" \(arguments.map { $0 == "long.jsonl" ? "feed" : $0 }.joined(separator: " ")) killed
      """
    let killed = try Tool.shell(script, in: folder)
    #expect(killed.status == 65, "\(killed.messages)")
    #expect(try exported("killed") == whole.0)
    #expect(try folder.data("feed.rejects.jsonl") == whole.1)
    try Data((String(repeating: lines, count: 40) + #"{"timestamp":1,"rating":5}"# + "\n").utf8)
      .write(to: folder.file("long.jsonl"))
    let grown = try Programs.run(Tool.url.path, arguments + ["whole"], in: folder)
    #expect(grown.status == 0, "\(grown.messages)")
    #expect(try grown.json().counts == .init(read: 1, inserted: 1))
  }
}
