import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: both ends of a relationship of every kind always agree, an object leaves its former owner, delete rules reach
// what they lead to, a rollback takes everything back, and a save writes what the context shows. What differs from the
// level below counts as changed, with its committed value, and is announced. Random sequences run on a chain of contexts
// and on plain dictionaries.

@Suite("Any sequence of changes of relationships", .seeded, .overBothStores)
struct GraphModelTests {
  @Test("The chain and its reference agree, and so do the rows", arguments: Randomness.seeds(3, long: 400))
  func agreement(seed: UInt64) throws {
    let player = try GraphPlayer(seed: seed)
    let found = try player.play(steps: 120)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test("Any undos and redos lead to the states that were, also over saves", arguments: Randomness.seeds(3, long: 400))
  func undo(seed: UInt64) throws {
    let player = try GraphPlayer(seed: seed, undoes: true)
    let found = try player.play(steps: 160)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test("The reference can fail: an undo that changes an order is noticed")
  func undoCanary() throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      let player = try GraphPlayer(seed: seed, undoes: true)
      player.turnsListsRound = true
      return try player.play(steps: 160) != nil
    }
    #expect(isFound)
  }

  @Test("The reference can fail: changes that do not count, and objects that are not announced, are noticed")
  func changeCanary() throws {
    let player = try GraphPlayer(seed: 1)
    #expect(try player.play(steps: 120) == nil)
    try player.leaf.performAndWait {
      let nodes = player.references[0].nodes
      let parent = try #require(nodes.first { $0 != player.references[0].parent[nodes[0]] })
      player.references[0].parent[nodes[0]] = parent
      try player.object(nodes[0]).setValue(try player.object(parent), forKey: "parent")
      #expect(try player.disagreement() == nil)
      player.references[1] = player.references[0]
      #expect(try player.changeDisagreement() != nil)
      #expect(player.announcementGap(since: GraphReference()) != nil)
    }
  }

  @Test("The reference can fail: an object that stays in its former box is noticed")
  func canary() throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      let player = try GraphPlayer(seed: seed)
      for index in player.references.indices { player.references[index].forgetsFormerBox = true }
      return try player.play(steps: 120) != nil
    }
    #expect(isFound)
  }
}
