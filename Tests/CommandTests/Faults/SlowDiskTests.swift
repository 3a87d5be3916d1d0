import TestSupport
import Testing

/// A file system that is slow at every call, as one over a network is: a run takes longer and ends the same.
@Suite(.serialized) struct SlowDiskTests {
  static let kinds: [RunKind] = [.plain, .keyed, .inbox, .seed, .export, .undo]

  private static func delay(milliseconds: Int32) -> Fault {
    var fault = Fault(.delay(milliseconds: milliseconds), at: 1)
    fault.isLasting = true
    return fault
  }

  @Test(arguments: kinds)
  func `A disk that is slow at every call changes nothing that is kept`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    try stage.reset()
    let begin = ContinuousClock.now
    let (output, report) = try stage.run(Self.delay(milliseconds: 4))
    let took = ContinuousClock.now - begin
    // The calls of several threads wait at the same time.
    #expect(report.fired > 20 && took > .milliseconds(report.fired), "\(kind.name): \(report.fired) calls, \(took)")
    #expect(output.status == stage.status, "\(kind.name): \(output.messages)")
    #expect(try LeftFiles(stage.work).differences(from: stage.once) == [], "\(kind.name)")
    #expect(try stage.repetitionProblems() == [], "\(kind.name)")
  }

  @Test func `A timeout on a slow disk ends a run at a chunk, and the next run does the rest`() throws {
    let (folder, own) = (try TemporaryFolder(), try TemporaryFolder())
    try Logs.write(records: 1500, to: "log.csv", in: folder)
    try folder.write(RunKind.definitions["p.json"] ?? "", to: "p.json")
    let load = ["import", "log.csv", "--store", "s", "--pipeline", "p.json", "-q"]
    let environment = try Shim.environment(Self.delay(milliseconds: 20), in: folder, page: own.path("page"))
    let late = try Programs.run(Tool.url.path, load + ["--timeout", "1"], in: folder, environment: environment)
    #expect(late.status == 75 && late.text.contains("the timeout of 1 s ended it"), "\(late)")
    let rows = "SELECT count(*) FROM ZJOURNALENTRY"
    let count = try #require(Int(try sqlite(folder.path("s"), rows)))
    #expect((0..<1500).contains(count))
    #expect(try sqlite(folder.path("s"), "PRAGMA integrity_check") == "ok")
    let next = try Programs.run(Tool.url.path, load, in: folder)
    #expect(next.status == 0, "\(next.messages)")
    #expect(
      try sqlite(folder.path("s"), "SELECT count(*), count(DISTINCT ZLOCATION) FROM ZJOURNALENTRY") == "1500|1500")
    #expect(try folder.names == ["log.csv", "p.json", "s"])
  }
}
