/// The seeds of the random tests.
///
/// Each run has a new seed, except where `CI` is set; `SEED` sets it. A test with the trait `seeded` reports it with
/// every failure.
package enum Randomness {
  /// The seed of this run.
  package static let seed: UInt64 =
    Setting.number("SEED") ?? (Setting.text("CI") == nil ? .random(in: 1...0xFFFF_FFFF) : 20_140_714)

  /// Consecutive seeds from the seed of this run, one for each round: `SEED=n ROUNDS=1` repeats the round with seed n.
  package static func seeds(_ short: Int, long: Int) -> [UInt64] {
    (0..<TestLength.rounds(short, long: long)).map { seed &+ UInt64($0) }
  }

  /// A generator with the seed of this run.
  package static func generator() -> SeededGenerator { SeededGenerator(seed: seed) }

  /// The settings that repeat this run.
  package static var settings: String {
    var settings = "SEED=\(seed)"
    if let rounds = TestLength.roundsSet { settings += " ROUNDS=\(rounds)" }
    if TestLength.isLong { settings += " SURFJOURNAL_TESTS=long" }
    return settings
  }
}
