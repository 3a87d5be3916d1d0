import Testing

/// The protocol of keys: each has one entry, with the values of one machine, whatever comes first, is killed or lost; and each
/// rule is needed.
@Suite struct ShardKeyProtocolTests {
  @Test func `Every interleaving of workers gives each key one entry with the values of one machine`() {
    let found = ShardKeyProtocol(variant: .complete).explore()
    #expect(found.isSafe, "\(found)")
    #expect(found.states > 500, "\(found)")
  }

  @Test(arguments: [
    (ShardKeyProtocol.Variant.withoutVersion, \ShardKeyProtocol.Findings.wrong), (.withoutUniqueness, \.doubled),
    (.orderOfArrival, \.wrong), (.keysInOwnTransaction, \.lost), (.orderOfRecords, \.stuck),
    (.firstComerIsFirst, \.wrong),
  ])
  func `Without one of its rules entries are lost, doubled or wrong, or workers wait for each other`(
    variant: ShardKeyProtocol.Variant, count: KeyPath<ShardKeyProtocol.Findings, Int> & Sendable
  ) {
    let found = ShardKeyProtocol(variant: variant).explore()
    #expect(found[keyPath: count] > 0, "\(found)")
  }
}
