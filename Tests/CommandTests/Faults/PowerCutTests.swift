import Foundation
import TestSupport
import Testing

/// The power fails at any moment of a run: what was not synced is on the disk or not, piece by piece. The store that is
/// found then must be sound, and a repetition must reach what an undisturbed run reaches. What a run has reported as done
/// is there after a power cut right after its end.
@Suite(.seeded) struct PowerCutTests {
  static let images = TestLength.rounds(2, long: 300)

  @Test(arguments: RunKind.all + [.again, .undoOfInterrupted, .undoOfUnreported])
  func `After a power cut at any moment, a repetition ends as an undisturbed run does`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    let recorded = try stage.record()
    var random = kind.generator
    for number in 1...Self.images {
      let cut =
        number.isMultiple(of: 5) ? recorded.changes.count : Int.random(in: 0...recorded.changes.count, using: &random)
      let rest = PowerCut.Rest.allCases.randomElement(using: &random) ?? .some
      expectNone(try problems(in: (cut, rest), of: recorded, on: stage, using: &random))
    }
    // What a run has reported is on the disk before the report, not after a repetition only.
    try stage.write(image: recorded, after: recorded.changes.count, .nothing, using: &random)
    expectNone(try stage.lossProblems() + stage.storeProblems())
    Figures.add("images after a power cut: \(kind.name)", Self.images, suite: Self.self)
    print("\(kind.name): \(Self.images) images of \(recorded.changes.count) changes, seed \(Randomness.seed)")
  }

  // MARK: Canaries

  /// The shim reports syncs that do not happen, as a program would that leaves them out.
  @Test(arguments: [
    (RunKind.plain, ""), (.plain, ".part"), (.plain, "-wal"), (.inbox, ""), (.export, ""), (.edit, ""), (.replay, ""),
    (.undo, ""), (.increment, ""), (.continued, ".part"),
  ])
  func `A sync that is left out is found`(_ kind: RunKind, _ nameEnd: String) throws {
    let stage = try FaultStage(kind)
    var fault = Fault(.swallow, calls: [.sync], at: 1)
    fault.isLasting = true
    fault.nameEnd = nameEnd
    let recorded = try stage.record(fault)
    var random = SeededGenerator(seed: 1)
    var found: [String] = []
    for cut in stride(from: recorded.changes.count, to: 0, by: -1) where found.isEmpty {
      if cut == recorded.changes.count {
        try stage.write(image: recorded, after: cut, .nothing, using: &random)
        found += try stage.lossProblems()
      }
      for rest in [PowerCut.Rest.nothing, .some] {
        // A file that is left over shows no loss.
        found += try problems(in: (cut, rest), of: recorded, on: stage, using: &random).filter {
          !$0.contains("left over")
        }
      }
    }
    #expect(!found.isEmpty, "no image of \(kind.name) without syncs of \(nameEnd) shows a loss")
  }

  /// The recorded changes with each sync of the rejects behind the commit that it belongs in front of.
  @Test func `A sync of the rejects after the commit is found`() throws {
    let stage = try FaultStage(.plain)
    let recorded = try stage.record()
    let (changes, cuts) = Self.withLateSyncs(recorded.changes)
    try #require(!cuts.isEmpty && changes.count == recorded.changes.count)
    let wrong = Recording(begin: recorded.begin, changes: changes)
    var random = SeededGenerator(seed: 1)
    var found: [String] = []
    for number in 0..<40 where found.isEmpty {
      let cut = cuts[number % cuts.count]
      found += try problems(in: (cut, .someFiles), of: wrong, on: stage, using: &random)
    }
    #expect(!found.isEmpty, "no image shows that the rejects were synced too late")
    // The same images of the order that the program has.
    for cut in cuts { expectNone(try problems(in: (cut, .someFiles), of: recorded, on: stage, using: &random)) }
  }

  /// - Returns: The changes, and the numbers of those before which the power must fail to show it.
  private static func withLateSyncs(_ changes: [RecordedChange]) -> (changes: [RecordedChange], cuts: [Int]) {
    var wal: UInt64?
    for case .create("s-wal", let inode) in changes { wal = inode }
    var (result, held, cuts, hasCommitted) = ([RecordedChange](), [RecordedChange](), [Int](), false)
    for change in changes {
      var isCommit = false
      if case .write(let inode, _, _) = change { isCommit = inode == wal }
      if case .sync(let path, _) = change, path.hasSuffix(".part") {
        held.append(change)
        continue
      }
      if !isCommit, hasCommitted {
        cuts.append(result.count)
        result += held
        (held, hasCommitted) = ([], false)
      }
      result.append(change)
      if isCommit, !held.isEmpty { hasCommitted = true }
    }
    return (result + held, cuts)
  }

  // MARK: Images

  private func problems(
    in image: (cut: Int, rest: PowerCut.Rest), of recorded: Recording, on stage: FaultStage,
    using random: inout SeededGenerator
  ) throws -> [String] {
    try stage.write(image: recorded, after: image.cut, image.rest, using: &random)
    let place =
      "\(stage.kind.name), power cut after change \(image.cut) of \(recorded.changes.count), "
      + "\(image.rest) of the rest: "
    return try (stage.storeProblems() + stage.repetitionProblems()).map { place + $0 }
  }
}
