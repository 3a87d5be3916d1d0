import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rules (Apple documentation: Consuming relevant store changes; the tables of a store that Apple's framework wrote): each
// save is one transaction, with one change for each object that it inserts, updates or deletes, in this order; an update
// names its properties, those of the other ends of relationships included.

@Suite("The history is what happened to the rows", .seeded)
struct HistoryAgreementTests {
  private func player(_ seed: UInt64) throws -> (GraphPlayer, HistoryOracle) {
    let player = try GraphPlayer(seed: seed, options: [NSPersistentHistoryTrackingKey: true])
    return (player, HistoryOracle(folder: player.graph.folder))
  }

  @Test("A Python program that compares the tables before and after agrees", arguments: Randomness.seeds(3, long: 200))
  func agreement(seed: UInt64) throws {
    let (player, oracle) = try player(seed)
    player.inspectsStore = oracle.disagreement
    let found = try player.play(steps: 120)
    #expect(found == nil, "seed \(seed): \(found ?? "")")
    try player.graph.expectIntegrity()
  }

  @Test(
    "The oracle can fail: a change that is missing, and a bit that is wrong, are noticed",
    arguments: [
      "DELETE FROM ACHANGE WHERE Z_PK = (SELECT max(Z_PK) FROM ACHANGE)", "UPDATE ACHANGE SET ZCOLUMNS = x'00'",
    ])
  func canary(sql: String) throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      let (player, oracle) = try player(seed)
      player.inspectsStore = {
        try sqlite(player.graph.file, sql)
        return try oracle.disagreement()
      }
      return try player.play(steps: 120) != nil
    }
    #expect(isFound)
  }
}
