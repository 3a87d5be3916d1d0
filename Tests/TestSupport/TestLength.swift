/// How many rounds the tests run. `SURFJOURNAL_TESTS=long` selects the long series, as `make test-long` does; `ROUNDS`
/// overrides the number of rounds of every test that has rounds.
package enum TestLength {
  package static let isLong = Setting.text("SURFJOURNAL_TESTS") == "long"

  /// The value of `ROUNDS`, nil if it is not set.
  package static let roundsSet = Setting.number("ROUNDS").map { max(1, Int(clamping: $0)) }

  /// The number of rounds of a test: `short` in `make test`, `long` in `make test-long`.
  package static func rounds(_ short: Int, long: Int) -> Int { roundsSet ?? (isLong ? long : short) }
}
