import Foundation
import Glibc
import TestSupport
import Testing

/// Every call of every kind of run goes wrong once: it fails, is cut short, or is the last one of the process. A few
/// calls by chance in the short series, all of them in the long one.
///
/// The run must end with a status that fits, its store must be sound, and a repetition must reach what an undisturbed
/// run reaches: the same rows, the same files, and no others.
@Suite(.seeded) struct FaultAtCallTests {
  @Test(arguments: RunKind.all)
  func `Whatever call fails or is the last, a repetition ends as an undisturbed run does`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    var random = kind.generator
    let points = FaultPoint.points(of: stage, using: &random)
    var happened = 0
    for point in points {
      let (problems, hasHappened) = try stage.problems(with: point.mode.fault(at: point.number))
      expectNone(problems)
      if hasHappened { happened += 1 }
    }
    // Threads make some more or some fewer calls from run to run.
    #expect(happened * 10 >= points.count * 9 - 10, "only \(happened) of \(points.count) faults happened")
    Figures.add("faults: \(kind.name)", happened, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of a fault at every call: \(kind.name)", 1, suite: Self.self) }
    print("\(kind.name): \(happened) faults, seed \(Randomness.seed)")
  }

  /// SQLite takes a file that the system can't read for a damaged one, and the advice would be to restore the store.
  @Test(arguments: [RunKind.keyed, .undo, .export])
  func `A read that fails is never taken for damage`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    var random = kind.generator
    let count = stage.undisturbed.counts[.read, default: 0]
    for _ in 0..<TestLength.rounds(6, long: count) {
      let number = Int.random(in: 1...count, using: &random)
      expectNone(try stage.problems(with: Fault(.fail(EIO), calls: [.read], at: number)).found)
    }
  }

  /// It would be made anew, left out, or said not to exist.
  @Test(arguments: RunKind.all)
  func `What the system can't tell of a file or folder is not taken for its absence`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    var random = kind.generator
    var refused = 0
    for call in [Fault.Call.list, .look] {
      let count = stage.undisturbed.counts[call, default: 0]
      for number in Array(0..<count).shuffled(using: &random).prefix(TestLength.rounds(1, long: count)) {
        let (problems, happened) = try stage.problems(with: Fault(.fail(EIO), calls: [call], at: number + 1))
        expectNone(problems)
        if happened { refused += 1 }
      }
    }
    #expect(refused > 0)
    Figures.add("looks and listings refused: \(kind.name)", refused, suite: Self.self)
  }

  /// SQLite's own syncs fail then, and with them the run.
  @Test(arguments: [RunKind.plain, .inbox, .replay, .seed, .export, .parts])
  func `A sync that a signal interrupts is made again`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    var random = kind.generator
    let count = stage.undisturbed.counts[.sync, default: 0]
    try #require(count > 1)
    for number in Array(1...count).shuffled(using: &random).prefix(TestLength.rounds(4, long: count)) {
      expectNone(try stage.problems(with: FaultMode.interruptedSync.fault(at: number)).found)
    }
  }

  /// The store has all records of the input but the last five.
  @Test func `An input that can't be read for its comparison is not imported`() throws {
    let stage = try FaultStage(
      RunKind(name: "known records", arguments: RunKind.load("p.json")) { folder in
        try folder.write(RunKind.records(0..<60, badEvery: nil), to: "a.csv")
        try RunKind.tool(["import", "a.csv", "--store", "s", "--pipeline", "p.json", "-q"], in: folder)
        try folder.write(RunKind.records(0..<65, badEvery: nil), to: "log.csv")
      })
    #expect(stage.status == 65)
    var fault = Fault(.fail(EIO), calls: [.read], at: 1)
    fault.nameEnd = "/log.csv"
    while true {
      try stage.reset()
      let (output, report) = try stage.run(fault)
      if report.fired == 0 { break }
      #expect([65, 74].contains(output.status), "\(fault): \(output.messages)")
      #expect(try LeftFiles.rows("s", in: stage.work).count == 60, "\(fault): \(output.messages)")
      fault.number += 1
    }
    #expect(fault.number > 3)
  }

  /// The rejects have two names for a moment: the one that they had to take, and the one that they take back.
  @Test(arguments: [[Fault.Call.rename, .unlink], Fault.Call.steps])
  func `Killed while rejects avoid a name and take it back, they have it in the end, and no other`(
    _ calls: [Fault.Call]
  ) throws {
    let stage = try FaultStage(.again)
    let count = calls.reduce(0) { $0 + stage.undisturbed.counts[$1, default: 0] }
    var random = Randomness.generator()
    let isWhole = calls.count == 2 || TestLength.isLong
    let numbers = isWhole ? Array(1...count) : (0..<15).map { _ in Int.random(in: 1...count, using: &random) }
    for number in numbers {
      try stage.reset()
      let (_, report) = try stage.run(Fault(.kill, calls: calls, at: number))
      try stage.runAgain()
      let names = try stage.work.names.filter { $0.hasPrefix("log.csv.rejects") }.sorted()
      #expect(
        names == ["log.csv.rejects.csv", "log.csv.rejects.csv.jsonl"], "call \(number), \(report.call): \(names)")
      let rejects = try names.first.map { try stage.work.text($0) }
      #expect(rejects?.split(separator: "\n").count == 13, "\(report.call)")
    }
  }

  /// Its rejects have no name yet, and no later run gives them one.
  @Test(arguments: [RunKind.undoOfInterrupted, .undoOfUnreported])
  func `Killed at any name that it gives or removes, an undo leaves rejects with their name, or none`(
    _ kind: RunKind
  ) throws {
    let stage = try FaultStage(kind)
    #expect(try stage.expectNone(atEach: Fault(.kill, calls: [.rename, .unlink])) > 2)
    let rejects = try stage.work.names.filter { $0.contains("reject") }
    #expect(
      rejects
        == (kind.name == RunKind.undoOfUnreported.name ? ["log.csv.rejects.csv", "log.csv.rejects.csv.jsonl"] : []))
  }

  @Test func `Killed at any name that it gives or removes, an import next to left details ends well`() throws {
    let stage = try FaultStage(.leftDetails)
    #expect(try stage.expectNone(atEach: Fault(.kill, calls: [.rename, .unlink])) > 2)
    #expect(try stage.work.names.contains("log.csv.rejects.2.csv"))
  }

  // MARK: Canaries

  @Test func `A row that is lost, doubled or changed is found`() throws {
    let stage = try FaultStage(.plain)
    let harms = [
      "DELETE FROM ZJOURNALENTRY WHERE Z_PK = 3",
      "INSERT INTO ZJOURNALENTRY SELECT 9999, Z_ENT, Z_OPT, ZRATING, ZDATE, ZHEIGHT, ZLOCATION, ZPERIOD, ZWIND "
        + "FROM ZJOURNALENTRY WHERE Z_PK = 3",
      "UPDATE ZJOURNALENTRY SET ZRATING = 9 WHERE Z_PK = 3",
    ]
    for harm in harms {
      // The last call: the whole run is in the store.
      let last = stage.undisturbed.counted
      let (problems, happened) = try stage.problems(with: Fault(.terminate, at: last - 20)) { folder in
        try sqlite(folder.path("s"), harm)
      }
      #expect(happened)
      #expect(problems.contains { $0.contains("rows of s: ") }, "\(harm): \(problems)")
    }
  }

  /// As a program leaves it that commits the entries first, and the ledger in a transaction of its own.
  @Test func `A checkpoint outside of the transaction of its chunk is found`() throws {
    let stage = try FaultStage(.plain)
    /// Ends the run at a write to the log, and returns the number of entries that are in the store then.
    func rows(at number: Int) throws -> Int {
      try stage.reset()
      var fault = Fault(.kill, calls: [.write], at: number)
      fault.nameEnd = "/s-wal"
      _ = try stage.run(fault)
      guard stage.work.exists("s"), let rows = try? LeftFiles.rows("s", in: stage.work) else { return 0 }
      return rows.count
    }
    let earlier = try TemporaryFolder()
    var (first, later): (Int?, Int?)
    for number in 1...400 where later == nil {
      let count = try rows(at: number)
      if first == nil, count > 0 {
        first = count
        for end in ["", "-wal"] where stage.work.exists("s" + end) {
          try FileManager.default.copyItem(at: stage.work.file("s" + end), to: earlier.file("s" + end))
        }
      } else if let first, count > first {
        later = number
      }
    }
    var fault = Fault(.kill, calls: [.write], at: try #require(later))
    fault.nameEnd = "/s-wal"
    let tables = ["SJ_RUN", "SJ_INPUT", "SJ_ISSUE", "SJ_INSERTED"]
    let swap = tables.map { "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM old.\($0);" }.joined()
    let (problems, happened) = try stage.problems(with: fault) { folder in
      try sqlite(folder.path("s"), "ATTACH '\(earlier.path("s"))' AS old; \(swap)")
    }
    #expect(happened)
    #expect(problems.contains { $0.contains("rows of s: ") }, "\(problems)")
  }

  @Test func `A file that is left over, and one that has another content, are found`() throws {
    let stage = try FaultStage(.plain)
    let fault = Fault(.terminate, at: stage.undisturbed.counted - 20)
    let (left, _) = try stage.problems(with: fault) { try $0.write("", to: ".out.csv.partial") }
    #expect(left.contains { $0.contains("left over: .out.csv.partial") }, "\(left)")
    let (changed, _) = try stage.problems(with: fault) { folder in
      try folder.write(try folder.text("log.csv") + "\n", to: "log.csv")
    }
    #expect(changed.contains { $0.contains("another content: log.csv") }, "\(changed)")
  }

  @Test func `A store that is damaged is found`() throws {
    let stage = try FaultStage(.plain)
    let (problems, _) = try stage.problems(with: Fault(.terminate, at: stage.undisturbed.counted - 1)) { folder in
      var bytes = try folder.data("s")
      for index in 4096 * 3..<4096 * 4 { bytes[index] = 0xFF }
      try bytes.write(to: folder.file("s"))
    }
    #expect(problems.contains { $0.contains("integrity: ") }, "\(problems)")
  }
}
