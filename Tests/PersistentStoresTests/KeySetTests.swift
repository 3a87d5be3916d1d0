@testable import PersistentStores
import TestSupport
import Testing

// Rule: keys come back ascending, each once, whatever their distances.

@Suite("Sets of keys in little memory", .seeded)
struct KeySetTests {
  /// Ranges of keys that don't meet, in random order.
  private static func ranges(_ random: inout SeededGenerator) -> [ClosedRange<Int64>] {
    var next = Int64.random(in: -200_000...200_000, using: &random)
    let (gapMax, lengthMax) = (Int64.random(in: 0...2000, using: &random), Int64.random(in: 0...3000, using: &random))
    return (0..<Int.random(in: 0...300, using: &random)).map { _ in
      let first = next + Int64.random(in: 0...gapMax, using: &random)
      next = first + Int64.random(in: 0...lengthMax, using: &random) + 1
      return first...(next - 1)
    }.shuffled(using: &random)
  }

  @Test("Ranges come back joined and in order", arguments: Randomness.seeds(10, long: 500))
  func agreement(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let ranges = Self.ranges(&random)
    var set = KeySet()
    for range in ranges { set.insert(range) }
    var found: [ClosedRange<Int64>] = []
    set.forEachRange { found.append($0) }
    var expected: [ClosedRange<Int64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = expected.last, last.upperBound + 1 == range.lowerBound {
        expected[expected.count - 1] = last.lowerBound...range.upperBound
      } else {
        expected.append(range)
      }
    }
    #expect(found == expected && set.count == ranges.reduce(0) { $0 + $1.count }, "seed \(seed)")
  }

  @Test("Keys of few and of many neighbours, at the ends of the range of numbers")
  func ends() {
    let ranges: [ClosedRange<Int64>] = [
      .min...(.min + 1), -70_000...(-1), 5...5, 65_535...65_536, (1 << 40)...(1 << 40 + 5000), (.max - 1)...(.max),
    ]
    var set = KeySet()
    for range in ranges.reversed() { set.insert(range) }
    var found: [ClosedRange<Int64>] = []
    set.forEachRange { found.append($0) }
    #expect(found == ranges)
  }

  @Test("Lists are sorted without repetitions", arguments: Randomness.seeds(10, long: 500))
  func sorted(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let width = [Int64(50), 5000, .max].randomElement(using: &random) ?? 1
    let keys = (0..<Int.random(in: 0...500, using: &random)).map { _ in Int64.random(in: -width...width, using: &random)
    }
    #expect(keys.sortedUniquely() == Set(keys).sorted(), "seed \(seed)")
    let ends: [Int64] = [.min, .max, .min, 0]
    #expect(ends.sortedUniquely() == [.min, 0, .max])
  }
}
