import TestSupport
import Testing

/// The power fails at any moment of a run on a real file system: what the kernel had not written to the disk's blocks is
/// lost, and the file system repairs itself when it is mounted again. Where mounting is not permitted this is skipped.
@Suite(.serialized, .seeded, .enabled(if: LoopDisk.canMount, "this user may not mount a file system"))
struct DiskPowerCutTests {
  static let kinds: [RunKind] = TestLength.isLong ? RunKind.all : [.keyed, .replay, .inbox, .seed]
  static let cuts = TestLength.rounds(1, long: 60)
  /// How ext4 orders data and names; without the journal of data, names may come before what is in the files.
  static let options = ["data=ordered", "data=writeback", "data=ordered,noauto_da_alloc"]

  @Test(arguments: kinds)
  func `After a power cut on a real file system, a repetition ends as an undisturbed run does`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    let disk = try LoopDisk()
    var random = kind.generator
    var happened = 0
    for _ in 0..<Self.cuts {
      let number = Int.random(in: 1...stage.undisturbed.counted, using: &random)
      let options = Self.options.randomElement(using: &random) ?? Self.options[0]
      if try stage.cutPower(on: disk, Fault(.stop, at: number), options: options) { happened += 1 }
      expectNone(
        try (stage.storeProblems() + stage.repetitionProblems()).map {
          "\(kind.name), power cut at call \(number), \(options): \($0)"
        })
    }
    // What a run has reported is on the disk.
    _ = try stage.cutPower(on: disk, .none, options: Self.options[1])
    expectNone(try stage.lossProblems() + stage.storeProblems())
    Figures.add("power cuts on a file system: \(kind.name)", happened, suite: Self.self)
    print("\(kind.name): \(happened) power cuts on ext4, seed \(Randomness.seed)")
  }

  /// The shim reports syncs that do not happen.
  @Test func `A sync that is left out is found on a real file system`() throws {
    let stage = try FaultStage(.plain)
    var fault = Fault(.swallow, calls: [.sync], at: 1)
    fault.isLasting = true
    _ = try stage.cutPower(on: LoopDisk(), fault, options: Self.options[0])
    #expect(try stage.lossProblems() != [])
  }
}
