import TestSupport
import Testing

// Rules (Apple documentation: NSMergePolicy, by Apple's header; Deviations, "Saves, conflicts and merge policies"): a to-one
// relationship is a property like an attribute. Under the rollback policy what an object in conflict has changed is taken
// back, links at both ends; where the store trumps, what both have changed; where the object trumps, nothing; the policy
// overwrite saves all that an object in conflict has. Changes of objects that are not in conflict are saved.

@Suite("Any changes of two contexts under a merge policy", .seeded, .overBothStores)
struct PolicyGraphTests {
  @Test(
    "The store is as the reference, at both ends of each link", arguments: Policy.allCases,
    Randomness.seeds(4, long: 200))
  func agreement(policy: Policy, seed: UInt64) throws {
    let player = try PolicyPlayer(policy, seed: seed)
    let found = player.play(rounds: 25)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    #expect(player.conflictCount > 3)
  }

  @Test("The reference can fail: no policy is taken for another one", arguments: Policy.allCases)
  func canary(policy: Policy) throws {
    for assumed in Policy.allCases where assumed != policy {
      let isFound = try (UInt64(1)...6).contains { seed in
        try PolicyPlayer(policy, seed: seed, assuming: assumed).play(rounds: 25) != nil
      }
      #expect(isFound, "\(assumed)")
    }
  }
}
