import Testing

/// The protocol of related objects: each is created once, has the values of the first record that names it, and all links
/// lead to it, whatever comes first, is killed or lost; and each rule is needed.
@Suite struct ShardLinkProtocolTests {
  @Test func `Every interleaving of workers creates each object once, with the values of one machine`() {
    let found = ShardLinkProtocol(variant: .complete).explore()
    #expect(found.isSafe, "\(found)")
    #expect(found.states > 500, "\(found)")
  }

  @Test(arguments: [
    (ShardLinkProtocol.Variant.withoutUniqueness, \ShardLinkProtocol.Findings.doubled),
    (.namesInOwnTransaction, \.lost),
    (.orderOfRecords, \.stuck), (.firstComerIsFirst, \.wrong),
  ])
  func `Without one of its rules objects are doubled, lost or wrong, or workers wait for each other`(
    variant: ShardLinkProtocol.Variant, count: KeyPath<ShardLinkProtocol.Findings, Int> & Sendable
  ) {
    let found = ShardLinkProtocol(variant: variant).explore()
    #expect(found[keyPath: count] > 0, "\(found)")
  }
}
