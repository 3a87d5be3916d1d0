import Foundation
import TestSupport
import Testing

/// The connection of a program ends at one of its commits: the server may have committed or not, and may say so late. No
/// record is lost or doubled.
@Suite(.seeded, .enabled(if: PostgreSQLServer.isThere, serverComment)) struct CutCommitTests {
  private static let cuts = [ConnectionCutter.Cut.answer, .commit, .commitLate(700)]
  private static let importing = ["import", "a.csv", "--pipeline", "./nightly.json", "--quiet", "--store"]
  private static let completed: Int32 = 65

  private let world: PlannedImport
  init() throws {
    world = try PlannedImport()
    try world.writeLog("a.csv", records: 600)
  }

  /// Runs the program over a connection that is cut at a commit.
  private func run(
    _ arguments: [String], in world: PlannedImport, cut: ConnectionCutter.Cut? = nil, after commits: Int = 0
  ) throws -> (output: ProgramOutput, cutter: ConnectionCutter) {
    let cutter = try ConnectionCutter(before: world.server)
    defer { cutter.stop() }
    let address = try #require(URL(string: world.address).flatMap(cutter.address))
    if let cut { cutter.cutNextCommit(cut, after: commits) }
    return (try Programs.run(Tool.url.path, arguments + [address.absoluteString], in: world.folder), cutter)
  }

  /// Some of the commits, in the long series all.
  private func places(_ count: Int) throws -> [Int] {
    try #require(count > 5)
    var random = Randomness.generator()
    return Array((0..<count).shuffled(using: &random).prefix(TestLength.rounds(3, long: count)))
  }

  @Test(arguments: cuts)
  func `An import is complete, or says that it is not, and a repetition completes it`(_ cut: ConnectionCutter.Cut)
    throws
  {
    let (whole, counting) = try run(Self.importing, in: world)
    #expect(whole.status == Self.completed, "\(whole.messages)")
    let expected = try world.rows(of: world.address)
    try #require(expected.count == 588)
    for place in try places(counting.commitCount) {
      let world = try PlannedImport()
      try world.writeLog("a.csv", records: 600)
      let (output, cutter) = try run(Self.importing, in: world, cut: cut, after: place)
      #expect(cutter.cutCount == 1, "commit \(place)")
      #expect([Self.completed, 69, 75].contains(output.status), "\(cut) \(place): \(output.status) \(output.messages)")
      if output.status != Self.completed {
        #expect(!output.messages.isEmpty)
        let again = try Programs.run(Tool.url.path, Self.importing + [world.address], in: world.folder)
        #expect([0, Self.completed].contains(again.status), "\(cut) \(place): \(again.status) \(again.messages)")
      }
      #expect(try world.rows(of: world.address) == expected, "\(cut) \(place)")
    }
  }

  @Test(arguments: cuts)
  func `A worker goes on, and the plan has what one machine imports`(_ cut: ConnectionCutter.Cut) throws {
    let plan = try world.plan("a.csv", shardBytes: 8000)
    let working = ["work", "--plan", plan, "--quiet", "--store"]
    let (whole, counting) = try run(working, in: world)
    #expect(whole.status == 0, "\(whole.messages)")
    for place in try places(counting.commitCount) {
      let world = try PlannedImport()
      try world.writeLog("a.csv", records: 600)
      let plan = try world.plan("a.csv", shardBytes: 8000)
      let (output, cutter) = try run(["work", "--plan", plan, "--quiet", "--store"], in: world, cut: cut, after: place)
      #expect(cutter.cutCount == 1 && output.status == 0, "\(cut) \(place): \(output.status) \(output.messages)")
      try world.compare(plan, files: "a.csv")
    }
  }

  @Test func `A worker whose server does not come back ends in time, and another one completes its shard`() throws {
    let plan = try world.plan("a.csv", shardBytes: 8000)
    let working = ["work", "--plan", plan, "--quiet", "--retry-seconds", "1", "--store"]
    let (output, cutter) = try run(working, in: world, cut: .answerForGood, after: 5)
    #expect(cutter.cutCount == 1 && output.status == 69, "\(output.status) \(output.messages)")
    #expect(try world.run("work", "--plan", plan, "--quiet", "--store", world.address).status == 0)
    try world.compare(plan, files: "a.csv")
  }
}
