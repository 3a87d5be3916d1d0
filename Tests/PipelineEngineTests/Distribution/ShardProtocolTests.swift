import Testing

/// The protocol of shards: nothing is lost, doubled or stuck, whatever is killed and whichever answer is lost; and each
/// rule is needed.
@Suite struct ShardProtocolTests {
  @Test(arguments: [(2, 3, 2), (3, 3, 2), (3, 2, 3)])
  func `Every interleaving of attempts imports each chunk once`(attempts: Int, chunks: Int, kills: Int) {
    let protocols = ShardProtocol(
      variant: .complete, attemptCount: attempts, chunkCount: chunks, killsMax: kills)
    let found = protocols.explore()
    #expect(found.isSafe, "\(found)")
    #expect(found.states > 500, "\(found)")
  }

  @Test func `A checkpoint that is moved after the rows in the same transaction is safe too`() {
    let found = ShardProtocol(variant: .comparisonAfterCopy).explore()
    #expect(found.isSafe, "\(found)")
  }

  @Test(arguments: [
    (ShardProtocol.Variant.withoutComparison, \ShardProtocol.Findings.doubled), (.successForOthers, \.lost),
    (.checkpointInOwnTransaction, \.doubled), (.lostAnswerIsSuccess, \.lost), (.lostAnswerIsFailure, \.doubled),
  ])
  func `Without one of its rules rows are lost or doubled`(
    variant: ShardProtocol.Variant, count: KeyPath<ShardProtocol.Findings, Int> & Sendable
  ) {
    let found = ShardProtocol(variant: variant).explore()
    #expect(found[keyPath: count] > 0, "\(found)")
  }

  @Test func `Success without a last look at the ledger is safe only because the comparison is there`() {
    #expect(ShardProtocol(variant: .successWithoutLedger).explore().isSafe)
  }
}
