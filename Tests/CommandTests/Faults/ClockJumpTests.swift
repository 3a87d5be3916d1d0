import Foundation
import TestSupport
import Testing

/// The clock of the day jumps during a run, as when a machine gets its time from the network late: the run ends the
/// same. Only measured times and dates in names differ.
@Suite(.seeded) struct ClockJumpTests {
  static let hour = 3600
  static let kinds: [RunKind] = [.plain, .keyed, .inbox, .seed, .export, .undo]

  @Test(arguments: kinds)
  func `A clock that jumps changes nothing that is kept`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    var random = kind.generator
    let jumps = [-20 * 365 * 24 * Self.hour, -24 * Self.hour, -2 * Self.hour, 2 * Self.hour, 20 * 365 * 24 * Self.hour]
    for jump in TestLength.isLong ? jumps : [jumps.randomElement(using: &random) ?? 0] {
      for _ in 0..<TestLength.rounds(1, long: 20) {
        let reading = Int.random(in: 1...60, using: &random)
        try stage.reset()
        let (output, _) = try stage.run(environment: ["SHIM_CLOCK": "\(jump)", "SHIM_CLOCK_AT": "\(reading)"])
        let place: Comment = "\(kind.name): a jump by \(jump) s at reading \(reading): \(output.messages)"
        #expect(output.status == stage.status, place)
        #expect(try LeftFiles(stage.work).differences(from: stage.once) == [], place)
        #expect(try stage.repetitionProblems() == [], place)
      }
    }
  }
}
