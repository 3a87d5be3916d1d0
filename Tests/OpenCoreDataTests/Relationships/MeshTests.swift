import OpenCoreData
import TestSupport
import Testing

// Rules: where both sides of a relationship lead to many, each side has its own order; an object that is added comes last
// on an ordered side; a relationship that is its own inverse has both directions. (Apple documentation: Core Data
// Programming Guide, "Creating Managed Object Relationships"; NSRelationshipDescription, isOrdered.)

@Suite("Any sequence of changes of relationships that lead to many on both sides", .seeded, .overBothStores)
struct MeshTests {
  @Test("The chain and its reference agree, and so do the rows", arguments: Randomness.seeds(3, long: 400))
  func agreement(seed: UInt64) throws {
    let player = try MeshPlayer(seed: seed)
    let found = try player.play(steps: 100)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test("Any undos and redos lead to the states that were, also over saves", arguments: Randomness.seeds(3, long: 400))
  func undo(seed: UInt64) throws {
    let player = try MeshPlayer(seed: seed, undoes: true)
    let found = try player.play(steps: 120)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test("A pair that one end removes and adds again keeps its place at the other end", arguments: [1, 2])
  func moved(levels: Int) throws {
    let graph = try LinkedGraph(xml: MeshPlayer.xml, kind: .current)
    var contexts = [graph.context()]
    if levels == 2 { contexts.append(graph.context(contexts[0])) }
    let leaf = contexts[levels - 1]
    func save() throws { for context in contexts.reversed() { try context.performAndWait { try context.save() } } }
    try leaf.performAndWait {
      let knots = (1...3).map { LinkedGraph.make("Knot", $0, in: leaf) }
      let (one, two, three) = (knots[0], knots[1], knots[2])
      one.setValue(NSOrderedSet(array: [two, three]), forKey: "downstream")
      two.setValue(NSOrderedSet(array: [one, three]), forKey: "upstream")
      try save()
      let downstream = one.mutableOrderedSetValue(forKey: "downstream")
      downstream.remove(two)
      downstream.add(two)
      two.setValue(NSOrderedSet(array: [one, three]), forKey: "upstream")
      try save()
    }
    let other = graph.context()
    let found = try other.performAndWait {
      try [(1, "downstream"), (2, "upstream")].map { number, key in
        LinkedGraph.numbers(try LinkedGraph.find("Knot", number, in: other), key)
      }
    }
    #expect(found == [[3, 2], [1, 3]])
  }

  @Test("The reference can fail: an end that keeps what has left it is noticed")
  func canary() throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      let player = try MeshPlayer(seed: seed)
      for index in player.references.indices { player.references[index].keepsRemoved = true }
      return try player.play(steps: 100) != nil
    }
    #expect(isFound)
  }
}
