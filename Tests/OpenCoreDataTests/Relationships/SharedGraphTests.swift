import Foundation
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, mergeChanges(fromContextDidSave:), refresh(_:mergeChanges:),
// rollback(); NSMergePolicy): contexts that share a parent or a store keep their own changes over merges and refreshes,
// what each of them saves is a change and not a state, and both ends agree at every moment, in memory and in the rows.

@Suite("Any sequence of changes of relationships in several contexts", .seeded, .overBothStores)
struct SharedGraphTests {
  @Test(
    "Contexts that don't wait for each other agree with the reference, and so do the rows",
    arguments: SharedGraphPlayer.Kind.allCases, Randomness.seeds(2, long: 300))
  func agreement(kind: SharedGraphPlayer.Kind, seed: UInt64) throws {
    let player = try SharedGraphPlayer(kind, seed: seed)
    let found = player.play(steps: 150)
    #expect(found == nil, "seed \(seed), \(kind): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test("The reference can fail: a merge that brings nothing is noticed", arguments: SharedGraphPlayer.Kind.allCases)
  func canary(kind: SharedGraphPlayer.Kind) throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      let player = try SharedGraphPlayer(kind, seed: seed)
      player.forgetsMerges = true
      return player.play(steps: 150) != nil
    }
    #expect(isFound)
  }
}
