import Foundation
import TestSupport
import Testing

/// What is left of an import that is killed or stopped in the middle: whole chunks, keys without gaps.
@Suite(.serialized, .seeded) struct InterruptionTests {
  static let records = 200_000
  static let chunkRows = 5000

  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try Logs.write(records: Self.records, to: "big.csv", in: folder)
  }

  @Test func `kill -9 leaves a sound store of whole chunks, whenever it comes`() throws {
    let whole = try secondsOfWholeImport()
    var random = Randomness.generator()
    let kills = TestLength.rounds(3, long: 30)
    var hits = 0
    var attempts = 0
    while hits < kills, attempts < 5 * kills {
      let share = (Double(attempts % kills) + .random(in: 0.5...1.5, using: &random)) / (Double(kills) + 1.5)
      let store = "killed-\(attempts)"
      attempts += 1
      try kill(after: whole * share, store)
      guard folder.exists(store) else { continue }
      let rows = try checkSound(store)
      if rows > 0, rows < Self.records { hits += 1 }
    }
    Figures.add("kills", hits, suite: Self.self)
    #expect(hits == kills, "only \(hits) of \(attempts) kills hit the import in its middle")
  }

  @Test func `A store whose import was killed takes the next import`() throws {
    let whole = try secondsOfWholeImport()
    try kill(after: whole / 2, "s")
    let before = folder.exists("s") ? try checkSound("s") : 0
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    let keys = try Programs.sqlite("s", "SELECT count(*), max(Z_PK) FROM ZJOURNALENTRY", in: folder)
    #expect(keys == "\(before + 2)|\(before + 2)\n")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `The first signal stops at a chunk border, with 75 and a summary`(_ signal: Int32) throws {
    let output = try runWithSignals([signal])
    #expect(output.status == 75)
    let summary = try output.json()
    #expect(summary.outcome == "cancelled")
    #expect(summary.counts.isConserved)
    #expect(output.messages.contains("stopping at the next chunk"))
    #expect(try checkSound("s") == summary.counts.inserted)
    #expect(summary.counts.inserted < Self.records)
    // The checkpoint is kept: the same command goes on there, and every record is in once.
    let rest = try Tool.run("import", "big.csv", "--store", "s", "--json", in: folder)
    #expect(rest.status == 0)
    #expect(rest.text.contains("\"firstRecord\" : \(summary.counts.read + 1),"))
    #expect(try rest.json().counts == Summary.Counts(read: Self.records, inserted: Self.records))
    #expect(try checkSound("s") == Self.records)
  }

  @Test func `The second signal ends the process at once`() throws {
    let output = try runWithSignals([SIGTERM, SIGTERM])
    #expect(output.status == 128 + SIGTERM || output.status == 75)
    _ = try checkSound("s")
  }

  @Test func `An input that keeps silent does not keep a signal waiting`() throws {
    let output = try Tool.shell(
      """
      mkfifo pipe; exec 3<>pipe
      "$surfjournal" import - --store s --json < pipe & import=$!
      sleep 1; kill -TERM $import; wait $import
      """, in: folder)
    #expect(output.status == 75, "\(output.messages)")
    #expect(try output.json().outcome == "cancelled")
  }

  @Test(arguments: [false, true])
  func `One signal ends an export to a FIFO, without a reader and with one that does not read`(_ reads: Bool) throws {
    #expect(try Tool.run("import", "big.csv", "--store", "s", "-q", in: folder).status == 0)
    let output = try Tool.shell(
      """
      mkfifo pipe
      if \(reads); then sleep 60 < pipe & reader=$!; fi
      "$surfjournal" export --store s -o pipe -q & export=$!
      sleep 1; kill -TERM $export
      for n in $(seq 100); do kill -0 $export 2>/dev/null || break; sleep 0.1; done
      kill -0 $export 2>/dev/null && echo still running && kill -9 $export
      wait $export; status=$?
      if \(reads); then kill $reader; fi
      exit $status
      """, in: folder)
    #expect(output.status == 75, "\(output.messages)")
    #expect(!output.text.contains("still running"))
  }

  @Test func `An export to a FIFO waits for its reader, and is complete`() throws {
    #expect(try Tool.run("import", "big.csv", "--store", "s", "-q", in: folder).status == 0)
    let output = try Tool.shell(
      """
      mkfifo pipe; "$surfjournal" export --store s -o pipe -q & export=$!
      sleep 0.3; (sleep 0.5; cat) < pipe > piped.csv; wait $export || exit $?
      "$surfjournal" export --store s -o out.csv -q && cmp out.csv piped.csv
      """, in: folder)
    #expect(output.status == 0, "\(output.messages)")
  }

  @Test func `A killed export leaves no file under its name`() throws {
    #expect(try Tool.run("import", "big.csv", "--store", "s", "-q", in: folder).status == 0)
    let output = try Tool.shell(
      """
      echo former > out.csv
      "$surfjournal" export --store s -o out.csv -q & export=$!
      for n in $(seq 500); do ls -A | grep -q partial && break; sleep 0.005; done
      kill -9 $export; wait $export; cat out.csv
      """, in: folder)
    #expect(output.text == "former\n")
  }

  // MARK: Helpers

  private func secondsOfWholeImport() throws -> Double {
    let begin = ContinuousClock.now
    let output = try Tool.run(
      "import", "big.csv", "--store", "whole", "--chunk-rows", "\(Self.chunkRows)", in: folder)
    #expect(output.status == 0)
    return begin.duration(to: .now) / .seconds(1)
  }

  private func kill(after seconds: Double, _ store: String) throws {
    let process = try Tool.start(
      "import", "big.csv", "--store", store, "--chunk-rows", "\(Self.chunkRows)", "-q", in: folder)
    Thread.sleep(forTimeInterval: seconds)
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Checks a store with other eyes and answers how many rows it has.
  private func checkSound(_ store: String) throws -> Int {
    // Killed before the transaction that makes the tables was done: a sound file of nothing.
    let tables = try Programs.sqlite(store, "PRAGMA integrity_check; SELECT count(*) FROM sqlite_master", in: folder)
    if tables == "ok\n0\n" { return 0 }
    let found = try Programs.sqlite(
      store,
      """
      PRAGMA integrity_check;
      SELECT count(*), coalesce(min(Z_PK), 1), coalesce(max(Z_PK), 0), (SELECT Z_MAX FROM Z_PRIMARYKEY),
        coalesce(sum(ZLOCATION != 'Place ' || Z_PK), 0) FROM ZJOURNALENTRY;
      """, in: folder)
    let lines = found.split(separator: "\n")
    #expect(lines.first == "ok")
    let numbers = lines.last.map { $0.split(separator: "|").compactMap { Int($0) } } ?? []
    try #require(numbers.count == 5, "\(found)")
    #expect(numbers[0] % Self.chunkRows == 0)
    // Keys follow the order of the file without gaps, and the next one is known.
    #expect(numbers[1...] == [1, numbers[0], numbers[0], 0])
    expectNone(try Conservation.problems(in: folder))
    return numbers[0]
  }

  private func runWithSignals(_ signals: [Int32]) throws -> ProgramOutput {
    let kills = signals.map { "kill -\($0) $import" }.joined(separator: "; ")
    return try Tool.shell(
      """
      "$surfjournal" import big.csv --store s --chunk-rows \(Self.chunkRows) --json & import=$!
      for n in $(seq 1000); do [ "$(stat -c %s s-wal 2>/dev/null || echo 0)" -gt 800000 ] && break; sleep 0.002; done
      \(kills); wait $import
      """, in: folder)
  }
}
