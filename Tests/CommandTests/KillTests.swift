import Foundation
import Glibc
import TestSupport
import Testing

/// An import that is killed at any moment and run again ends as if nothing had happened: rows, keys, ledger, rejects
/// and report.
@Suite(.serialized, .seeded) struct KillTests {
  static let records = 3000
  static let kills = TestLength.rounds(8, long: 200)

  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Self.pipeline, to: "nightly.json")
    try Programs.python(Self.makeInputs, in: folder)
    #expect(
      try Tool.run("import", "before.csv", "--pipeline", "nightly.json", "--store", "base", in: folder).status == 0)
  }

  /// With rejects by rule and by type, updates of stored entries and of the input's own, and unchanged ones.
  static let pipeline = """
    {
      "name": "nightly",
      "columns": [
        { "name": "date", "rules": ["required"] }, "height", "location",
        { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }
      ],
      "key": ["date", "location"], "duplicates": "update", "chunkRows": 40,
      "charts": ["date", "rating", "location"],
      "expect": {
        "records": { "maxPercentOfMean": 100, "severity": "warning" },
        "columns": [
          { "name": "location", "distinctMin": 900, "severity": "warning" },
          { "name": "date", "newestWithinDays": 1, "distinctMax": 400, "severity": "warning" }
        ]
      }
    }
    """

  static let makeInputs = """
    import random
    random.seed(\(Randomness.seed))
    def line(n, rating=None):
        return f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}T{n % 24:02}:00:00Z,{n % 9}ft,Place {n % 17},{rating or n % 5 + 1}\\n"
    header = "date,height,location,rating\\n"
    open("before.csv", "w").write(header + "".join(line(n) for n in range(0, 3000, 3)))
    with open("log.csv", "w") as log:
        log.write(header)
        for n in range(\(records)):
            kind = random.randrange(20)
            if kind == 0: log.write("soon,1ft,Nowhere,3\\n")
            elif kind == 1: log.write(line(n, 9))
            elif kind == 2: log.write("2014-01-01,too few\\n")
            elif kind == 3: log.write(line(random.randrange(n + 1), 5))
            else: log.write(line(n, 4 if kind == 4 else None))
    """

  @Test func `Killed many times between its beginning and its end, it ends the same`() throws {
    // The name is as long as the others: the store's path is in the files whose lengths the ledger has.
    let expected = try #require(try outcome(of: "undisturbed", finish))
    #expect(expected.report.contains("\"updated\""))
    #expect(expected.report.contains("17 different values; expected at least 900"))
    #expect(expected.report.contains("3000 records were read; expected at most 100 % of 1000, the mean"))
    let whole = try secondsOfWholeRun()
    var random = Randomness.generator()
    var hits = 0
    var attempts = 0
    while hits < Self.kills, attempts < 6 * Self.kills {
      attempts += 1
      let found = try outcome(of: "killed-\(attempts + 1000)") { run in
        if try kill(run, after: whole * .random(in: 0.05...0.95, using: &random)) { hits += 1 }
        expectNone(try Conservation.problems(in: folder, at: run))
        // Also where it was killed before its first chunk, or between the last one and the report.
        return try finish(run)
      }
      if let found { try #require(found.difference(from: expected) == nil, "after kill \(hits)") }
    }
    Figures.add("kills", hits, suite: Self.self)
    #expect(hits == Self.kills, "only \(hits) of \(attempts) kills hit the import in its middle")
  }

  // MARK: What is compared

  private struct Outcome: Equatable {
    let rows: String
    let ledger: String
    let rejects: Data
    let details: String
    let report: String

    /// The first line that is not the same, for people.
    func difference(from expected: Outcome) -> String? {
      let parts: [(String, KeyPath<Outcome, String>)] = [
        ("rows", \.rows), ("ledger", \.ledger), ("details", \.details), ("report", \.report),
      ]
      for (name, part) in parts where self[keyPath: part] != expected[keyPath: part] {
        let lines = zip(self[keyPath: part].split(separator: "\n"), expected[keyPath: part].split(separator: "\n"))
        return lines.first { $0 != $1 }.map { "\(name): \($0), expected \($1)" } ?? "\(name) of another length"
      }
      return rejects == expected.rejects ? nil : "rejects"
    }
  }

  /// Runs `body` in a folder of its own and tells what is there afterwards; nil where `body` says that it does not
  /// count.
  private func outcome(of run: String, _ body: (String) throws -> Bool) throws -> Outcome? {
    try folder.makeFolder(run)
    defer { try? FileManager.default.removeItem(at: folder.file(run)) }
    try FileManager.default.copyItem(at: folder.file("base"), to: folder.file("\(run)/s"))
    guard try body(run) else { return nil }
    let store = "\(run)/s"
    expectNone(try Conservation.problems(in: folder, at: run))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(run)).sorted()
    #expect(names == ["log.csv.rejects.csv", "log.csv.rejects.csv.jsonl", "report.json", "s"])
    return Outcome(
      rows: try Programs.sqlite(
        store, "SELECT * FROM ZJOURNALENTRY ORDER BY Z_PK; SELECT * FROM Z_PRIMARYKEY; PRAGMA integrity_check",
        in: folder),
      ledger: try Programs.sqlite(store, Self.ledger, in: folder).replacingOccurrences(of: "/\(run)/", with: "/"),
      rejects: try folder.data("\(run)/log.csv.rejects.csv"),
      details: Self.plain(try folder.text("\(run)/log.csv.rejects.csv.jsonl"), run),
      report: Self.plain(try folder.text("\(run)/report.json"), run))
  }

  /// All but run ids and times.
  private static let ledger = """
    SELECT inputID, pipeline, pipelineDigest, path, state, record, line, byte, contentHash, headBytes, headHash,
      endsOpen, storedBytes, rejectsPath, rejectsBytes, rejectsDetailBytes, rejectsCount, baseKey, recordsRead, inserted,
      updated, unchanged, duplicate, rejected, tally FROM SJ_INPUT ORDER BY inputID;
    SELECT * FROM SJ_ISSUE;
    SELECT pipeline, outcome, exitCode, recordsRead, rejected FROM SJ_RUN WHERE outcome <> 'interrupted' ORDER BY recordsRead;
    """

  /// Without run ids, times, and the note that it was gone on with.
  private static func plain(_ text: String, _ run: String) -> String {
    let notes = [
      #""run" ?: ?"[^"]*""#, #""startedAt" : "[^"]*""#, #""seconds" : [0-9.eE+-]*"#, #""rowsPerSecond" : [0-9]*"#,
      #""memoryPeakBytes" : [0-9]*"#, #""state" : "(imported|resumed|known)""#, #"\n *"firstRecord" : [0-9]*,"#,
      #"\n *"importedAt" : "[^"]*","#,
    ]
    return notes.reduce(text.replacingOccurrences(of: "/\(run)/", with: "/")) { text, note in
      text.replacingOccurrences(of: note, with: "", options: .regularExpression)
    }
  }

  // MARK: Runs

  private func arguments(_ run: String) -> [String] {
    [
      "import", "log.csv", "--pipeline", "nightly.json", "--store", "\(run)/s", "--rejects", "\(run)/",
      "--report", "\(run)/report.json", "-q",
    ]
  }

  private func start(_ run: String) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments(run), in: folder)
  }

  /// Runs it to its end; false where all had been done before, so that there was nothing to report.
  private func finish(_ run: String) throws -> Bool {
    let output = try start(run)
    #expect([0, 65].contains(output.status), "\(output.messages)")
    return output.status == 65
  }

  /// Whether the kill hit the import: the process died of it, and the ledger has some of the input and not all.
  private func kill(_ run: String, after seconds: Double) throws -> Bool {
    let process = Programs.process(Tool.url.path, arguments(run), in: folder)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    Thread.sleep(forTimeInterval: seconds)
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    guard process.terminationStatus == 128 + SIGKILL else { return false }
    let read = try Programs.sqlite(
      "\(run)/s", "SELECT max(recordsRead) FROM SJ_INPUT WHERE state = 'partial'", in: folder)
    guard let records = Int(read.trimmingCharacters(in: .newlines)) else { return false }
    return records * 20 >= Self.records && records * 20 <= 19 * Self.records
  }

  private func secondsOfWholeRun() throws -> Double {
    let times = try (0..<3).map { number in
      let begin = ContinuousClock.now
      _ = try outcome(of: "timed-\(number)", finish)
      return (ContinuousClock.now - begin) / .seconds(1)
    }
    return times.min() ?? 0.1
  }
}
