import Foundation
import TestSupport
import Testing

/// The pipelines of `Pipelines/` do what their descriptions say, run as a person would run them.
@Suite struct ReadyPipelineTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      at: Repository.file("Pipelines"), to: folder.file("Pipelines"))
    try folder.makeFolder("Pipelines/reports")
  }

  private func rows(_ store: String, _ query: String) throws -> String { try Programs.sqlite(store, query, in: folder) }

  @Test func `nightly-inbox imports what arrived and is new, reports and moves`() throws {
    try folder.makeFolder("Pipelines/inbox")
    func arrive(_ name: String, _ text: String) throws {
      try folder.write(text, to: "Pipelines/inbox/\(name)")
      try Programs.python("import os, sys; os.utime(sys.argv[1], (1e9, 1e9))", "Pipelines/inbox/\(name)", in: folder)
    }
    try arrive("a.csv", Logs.two)
    try folder.write("still being written", to: "Pipelines/inbox/b.csv.part")
    let first = try Tool.run("run", "nightly-inbox", "--json", in: folder)
    #expect(first.status == 0, "\(first.messages)")
    #expect(try first.json().counts == Summary.Counts(read: 2, inserted: 2))
    // A second session of the day at the same place does not overwrite the first.
    try arrive("a.csv", Logs.two + "2014-07-14T07:30:00Z,2.1,9,Onshore,Rincon,2\n")
    let second = try Tool.run("run", "nightly-inbox", "--json", in: folder)
    #expect(try second.json().counts == Summary.Counts(read: 3, inserted: 1, unchanged: 2))
    #expect(try rows("Pipelines/journal.sqlite", "SELECT ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK") == "4\n\n2\n")
    #expect(
      try Tool.shell("cd Pipelines/inbox; ls; ls processed/*", in: folder).text
        == "b.csv.part\nprocessed\na.2.csv\na.csv\n")
    #expect(try folder.text("Pipelines/reports/nightly.html").contains("nightly-inbox"))
    #expect(folder.exists("Pipelines/reports/nightly.json"))
    let silent = try Tool.run("run", "nightly-inbox", "-q", in: folder)
    #expect(silent.status == 0 && silent.text.isEmpty && silent.messages.isEmpty, "\(silent.messages)")
  }

  @Test func `dry-run-report says what an import would do and stores nothing`() throws {
    let output = try Tool.run("run", "dry-run-report", "--input", Repository.dirtyLog, "--json", in: folder)
    #expect(output.status == 65)
    #expect(try output.json().kind == "validate")
    #expect(try folder.text("Pipelines/reports/dry-run.html").contains("would be"))
    #expect(!folder.exists("Pipelines/journal.sqlite"))
  }

  @Test func `update-by-key corrects what is there, all of it or nothing`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    try folder.write(
      Logs.header + "2014-07-14T07:30:00Z,9ft,,,Rincon,5\n2014-08-01,1ft,,,New,3\n", to: "corrected.csv")
    let output = try Tool.run("run", "update-by-key", "--input", "corrected.csv", "--store", "s", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try output.json().counts == Summary.Counts(read: 2, inserted: 1, updated: 1))
    #expect(
      try rows("s", "SELECT ZHEIGHT, ZRATING, Z_OPT FROM ZJOURNALENTRY WHERE ZLOCATION = 'Rincon'") == "9ft|5|2\n")
  }

  @Test func `round-trip exports what it then imports, hash and all`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try Tool.run("run", "round-trip", "--store", "s", "-o", "one.csv", in: folder).status == 0)
    #expect(try Tool.run("run", "round-trip", "--input", "one.csv", "--store", "t", in: folder).status == 0)
    #expect(try Tool.run("run", "round-trip", "--store", "t", "-o", "two.csv", in: folder).status == 0)
    #expect(try folder.data("one.csv") == folder.data("two.csv"))
  }

  @Test func `journal-app reads and writes the app's own files`() throws {
    try folder.write("7/14/14,3.9,12,1.9,C Street,4\n", to: "app.csv")
    #expect(try Tool.run("run", "journal-app", "--input", "app.csv", "--store", "s", in: folder).status == 0)
    #expect(try Tool.run("run", "journal-app", "--store", "s", "-o", "out.csv", in: folder).status == 0)
    #expect(try folder.text("out.csv") == "7/14/14,3.9,12,1.9,C Street,4\n")
  }

  @Test func `surfing imports spots, boards and the sessions that lead to them, with its own model`() throws {
    for file in ["spots.csv", "boards.csv", "sessions.csv"] {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(file)"), to: folder.file(file))
    }
    #expect(try Tool.run("pipelines", in: folder).text.contains("surfing  (Pipelines/surfing.json)\n"))
    let inputs = ["Spot=spots.csv", "Board=boards.csv", "Session=sessions.csv"].flatMap { ["--input", $0] }
    let output = try Programs.run(
      Tool.url.path, ["run", "surfing", "--store", "s", "--json"] + inputs, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try output.json().counts == Summary.Counts(read: 315, inserted: 315))
    #expect(try rows("s", "SELECT count(*) FROM ZSESSION s JOIN ZSPOT p ON p.Z_PK = s.ZSPOT") == "291\n")
    #expect(
      try Tool.run("verify", "s", "--model", "Pipelines/Surfing.xcdatamodeld", in: folder).status == 0)
  }

  @Test func `The pipeline and the model of the sample are those that are ready`() throws {
    let (ready, sample) = ("Pipelines/Surfing.xcdatamodeld", Repository.path("SampleData/Surfing.xcdatamodeld"))
    #expect(try Tool.shell("diff -r \(ready) '\(sample)'", in: folder).status == 0)
    // The sample names its files and its store, too.
    func parts(_ pipeline: String) throws -> [String] {
      let text = try Tool.run("check", pipeline, in: folder).text
      return text.split(separator: "\n").map(String.init).filter { $0.contains(/^ +(Columns|Key|Part|[a-z]+:)\s/) }
    }
    let known = try parts("surfing")
    #expect(known.count > 10)
    #expect(try parts(Repository.path("SampleData/surfing.json")) == known)
  }

  @Test func `The sample of several entities is a seed by the example of the help`() throws {
    let sample = Repository.path("SampleData")
    let files = ["spots.csv", "boards.csv", "sessions.csv", "surfing.json", "Surfing.xcdatamodeld"]
    for file in files { try FileManager.default.copyItem(atPath: "\(sample)/\(file)", toPath: folder.path(file)) }
    let help = try Tool.run("help", "seed", in: folder).text.replacingOccurrences(of: "\\\n", with: " ")
    let example = try #require(help.split(separator: "\n").first { $0.contains("Session=sessions.csv") })
    let output = try Tool.shell(
      example.replacingOccurrences(of: "  surfjournal ", with: "$surfjournal "), in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try rows("Surfing.sqlite", "SELECT count(*) FROM ZSESSION") == "300\n")
  }

  // MARK: Hashes

  @Test func `An import can see that an export came whole`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    for name in ["out.csv", "out.csv.gz"] {
      #expect(try Tool.run("export", "--store", "s", "-o", name, "--hash", in: folder).status == 0)
      let store = "t-\(name)"
      #expect(try Tool.run("import", name, "--store", store, "--verify-hash", in: folder).status == 0)
      #expect(try rows(store, "SELECT count(*) FROM ZJOURNALENTRY") == "2\n")
    }
    try folder.write(try folder.text("out.csv").replacingOccurrences(of: "Rincon", with: "Rincom"), to: "out.csv")
    for command in ["import", "validate"] {
      let damaged = try Tool.run(command, "out.csv", "--store", "u", "--verify-hash", "--json", in: folder)
      #expect(damaged.status == 65)
      #expect(try damaged.json().issues.counts == ["hash-count": 1])
      #expect(!folder.exists("u"))
    }
    #expect(try Tool.run("import", "log.csv", "--store", "u", "--verify-hash", in: folder).status == 66)
    let changed = try folder.text("out.csv.gz.xxh128").replacingOccurrences(of: "records 2", with: "records 3")
    try folder.write(changed, to: "out.csv.gz.xxh128")
    let miscounted = try Tool.run("import", "out.csv.gz", "--store", "v", "--verify-hash", "--json", in: folder)
    #expect(try miscounted.json().issues.counts == ["row-count": 1])
  }
}
