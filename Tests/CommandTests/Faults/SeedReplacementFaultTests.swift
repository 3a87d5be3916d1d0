import Foundation
import TestSupport
import Testing

/// A seed takes the place of a store that has large values in files. Killed at any renaming it leaves the old store with
/// its files, the new one, or none, and a repetition makes the seed.
@Suite struct SeedReplacementFaultTests {
  private let work: TemporaryFolder
  private let base: TemporaryFolder
  private let own: TemporaryFolder
  private static let seed =
    ["seed", "--from", "new.csv", "-o", "s.sqlite", "--single-file", "--force", "-q", "--entity", "Session"]
    + ["--model", SurfModel.name, "--report", "r.json"]

  init() throws {
    (work, base, own) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
    try SurfModel.write(to: work)
    try work.write("rating,photo\n1,\(Self.photo(1))\n", to: "old.csv")
    try work.write("rating,photo\n2,\(Self.photo(2))\n", to: "new.csv")
    let made = try Programs.run(
      Tool.url.path, ["import", "old.csv", "--entity", "Session", "-q"] + SurfModel.options, in: work)
    try #require(made.status == 0 && work.exists(".s_SUPPORT"), "\(made.messages)")
    for name in try work.names { try FileManager.default.copyItem(at: work.file(name), to: base.file(name)) }
  }

  private static func photo(_ byte: UInt8) -> String { Data(repeating: byte, count: 140_000).base64EncodedString() }

  private func run(_ fault: Fault) throws -> ShimReport {
    for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
    for name in try base.names { try FileManager.default.copyItem(at: base.file(name), to: work.file(name)) }
    let page = own.path("page")
    _ = try Programs.run(
      Tool.url.path, Self.seed, in: work, environment: try Shim.environment(fault, in: work, page: page))
    return try Shim.report(page)
  }

  /// The one session, read by an export; nil without a store.
  private func session() throws -> String? {
    guard work.exists("s.sqlite") else { return nil }
    let output = try Programs.run(
      Tool.url.path,
      ["export", "--entity", "Session", "--columns", "rating,photo", "-o", "-", "-q"]
        + SurfModel.options, in: work)
    try #require(output.status == 0, "\(output.messages)")
    return output.text.split(separator: "\n").last.map(String.init)
  }

  /// The old store accounts for what it has read, the seed has what its report counts.
  private func lawProblems() throws -> [String] { try Conservation.problems(in: work, seed: "s.sqlite") }

  @Test func `Old with its files, new, or none`() throws {
    let renames = try run(.none).counts[.rename] ?? 0
    let (old, new) = ("1,\(Self.photo(1))", "2,\(Self.photo(2))")
    try #require(session() == new && !work.exists(".s_SUPPORT") && renames > 2)
    var killed = 0
    for number in 1...renames {
      guard try run(Fault(.kill, calls: [.rename], at: number)).fired > 0 else { continue }
      killed += 1
      let found = try session()
      #expect([nil, old, new].contains(found), "killed at renaming \(number)")
      #expect(try lawProblems() == [], "killed at renaming \(number)")
      let again = try Programs.run(Tool.url.path, Self.seed, in: work)
      #expect(again.status == 0, "killed at renaming \(number): \(again.messages)")
      #expect(try session() == new)
      #expect(try lawProblems() == [], "killed at renaming \(number), run again")
      #expect(!work.exists(".s_SUPPORT"), "killed at renaming \(number)")
    }
    Figures.add("kills", killed, suite: Self.self)
  }

  /// What another program has committed is in the WAL alone, and the next run may not replace the store.
  @Test(arguments: [["--single-file"], []])
  func `Killed at any renaming, the old store has its WAL again, or the seed is there`(_ options: [String]) throws {
    let seed = ["seed", "--from", "new.csv", "-o", "s.sqlite", "-q", "--entity", "Session", "--model", SurfModel.name]
    let prepare = {
      for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
      for name in try base.names { try FileManager.default.copyItem(at: base.file(name), to: work.file(name)) }
      // The copy of an open store: closing it would empty the WAL.
      try Programs.output(
        of: ["python3", "-c", Self.commitToWAL, work.path("s.sqlite"), work.path("copy")], in: work)
    }
    let page = own.path("page")
    let run = { (fault: Fault) in
      try prepare()
      let environment = try Shim.environment(fault, in: work, page: page)
      _ = try Programs.run(Tool.url.path, seed + options + ["--force"], in: work, environment: environment)
      return try Shim.report(page)
    }
    let renames = try run(.none).counts[.rename] ?? 0
    try #require(rating() == "2" && renames > 2)
    for number in 1...renames {
      guard try run(Fault(.kill, calls: [.rename], at: number)).fired > 0 else { continue }
      let again = try Programs.run(Tool.url.path, seed + options, in: work)
      #expect([0, 73].contains(again.status), "killed at renaming \(number): \(again.messages)")
      let found = try rating()
      #expect(["7", "2"].contains(found), "killed at renaming \(number): \(found)")
    }
  }

  private static let commitToWAL = """
    import os, shutil, sqlite3, sys
    base = sqlite3.connect(sys.argv[1])
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("UPDATE ZSESSION SET ZRATING = 7")
    base.commit()
    for end in ["", "-wal"]: shutil.copy(sys.argv[1] + end, sys.argv[2] + end)
    base.close()
    for end in ["", "-wal"]: os.replace(sys.argv[2] + end, sys.argv[1] + end)
    """

  /// The one rating, of a copy: the files stay as they are.
  private func rating() throws -> String {
    let copy = try TemporaryFolder()
    for end in ["", "-wal"] where work.exists("s.sqlite" + end) {
      try FileManager.default.copyItem(at: work.file("s.sqlite" + end), to: copy.file("s.sqlite" + end))
    }
    return try sqlite(copy.path("s.sqlite"), "SELECT ZRATING FROM ZSESSION")
  }

  @Test func `A record that a seed has lost, one too many, and a seed without a report are found`() throws {
    let harms: [(TemporaryFolder) throws -> Void] = [
      { try sqlite($0.path("s.sqlite"), "DELETE FROM ZSESSION") },
      { try sqlite($0.path("s.sqlite"), "INSERT INTO ZSESSION (Z_PK, Z_ENT, Z_OPT) VALUES (9, 3, 1)") },
      { try $0.write(try $0.text("r.json").replacing(/"inserted" : 1/, with: "\"inserted\" : 2"), to: "r.json") },
      { try FileManager.default.removeItem(at: $0.file("r.json")) },
    ]
    for (number, harm) in harms.enumerated() {
      _ = try run(.none)
      try #require(lawProblems() == [])
      try harm(work)
      let problems = try lawProblems()
      #expect(problems.contains { $0.contains("seed s.sqlite: ") }, "\(number): \(problems)")
    }
  }
}
