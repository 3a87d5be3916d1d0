import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSDeleteRule, NSManagedObjectContext): what a cascade deletes is announced, found and saved
// as if each object had been deleted. Random sequences run on plain dictionaries, and on contexts that make an object for
// each row.

@Suite("Cascades over rows without objects", .seeded, .overBothStores)
struct PackedCascadeTests {
  @Test("The chain, its rows and the reference agree", arguments: Randomness.seeds(8, long: 400))
  func agreement(seed: UInt64) throws {
    let found = try CascadePlayer(seed: seed, packs: true).play(rounds: 3)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
  }

  @Test("The reference can fail: an inner box that stays is noticed")
  func canary() throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      try CascadePlayer(seed: seed, packs: true, keepsInnerBoxes: true).play(rounds: 2) != nil
    }
    #expect(isFound)
  }
}

@Suite("Deletions with objects and without, side by side", .seeded)
struct PackedDeletionTests {
  @Test(
    "Clients see the same, and the rows are the same, whatever others change meanwhile",
    arguments: Randomness.seeds(8, long: 400))
  func agreement(seed: UInt64) throws {
    for hasRivals in [false, true] {
      let packed = try CascadePlayer(seed: seed, packs: true, hasRivals: hasRivals)
      let single = try CascadePlayer(seed: seed, packs: false, hasRivals: hasRivals)
      let found = try [packed.play(rounds: 3), single.play(rounds: 3)]
      #expect(found == [nil, nil], "seed \(seed)")
      #expect(single.diary.packedCount == 0)
      let difference = zip(packed.diary.seen, single.diary.seen).first { $0 != $1 }
      #expect(difference == nil && packed.diary.seen.count == single.diary.seen.count, "seed \(seed)")
      #expect(try packed.dump() == single.dump(), "seed \(seed)")
    }
  }

  @Test("The sequences reach rows without objects")
  func coverage() throws {
    let counts = try (UInt64(1)...6).map { seed in
      let player = try CascadePlayer(seed: seed, packs: true)
      _ = try player.play(rounds: 2)
      return player.diary.packedCount
    }
    #expect(counts.count { $0 > 0 } > 2, "\(counts)")
  }
}
