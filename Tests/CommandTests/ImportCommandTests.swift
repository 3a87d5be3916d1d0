import Foundation
import TestSupport
import Testing

/// `surfjournal import` and `validate`: what they read, and what they say of it.
@Suite struct ImportCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
  }

  private func rows(_ store: String = "s") throws -> String {
    try Programs.sqlite(
      store, "SELECT Z_PK, ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY 1",
      in: folder)
  }

  static let twoRows = "1|427015800|3.9|12|Glassy|Rincon|4\n2|427075200|Flat|||Malibu, First Point|\n"

  @Test func `The summary goes to standard output, and nothing else anywhere`() throws {
    let output = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    #expect(output.text.hasPrefix("surf-log: import clean\n"))
    #expect(output.text.contains("inserted    2\n"))
    #expect(output.messages.isEmpty)
    #expect(try folder.names == ["log.csv", "s"])
    #expect(try rows() == Self.twoRows)
  }

  @Test func `A header has any order, letter case and spaces, and may have unknown labels`() throws {
    try folder.write(
      "RATING, Location ,crew,Date\n4,Rincon,Ann,2014-07-14T07:30:00Z\n", to: "other.csv")
    let output = try Tool.run("import", "other.csv", "--store", "s", "--json", in: folder)
    #expect(output.status == 0)
    #expect(try output.json().issues.counts == ["extra-label": 1, "missing-label": 3])
    #expect(try rows() == "1|427015800||||Rincon|4\n")
  }

  @Test func `An empty field is nil, also where the model has a default`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    let query = "SELECT ZRATING IS NULL, ZPERIOD IS NULL FROM ZJOURNALENTRY WHERE Z_PK = 2"
    #expect(try Programs.sqlite("s", query, in: folder) == "1|1\n")
  }

  @Test(arguments: ["\n", "\r\n", "\r"], ["", "\u{FEFF}"])
  func `Line ends and a byte order mark make no difference`(_ lineEnd: String, _ mark: String) throws {
    try folder.write(mark + Logs.two.replacing("\n", with: lineEnd), to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try rows() == Self.twoRows)
  }

  @Test func `Several files are one run, in their order`() throws {
    try folder.write(Logs.header + "2015-01-01,,,,Trestles,5\n", to: "more.csv")
    let output = try Tool.run("import", "log.csv", "more.csv", "--store", "s", "--json", in: folder)
    #expect(output.status == 0)
    #expect(try output.json().counts == Summary.Counts(read: 3, inserted: 3))
    #expect(try rows().hasSuffix("3|441763200||||Trestles|5\n"))
  }

  @Test func `A file that can't be read does not keep the others from being imported`() throws {
    let output = try Tool.run("import", "none.csv", "log.csv", "--store", "s", in: folder)
    #expect(output.status == 66)
    #expect(try rows() == Self.twoRows)
  }

  @Test func `Rejects of inputs of one name do not overwrite each other`() throws {
    for (name, place) in [("a", "Rincon"), ("b", "Malibu")] {
      try folder.makeFolder(name)
      try folder.write(Logs.header + "never,,,,\(place),\n", to: "\(name)/log.csv")
    }
    let output = try Tool.run(
      "import", "a/log.csv", "b/log.csv", "--store", "s", "--rejects", "r/", in: folder)
    #expect(output.status == 73)
    try folder.makeFolder("r")
    #expect(
      try Tool.run("import", "a/log.csv", "b/log.csv", "--store", "s", "--rejects", "r/", in: folder).status
        == 65)
    #expect(try folder.text("r/log.csv.rejects.csv") == Logs.header + "never,,,,Rincon,\n")
    #expect(try folder.text("r/2.log.csv.rejects.csv") == Logs.header + "never,,,,Malibu,\n")
  }

  @Test func `Rejects and reports never go over the input`() throws {
    try folder.write(Logs.header + "never,,,,,\n", to: "bad.txt")
    for option in ["--rejects", "--report"] {
      let output = try Tool.run("import", "bad.txt", "--store", "s", option, "./bad.txt", in: folder)
      #expect(output.status == 64)
      #expect(output.messages.contains("which this run reads"))
    }
    #expect(try folder.text("bad.txt") == Logs.header + "never,,,,,\n")
  }

  @Test func `Rejects never go over the store`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    try folder.write(Logs.header + "never,,,,,\n", to: "bad.csv")
    #expect(try Tool.run("import", "bad.csv", "--store", "s", "--rejects", "./s", in: folder).status == 64)
    #expect(try rows() == Self.twoRows)
  }

  // MARK: Sources

  @Test(arguments: ["cat log.csv", "gzip -c log.csv", "cat first.gz rest.gz"])
  func `Standard input is read plain or compressed`(_ source: String) throws {
    try folder.write(Logs.header, to: "first")
    try folder.write(String(Logs.two.dropFirst(Logs.header.count)), to: "rest")
    let output = try Tool.shell(
      "gzip first rest; \(source) | \"$surfjournal\" import - --store s --json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try output.json().counts.inserted == 2)
    #expect(try rows() == Self.twoRows)
  }

  @Test func `Gzip is known by its bytes and not by its name`() throws {
    let script = "gzip -c log.csv > packed.csv; cp log.csv plain.gz; "
    for name in ["packed.csv", "plain.gz"] {
      let output = try Tool.shell(script + "\"$surfjournal\" import \(name) --store s-\(name)", in: folder)
      #expect(output.status == 0)
      #expect(try rows("s-\(name)") == Self.twoRows)
    }
  }

  @Test func `An archive is refused by name, as an issue of the file`() throws {
    try Programs.python("open('log.7z', 'wb').write(bytes.fromhex('377abcaf271c') + bytes(90))", in: folder)
    let output = try Tool.run("import", "log.7z", "--store", "s", "--json", in: folder)
    #expect(output.status == 65)
    #expect(try output.json().issues.counts == ["format-error": 1])
    #expect(output.messages.contains("is a 7-Zip archive; unpack it"))
    #expect(!folder.exists("s"))
  }

  @Test func `Gzip that was cut off keeps the records before the fault`() throws {
    try Logs.write(records: 50_000, to: "big.csv", in: folder)
    let output = try Tool.shell(
      "gzip -c big.csv | head -c 20000 > cut.gz; \"$surfjournal\" import cut.gz --store s --json --chunk-rows 100",
      in: folder)
    #expect(output.status == 65)
    let summary = try output.json()
    #expect(summary.outcome == "failed")
    #expect(summary.issues.counts == ["compression-error": 1])
    #expect(summary.issues.listed.first?.byte ?? 0 > 0)
    #expect(output.messages.contains("byte 20000 of the compressed file"))
    let stored = try Programs.sqlite(
      "s", "SELECT count(*), max(Z_PK), max(CAST(substr(ZLOCATION, 7) AS INTEGER)) FROM ZJOURNALENTRY",
      in: folder)
    #expect(stored == "\(summary.counts.inserted)|\(summary.counts.inserted)|\(summary.counts.inserted)\n")
    #expect(summary.counts.inserted > 100)
    #expect(summary.counts.isConserved)
  }

  // MARK: Reports

  @Test func `The JSON summary is JSON to others too, and has the exit status`() throws {
    for command in ["import", "validate"] {
      let output = try Tool.run(command, Repository.dirtyLog, "--store", command, "--json", in: folder)
      try folder.write(output.text, to: "summary.json")
      let read = try Programs.python(
        """
        import json
        s = json.load(open("summary.json"))
        print(s["kind"], s["exitCode"], s["counts"]["read"], len(s["issues"]["listed"]) == s["issues"]["errors"])
        """, in: folder)
      #expect(read == "\(command) 65 60 True\n")
    }
  }

  @Test func `Quiet says nothing when nothing is wrong, and all when something is`() throws {
    let clean = try Tool.run("import", "log.csv", "--store", "s", "--quiet", in: folder)
    #expect(clean.status == 0)
    #expect(clean.text.isEmpty)
    #expect(clean.messages.isEmpty)
    let dirty = try Tool.run("validate", Repository.dirtyLog, "-q", in: folder)
    #expect(dirty.status == 65)
    #expect(dirty.text.contains("What is wrong:"))
  }

  @Test(arguments: ["import", "validate"])
  func `A report is written to each file that was asked for, as its name says`(_ command: String) throws {
    try folder.makeFolder("reports")
    let output = try Tool.run(
      command, Repository.dirtyLog, "--store", "s", "--report", "reports/r.txt", "--report", "reports/r.json",
      in: folder)
    #expect(output.status == 65)
    let text = try folder.text("reports/r.txt")
    #expect(text.hasPrefix("surf-log: \(command == "import" ? "import" : "dry run") done, 36 errors\n"))
    // The file has every issue, the terminal the first ones, those with equal messages once.
    #expect(text.contains("unterminated-quote: "))
    #expect(output.text.contains("… and 5 more"))
    let summary = try JSONDecoder().decode(Summary.self, from: folder.data("reports/r.json"))
    #expect(summary.kind == command)
    #expect(summary.issues.listed.count == 36)
    // Rejects are next to the report.
    #expect(folder.exists("reports/surf-log-dirty.csv.rejects.csv") == (command == "import"))
  }

  @Test func `A failed run is reported as well`() throws {
    #expect(try Tool.run("import", "none.csv", "--store", "s", "--report", "r.json", in: folder).status == 66)
    let summary = try JSONDecoder().decode(Summary.self, from: folder.data("r.json"))
    #expect(summary.outcome == "failed")
    #expect(summary.exitCode == 66)
  }

  @Test func `The conservation law holds, and the dry run's counts are the import's`() throws {
    for log in [Repository.cleanLog, Repository.cleanLogGzip, Repository.dirtyLog] {
      let options = ["--json", "--chunk-rows", "7"]
      let dry = try Programs.run(Tool.url.path, ["validate", log] + options, in: folder).json()
      let real = try Programs.run(
        Tool.url.path, ["import", log, "--store", "s-\(UUID().uuidString)"] + options, in: folder
      ).json()
      #expect(dry.counts == real.counts)
      #expect(dry.counts.isConserved)
      #expect(dry.issues.listed == real.issues.listed)
    }
  }

  // MARK: The store

  @Test func `A second import goes on where the first one's keys ended`() throws {
    for _ in 1...3 { _ = try Tool.run("import", "log.csv", "--store", "s", "--again", in: folder) }
    let keys = try Programs.sqlite(
      "s", "SELECT group_concat(Z_PK), (SELECT Z_MAX FROM Z_PRIMARYKEY) FROM ZJOURNALENTRY", in: folder)
    #expect(keys == "1,2,3,4,5,6|6\n")
  }

  @Test func `A dry run with a store leaves it as it is, byte for byte`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    let before = try folder.hashes(["s"])
    #expect(try Tool.run("validate", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try folder.hashes(["s"]) == before)
    #expect(try folder.names == ["log.csv", "s"])
    try folder.write("no store", to: "t")
    #expect(try Tool.run("validate", "log.csv", "--store", "t", in: folder).status == 65)
  }

  @Test func `A store's folder is made if it is not there`() throws {
    #expect(try Tool.run("import", "log.csv", "--store", "new/deep/s", in: folder).status == 0)
    #expect(try rows("new/deep/s") == Self.twoRows)
  }

  @Test func `Of imports into one store at the same time one goes in, and the others say that they have to wait`()
    throws
  {
    try Logs.write(records: 20_000, to: "big.csv", in: folder)
    let output = try Tool.shell(
      """
      for n in 1 2 3; do "$surfjournal" import big.csv --store s --chunk-rows 500 -q & done
      for job in $(jobs -p); do wait $job; echo $?; done
      """, in: folder)
    let statuses = output.text.split(separator: "\n")
    #expect(statuses.count == 3)
    #expect(statuses.allSatisfy { $0 == "0" || $0 == "75" }, "\(output.messages)")
    #expect(statuses.contains("0"))
    #expect(
      try Programs.sqlite(
        "s", "SELECT count(*), max(Z_PK) FROM ZJOURNALENTRY; PRAGMA integrity_check", in: folder)
        == "20000|20000\nok\n")
  }
}
