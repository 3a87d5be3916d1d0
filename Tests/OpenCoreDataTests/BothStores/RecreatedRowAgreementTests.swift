import Testing

// Rule (docs/invariants.md): a row that others have deleted and that a context writes again has both ends of its
// relationships, and leads to nothing that is gone.

@Suite("All stores agree about the links of a row that is written again")
struct RecreatedRowAgreementTests {
  /// What the stores have after a context has changed a row that another one has deleted, with `others` or without.
  private func links(deletes others: [Int]) throws -> [String] {
    try StoreKind.available.map { kind in
      let player = try AgreementPlayer(kind, policies: Array(repeating: .overwrite, count: 4), unique: [])
      let values = AgreementValues(place: "Pipe", rating: 3)
      for _ in 0..<2 { _ = try player.take(.insert(entityName: "Session", values: values), in: 2) }
      _ = try player.take(.relate(.set(0, "next", to: 1)), in: 2)
      _ = try player.take(.save, in: 2)
      _ = try player.take(.change(0, AgreementValues(rating: 4)), in: 2)
      // Now the context knows what the object leads to.
      _ = try player.state(isLinked: true)
      for number in [0] + others { _ = try player.take(.delete(number), in: 3) }
      _ = try player.take(.save, in: 3)
      #expect(try player.take(.save, in: 2) == "done")
      return try player.links()
    }
  }

  @Test("The other end leads back")
  func otherEnd() throws {
    let expected = "Session 1 next Session 2\nSession 2 previous Session 1"
    #expect(try links(deletes: []) == StoreKind.available.map { _ in expected })
  }

  @Test("What is gone is not led to")
  func goneEnd() throws { #expect(try links(deletes: [0]) == StoreKind.available.map { _ in "" }) }
}
