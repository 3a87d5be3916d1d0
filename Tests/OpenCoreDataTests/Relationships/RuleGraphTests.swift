import TestSupport
import Testing

// Rules (Apple documentation: Core Data Programming Guide, "Relationship Delete Rules", "Managed Object Validation";
// NSRelationshipDescription, minCount and maxCount): a save is refused as long as a deleted object leads by a relationship
// with the rule deny to one that stays (1600), as a mandatory object is missing (1570), or as there are too few or too many
// (1580, 1590); a refused save changes nothing. An object at one end of a pair leaves its former partner, also of another
// entity. A relationship without an inverse loses what is deleted.

@Suite("Any sequence of changes that saves may refuse", .seeded, .overBothStores)
struct RuleGraphTests {
  @Test("The chain and its reference agree about objects and refusals", arguments: Randomness.seeds(4, long: 400))
  func agreement(seed: UInt64) throws {
    let player = try RulePlayer(seed: seed)
    let found = player.play(steps: 250)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test("Saves are refused for each of the rules, and others are not")
  func refusals() throws {
    var codes: Set<Int> = []
    for seed in UInt64(1)...12 where codes.count < 5 {
      let player = try RulePlayer(seed: seed)
      #expect(player.play(steps: 250) == nil)
      codes.formUnion(player.codes)
    }
    #expect(codes == [0, 1570, 1580, 1590, 1600])
  }

  @Test("The reference can fail: a rule that it forgets is noticed", arguments: RuleReference.Forgotten.allCases)
  func canary(rule: RuleReference.Forgotten) throws {
    let isFound = try (UInt64(1)...12).contains { seed in
      try RulePlayer(seed: seed, forgetting: rule).play(steps: 250) != nil
    }
    #expect(isFound)
  }
}
