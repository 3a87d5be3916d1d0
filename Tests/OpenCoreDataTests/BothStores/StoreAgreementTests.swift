import Foundation
import TestSupport
import Testing

// Rule (RowStore): what a context shows does not depend on the store. Random sequences of steps run on a stack over
// SQLite and on one over a store that shares no code with it; the answers agree after each step.

@Suite("Two stores that share no code give the same answers", .seeded)
struct StoreAgreementTests {
  private static let stepCount = 160

  /// The first step whose answers differ, with those before; nil if there is none.
  private static func disagreement(seed: UInt64, plantedError: BruteForceStore.PlantedError? = nil) throws -> String? {
    var generator = AgreementGenerator(seed: seed)
    let policies = (0..<AgreementPlayer.contextCount).map { _ in
      Policy.allCases[generator.number(0..<Policy.allCases.count)]
    }
    let unique = generator.number(0..<2) == 0 ? [] : ["place"]
    let players = try [
      AgreementPlayer(.sqlite, policies: policies, unique: unique),
      AgreementPlayer(.bruteForce, policies: policies, unique: unique, plantedError: plantedError),
    ]
    var log: [String] = []
    for _ in 0..<stepCount {
      let (step, place) = (generator.step(), generator.number(0..<AgreementPlayer.contextCount))
      let isLinked = generator.number(0..<3) == 0
      log.append("context \(place): \(step)")
      let answers = try players.map { try $0.take(step, in: place) }
      let states = try players.map { try $0.state(isLinked: isLinked) }
      if answers[0] != answers[1] || states[0] != states[1] {
        return """
          seed \(seed), policies \(policies), unique \(unique), after:
          \(log.suffix(12).joined(separator: "\n"))
          SQLite answers \(answers[0])
          \(states[0])
          brute force answers \(answers[1])
          \(states[1])
          """
      }
    }
    return nil
  }

  @Test("Any sequence of steps", arguments: Randomness.seeds(12, long: 400))
  func agreement(seed: UInt64) throws {
    if let difference = try Self.disagreement(seed: seed) { Issue.record("\(difference)") }
  }

  @Test(
    "An error of one of them is noticed",
    arguments: [BruteForceStore.PlantedError.ignoresVersions, .ignoresOffset, .forgetsRemovals, .forgetsOrder])
  func canary(plantedError: BruteForceStore.PlantedError) throws {
    let isNoticed = try (1...60).contains { seed in
      try Self.disagreement(seed: UInt64(seed), plantedError: plantedError) != nil
    }
    #expect(isNoticed)
  }
}
