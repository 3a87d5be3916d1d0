import Foundation
import TestSupport
import Testing

/// Every kind of run is killed before calls that change files, and run again: the folder is then that of an undisturbed
/// run, with nothing left over.
@Suite(.serialized, .seeded) struct KillPointTests {
  /// Points for each kind of run; in the long series all.
  static let points = TestLength.rounds(2, long: .max)

  private let folder: TemporaryFolder
  private let calls: FileCalls
  init() throws {
    folder = try TemporaryFolder()
    calls = try FileCalls()
  }

  /// All, or the one that `KIND` names.
  static let workloads = Workload.all.filter { workload in
    ProcessInfo.processInfo.environment["KIND"].map { $0 == workload.testDescription } ?? true
  }

  @Test(arguments: workloads)
  func `Killed before any call and run again, it leaves the names and contents of an undisturbed run`(
    _ workload: Workload
  ) throws {
    let (undisturbed, count) = try undisturbed(workload)
    var random = Randomness.generator()
    let points =
      Self.points < count ? (0..<Self.points).map { _ in Int.random(in: 1...count, using: &random) } : Array(1...count)
    let killed = try kill(workload, at: points, undisturbed)
    Figures.add("kills: \(workload.testDescription)", killed, suite: Self.self)
    if killed == count {
      Figures.add("series of a kill at every call: \(workload.testDescription)", 1, suite: Self.self)
    }
    #expect(killed * 2 > points.count, "\(killed) of \(points.count) calls were reached")
  }

  /// Its folder has the store whose ledger names the rejects, which the next run removes where there is no seed.
  @Test func `Killed while it removes its folder, a seed keeps its rejects`() throws {
    let workload = try #require(Workload.all.first { $0.testDescription == "seed" })
    let (undisturbed, count) = try undisturbed(workload)
    try #require(try calls.log.suffix(12).contains { $0.contains("unlink") && $0.hasSuffix(".seeding/summary.json") })
    #expect(try kill(workload, at: Array(count - 20...count), undisturbed) > 15)
  }

  /// The file is gone then, and the next replay begins no run.
  @Test func `Killed at its last calls, a replay leaves no lock after the next one`() throws {
    let workload = try #require(Workload.all.first { $0.testDescription == "replay" })
    let (undisturbed, count) = try undisturbed(workload)
    try #require(try calls.log.last?.contains("s.lock") == true)
    #expect(try kill(workload, at: Array(count - 8...count), undisturbed) > 5)
  }

  /// - Returns: What the run leaves, and how many calls it makes.
  private func undisturbed(_ workload: Workload) throws -> (Remains, count: Int) {
    let undisturbed = try remains(of: workload) {
      _ = try calls.run(workload.command, in: folder, at: "w")
    }
    let count = try calls.log.count
    // An export has the fewest: it changes no file of the store.
    try #require(count > 12)
    return (undisturbed, count)
  }

  /// Kills the run before each of the calls, and compares what a repetition leaves with an undisturbed run.
  ///
  /// - Returns: How many of the calls were reached.
  private func kill(_ workload: Workload, at points: [Int], _ undisturbed: Remains) throws -> Int {
    var killed = 0
    for point in points {
      var call = ""
      var isReported = false
      let found = try remains(of: workload) {
        // Threads make the number of calls differ a little.
        guard try calls.run(workload.command, in: folder, at: "w", killedAt: point).status == 128 + SIGKILL else {
          return
        }
        killed += 1
        call = try calls.log.last ?? ""
        expectNone(
          try Conservation.problems(in: folder, at: "w", seed: "seed.sqlite").map {
            "killed before call \(point): \($0)"
          })
        isReported = try report() == undisturbed.files["r.json"]
        _ = try run(workload)
      }
      if call.isEmpty { continue }
      // A run that was killed after its report, before its input was moved, has nothing to report again. A replay or a
      // seed leaves the report as it is.
      let isSecond = !["replay", "seed"].contains(workload.command[0])
      let isOfSecond = isReported && isSecond && found.files["r.json"]?.hasPrefix("\(Summary.Counts()) ") == true
      let mayDiffer = workload.mayDiffer.union(isOfSecond ? ["r.json"] : [])
      let differences = found.differences(from: undisturbed, ignoring: mayDiffer)
      if differences.isEmpty { continue }
      // A run that was killed at its very end is complete, and the next one is a second.
      let twice = try remains(of: workload) { for _ in 0..<2 { _ = try run(workload) } }
      let others = found.differences(from: twice)
      try #require(others.isEmpty, "killed before call \(point): \(call): \(differences), after two runs \(others)")
    }
    return killed
  }

  private func remains(of workload: Workload, after body: () throws -> Void) throws -> Remains {
    try workload.prepare("w", in: folder)
    try body()
    expectNone(
      try Conservation.problems(in: folder, at: "w", seed: "seed.sqlite").map { "\(workload.testDescription): \($0)" })
    return try Remains(of: "w", in: folder)
  }

  /// What the report that a run has written says; nil without one.
  private func report() throws -> String? {
    folder.exists("w/r.json") ? try Remains.plain(folder.data("w/r.json"), "r.json") : nil
  }

  private func run(_ workload: Workload) throws -> ProgramOutput {
    try Programs.run("/usr/bin/env", ["-C", folder.path("w"), Tool.url.path] + workload.command, in: folder)
  }
}
