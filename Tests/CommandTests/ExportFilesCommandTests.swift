import Foundation
import TestSupport
import Testing

/// `surfjournal export`: many files, only what is new, and hashes next to them.
@Suite struct ExportFilesCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      Logs.header + """
        2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4
        2014-08-01,Flat,,,Malibu,
        2014-07-31T23:00:00Z,2m,9 sec,NW,Zuma,5

        """, to: "log.csv")
    _ = try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder)
  }

  /// The outputs that the JSON summary lists.
  private struct Outputs: Decodable {
    struct File: Decodable {
      let path: String
      let bytes: Int
      let records: Int
      let contentHash: String
    }
    let outputs: [File]
    let note: String?
  }

  private func outputs(_ output: ProgramOutput) throws -> Outputs {
    try JSONDecoder().decode(Outputs.self, from: output.bytes)
  }

  @Test func `Parts of so many rows, each whole with its header, compressed by their name`() throws {
    let output = try Tool.run(
      "export", "--store", "s", "-o", "out.csv.gz", "--split-rows", "2", "--columns", "location", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    let files = try outputs(output).outputs
    #expect(files.map(\.path) == ["out-00001.csv.gz", "out-00002.csv.gz"])
    #expect(files.map(\.records) == [2, 1])
    #expect(try Tool.shell("zcat out-00001.csv.gz", in: folder).text == "location\nRincon\nMalibu\n")
    #expect(try Tool.shell("zcat out-00002.csv.gz", in: folder).text == "location\nZuma\n")
    #expect(try folder.names == ["log.csv", "out-00001.csv.gz", "out-00002.csv.gz", "s"])
  }

  @Test func `A file for every month`() throws {
    let output = try Tool.run(
      "export", "--store", "s", "-o", "surf {month}.csv", "--split-month", "date", "--columns", "location", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try folder.text("surf 2014-07.csv") == "location\nRincon\nZuma\n")
    #expect(try folder.text("surf 2014-08.csv") == "location\nMalibu\n")
    #expect(output.text.contains("surf 2014-07.csv  (21 B, 2 records)"))
    #expect(output.text.contains("surf 2014-08.csv  ("))
  }

  @Test func `Only what is new, and quiet where nothing is`() throws {
    let export = ["export", "--store", "s", "-o", "new-{date}-{time}.csv", "--incremental", "--columns", "location"]
    let hashes = try folder.hashes(["s"])
    let first = try Programs.run(Tool.url.path, export + ["--json"], in: folder)
    #expect(first.status == 0, "\(first.messages)")
    let path = try #require(try outputs(first).outputs.first?.path)
    #expect(path.wholeMatch(of: /new-\d{4}-\d\d-\d\d-\d{6}\.csv/) != nil)
    #expect(try folder.text(path) == "location\nRincon\nMalibu\nZuma\n")
    #expect(try folder.hashes(["s"]) == hashes)
    try FileManager.default.removeItem(atPath: folder.path(path))
    let none = try Programs.run(Tool.url.path, export, in: folder)
    #expect(none.status == 0)
    #expect(none.text.contains("nothing is new since"))
    #expect(try Programs.run(Tool.url.path, export + ["-q"], in: folder).text.isEmpty)
    #expect(try folder.names == ["log.csv", "new.csv.mark.json", "s"])
    try folder.write(Logs.header + "2015-01-01,,,,Steamer Lane,3\n", to: "more.csv")
    _ = try Tool.run("import", "more.csv", "--store", "s", "-q", in: folder)
    let third = try outputs(try Programs.run(Tool.url.path, export + ["--json"], in: folder))
    #expect(third.outputs.map(\.records) == [1])
    _ = try Tool.run("import", "log.csv", "--store", "t", "-q", in: folder)
    let other = try Tool.run(
      "export", "--store", "t", "-o", "new.csv", "--incremental", "--columns", "location", in: folder)
    #expect(other.status == 65)
    #expect(other.messages.contains("new.csv.mark.json does not match: it is of another store"))
    #expect(!folder.exists("new.csv"))
  }

  @Test func `A hash file that xxhsum checks, for the content and for what is stored`() throws {
    let output = try Tool.run("export", "--store", "s", "-o", "out.csv.gz", "--hash", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try Tool.shell("xxhsum -c out.csv.gz.xxh128", in: folder).text.contains("out.csv.gz: OK"))
    let file = try #require(try outputs(output).outputs.first)
    let content = try Tool.shell("zcat out.csv.gz | xxhsum -H2", in: folder).text
    #expect(content.hasPrefix(file.contentHash))
    let second = try folder.text("out.csv.gz.xxh128").split(separator: "\n")[1]
    #expect(second.hasPrefix("# records 3, content \(file.contentHash), bytes "))
    let hash = try Tool.shell("xxhsum -H2 out.csv.gz", in: folder).text
    #expect(try folder.text("out.csv.gz.xxh128").hasPrefix(hash))
  }

  @Test func `All of it from a definition`() throws {
    try folder.makeFolder("out")
    try folder.write(
      """
      { "name": "nightly", "store": "s", "export": { "output": "out/log-{month}-{date}.csv.gz", "columns": ["location"],
        "split": { "month": "date" }, "incremental": true, "hash": true } }
      """, to: "nightly.json")
    #expect(try Tool.run("run", "nightly.json", in: folder).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).sorted()
    #expect(names.count == 5)
    #expect(names.filter { $0.hasPrefix("log-2014-07-") }.count == 2)
    #expect(names.last == "log.csv.gz.mark.json")
    #expect(try Tool.shell("cd out && xxhsum -c *.xxh128", in: folder).status == 0)
  }

  @Test func `An export that is stopped leaves no file and no mark`() throws {
    try Logs.write(records: 100_000, to: "big.csv", in: folder)
    #expect(try Tool.run("import", "big.csv", "--store", "big", "-q", in: folder).status == 0)
    let before = try folder.names
    let output = try Tool.shell(
      """
      "$surfjournal" export --store big -o out.csv --split-rows 1000 --hash --incremental -q & export=$!
      for n in $(seq 500); do ls -A | grep -q partial && break; sleep 0.005; done
      kill -TERM $export; wait $export
      """, in: folder)
    #expect(output.status == 75, "\(output.messages)")
    #expect(try folder.names == before)
  }

  struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let options: [String]
    let message: String

    init(_ description: String, _ options: String..., message: String) {
      testDescription = description
      self.options = options
      self.message = message
    }
  }

  static let mistakes = [
    Mistake("both splits", "-o", "a", "--split-rows", "2", "--split-month", "date", message: "exclude each other"),
    Mistake(
      "no rows", "-o", "a", "--split-rows", "0", message: "--split-rows is '0'; expected a whole number, 1 or more"),
    Mistake(
      "no date", "-o", "a", "--split-month", "rating", message: "--split-month: JournalEntry has no date 'rating'"),
    Mistake("parts to stdout", "--split-rows", "2", message: "--split-rows: needs an output file"),
    Mistake("a hash of stdout", "--hash", message: "--hash: needs an output file"),
    Mistake("an increment to stdout", "--incremental", "-o", "-", message: "--incremental: needs an output file"),
    Mistake("an unknown placeholder", "-o", "a-{dat}.csv", message: "the placeholder {dat} is unknown"),
    Mistake("a part of no split", "-o", "a-{part}.csv", message: "not split by rows"),
    Mistake(
      "another order than by month", "-o", "a", "--split-month", "date", "--sort", "rating",
      message: "--sort: files by month are written one after the other"),
  ]

  @Test(arguments: mistakes)
  func `Options that can't be satisfied are a wrong command line`(_ mistake: Mistake) throws {
    let output = try Programs.run(Tool.url.path, ["export", "--store", "s"] + mistake.options, in: folder)
    #expect(output.status == 64)
    #expect(output.messages.contains(mistake.message), "\(output.messages)")
    #expect(try folder.names == ["log.csv", "s"])
  }
}
