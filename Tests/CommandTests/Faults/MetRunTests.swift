import Foundation
import Glibc
import TestSupport
import Testing

/// A run of any kind stands still at one of its calls. The same run comes a second time then, and a reader of the store;
/// after that the first one is killed or cancelled there, or goes on. A few calls by chance in the short series, all of
/// them in the long one.
@Suite(.seeded) struct MetRunTests {
  @Test(arguments: RunKind.all)
  func `A run that another one meets at any call, and that is killed there, leaves work for a repetition only`(
    _ kind: RunKind
  ) throws {
    try expectSound(kind, "kills where others meet a run") { process, _ in
      process.signal(SIGKILL)
      return nil
    }
  }

  @Test(arguments: RunKind.all)
  func `A run that another one meets at any call goes on as if it were alone, or is refused`(_ kind: RunKind) throws {
    try expectSound(kind, "calls at which others meet a run") { process, stage in
      process.signal(SIGCONT)
      // The other one may have been first.
      return try problem(of: process, on: stage, permitting: [75])
    }
  }

  @Test(arguments: RunKind.all)
  func `A run that another one meets at any call, and that is cancelled there, leaves work for a repetition only`(
    _ kind: RunKind
  ) throws {
    try expectSound(kind, "cancellations where others meet a run") { process, stage in
      process.signal(SIGTERM)
      process.signal(SIGCONT)
      return try problem(of: process, on: stage, permitting: [75, 128 + SIGTERM])
    }
  }

  private func problem(
    of process: ChildProcess, on stage: FaultStage, permitting others: Set<Int32>
  ) throws -> String? {
    let status = process.terminationStatus
    if stage.statuses.union(others).contains(status) { return nil }
    return "it ended with \(status): \(try stage.command.own.text("messages"))"
  }

  /// - Parameter end: Ends the process, and returns what is wrong with it.
  private func expectSound(
    _ kind: RunKind, _ figure: String, end: (ChildProcess, FaultStage) throws -> String?
  ) throws {
    let stage = try FaultStage(kind)
    var random = kind.generator
    let numbers = FaultPoint.numbers(of: stage.undisturbed.counted, short: 1, using: &random)
    var met = 0
    for number in numbers {
      try stage.reset()
      let process = try stage.command.start(Fault(.stop, at: number))
      defer { process.signal(SIGKILL) }
      guard process.waitUntilStopped() else { continue }
      met += 1
      let call = try Shim.report(stage.command.own.path("page")).call
      var found = try meet(stage)
      if let problem = try end(process, stage) { found.append(problem) }
      process.waitUntilExit()
      found += try stage.storeProblems() + stage.repetitionProblems(after: 3)
      expectNone(found.map { "\(kind.name), call \(number) (\(call)): \($0)" })
    }
    #expect(met * 10 >= numbers.count * 9, "only \(met) of \(numbers.count) were stopped")
    Figures.add("\(figure): \(kind.name)", met, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of \(figure), at every call: \(kind.name)", 1, suite: Self.self) }
    print("\(kind.name): \(met) \(figure), seed \(Randomness.seed)")
  }

  /// The same run a second time, which may find the store in use, and readers, which find what is committed.
  private func meet(_ stage: FaultStage) throws -> [String] {
    var found: [String] = []
    let other = try stage.runBeside(stage.command.arguments)
    if !stage.statuses.union([75]).contains(other.status) {
      found.append("another one ended with \(other.status): \(other.messages)")
    }
    for store in ["s", "seed"] where stage.work.exists(store) {
      let rows = try LeftFiles.rows(store, in: stage.work)
      let reader = try stage.runBeside(["export", "--store", store, "-o", "-", "-q"])
      switch reader.status {
      case 0:
        let count = reader.text.split(separator: "\n").count - 1
        if count != rows.count { found.append("a reader of \(store) has found \(count) entries, not \(rows.count)") }
      // Before its first commit the file is not a store.
      case 65 where Self.beginnings.contains { reader.messages.contains($0) }: break
      case 66, 75: break
      default: found.append("a reader of \(store) ended with \(reader.status): \(reader.messages)")
      }
    }
    return found
  }

  private static let beginnings = ["the file is empty", "has no Z_METADATA", "has no tables"]
}
