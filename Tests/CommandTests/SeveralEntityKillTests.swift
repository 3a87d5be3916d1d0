import Foundation
import TestSupport
import Testing

/// A run of several files for several entities that is killed before any call that changes a file, and run again, ends as
/// if nothing had happened.
@Suite(.serialized, .seeded) struct SeveralEntityKillTests {
  static let points = TestLength.rounds(4, long: 200)

  private let folder: TemporaryFolder
  private let calls: FileCalls
  init() throws {
    folder = try TemporaryFolder()
    calls = try FileCalls()
    try LinkedSample.prepare(folder)
    for name in ["spots.csv", "boards.csv", "sessions.csv"] {
      let lines = try String(contentsOf: Repository.file("SampleData/\(name)"), encoding: .utf8)
        .split(separator: "\n").prefix(61)
      try folder.write(lines.joined(separator: "\n") + "\n", to: name)
    }
  }

  private static let tables = """
    PRAGMA integrity_check; SELECT * FROM ZSESSION ORDER BY 1; SELECT * FROM ZSPOT ORDER BY 1;
    SELECT * FROM ZBOARD ORDER BY 1; SELECT * FROM Z_1SESSIONS ORDER BY 1, 2; SELECT * FROM Z_PRIMARYKEY ORDER BY 1;
    SELECT path, entity, state, recordsRead, inserted, updated, rejected FROM SJ_INPUT
    """

  @Test(arguments: [false, true])
  func `Killed at any point and run again, all files are imported once`(_ isAtomic: Bool) throws {
    let sample = try String(contentsOf: Repository.file("SampleData/surfing.json"), encoding: .utf8)
    try folder.write(
      sample.replacingOccurrences(
        of: "\"store\": \"surfing.sqlite\",", with: "\"store\": \"s\", \"chunkRows\": 9, \"atomic\": \(isAtomic),"),
      to: "surfing.json")
    let command = ["run", "./surfing.json", "--report", "r.json", "-q"]
    func outcome(_ body: () throws -> Void) throws -> [String] {
      for name in try folder.names where name == "s" || name.hasPrefix("s-") || name.hasPrefix("s.") || name == "r.json"
      {
        try FileManager.default.removeItem(at: folder.file(name))
      }
      try body()
      let report = try Programs.python(
        "import json; r = json.load(open('r.json')); print(r['counts'], r['entities'], r['links'])", in: folder)
      return [try Programs.sqlite("s", Self.tables, in: folder), report]
    }
    let undisturbed = try outcome { () throws in
      let output = try calls.run(command, in: folder)
      #expect(output.status == 0, "\(output.messages)")
    }
    // After its report is in place a run is complete, and the next one has nothing to report.
    let count = try #require(try calls.log.lastIndex { $0.contains("r.json") })
    try #require(count > 20)
    var random = Randomness.generator()
    var killed = 0
    for _ in 0..<Self.points {
      let point = Int.random(in: 1...count, using: &random)
      let found = try outcome {
        if try calls.run(command, in: folder, killedAt: point).status == 128 + SIGKILL { killed += 1 }
        expectNone(try Conservation.problems(in: folder).map { "killed before call \(point): \($0)" })
        #expect(try Programs.run(Tool.url.path, command, in: folder).status == 0)
      }
      #expect(found == undisturbed, "killed before call \(point)")
      expectNone(try Conservation.problems(in: folder).map { "killed before call \(point), run again: \($0)" })
      #expect(try Tool.run("verify", "s", in: folder).status == 0)
    }
    Figures.add("kills", killed, suite: Self.self)
    #expect(killed * 2 > Self.points)
  }
}
