import Testing

/// The protocol of keys whose records lead to objects: entries lead where one import lets them lead, and all objects that it
/// creates are there once, whatever comes first, is killed or lost; and each rule is needed.
@Suite struct ShardKeyedLinkProtocolTests {
  @Test func `Every interleaving of workers gives the entries, links and objects of one import`() {
    let found = ShardKeyedLinkProtocol(variant: .complete).explore()
    #expect(found.isSafe, "\(found)")
    #expect(found.states > 500, "\(found)")
  }

  @Test(arguments: [
    (ShardKeyedLinkProtocol.Variant.losersCreateNothing, \ShardKeyedLinkProtocol.Findings.lost),
    (.linkOfLastComer, \.wrong), (.withoutVersion, \.wrong), (.orderOfRecords, \.stuck),
  ])
  func `Without one of its rules objects are missing, entries lead elsewhere, or workers wait for each other`(
    variant: ShardKeyedLinkProtocol.Variant, count: KeyPath<ShardKeyedLinkProtocol.Findings, Int> & Sendable
  ) {
    let found = ShardKeyedLinkProtocol(variant: variant).explore()
    #expect(found[keyPath: count] > 0, "\(found)")
  }
}
