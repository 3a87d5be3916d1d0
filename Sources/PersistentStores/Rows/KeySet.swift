/// Keys of many rows in ascending order, in little memory: a bit for each key of a range that has many of them, and two
/// bytes for each other one.
struct KeySet {
  /// Keys of one range: their lower sixteen bits.
  private struct Block {
    /// In any order.
    private var few: [UInt16] = []
    private var bits: [UInt64] = []
    /// More take more memory than a bit for each key of the range.
    private static let fewMax = 4096

    mutating func insert(_ numbers: ClosedRange<UInt16>) {
      if bits.isEmpty, few.count + numbers.count > Self.fewMax {
        bits = [UInt64](repeating: 0, count: 1 << 10)
        for number in few { set(number...number) }
        few = []
      }
      if bits.isEmpty { few.append(contentsOf: numbers) } else { set(numbers) }
    }

    private mutating func set(_ numbers: ClosedRange<UInt16>) {
      var (next, end) = (Int(numbers.lowerBound), Int(numbers.upperBound) + 1)
      while next < end {
        let count = Swift.min(64 - next % 64, end - next)
        bits[next / 64] |= (UInt64.max >> UInt64(64 - count)) << UInt64(next % 64)
        next += count
      }
    }

    /// Calls `body` with each number, ascending.
    func forEach(_ body: (UInt16) throws -> Void) rethrows {
      for number in few.sorted() { try body(number) }
      for (index, word) in bits.enumerated() {
        var rest = word
        while rest != 0 {
          try body(UInt16(index * 64 + rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
    }
  }

  /// By the upper bits of the keys.
  private var blocks: [Int64: Block] = [:]
  private(set) var count = 0

  /// - Parameter keys: Ascending, each once, and none of the set yet.
  mutating func insert(_ keys: ClosedRange<Int64>) {
    count += keys.count
    var next = keys.lowerBound
    while true {
      let end = Swift.min(keys.upperBound, next | 0xFFFF)
      blocks[next >> 16, default: Block()]
        .insert(UInt16(truncatingIfNeeded: next)...UInt16(truncatingIfNeeded: end))
      if end == keys.upperBound { return }
      next = end + 1
    }
  }

  /// Calls `body` with each range of keys that follow each other, ascending.
  func forEachRange(_ body: (ClosedRange<Int64>) throws -> Void) rethrows {
    var range: ClosedRange<Int64>?
    for (upper, block) in blocks.sorted(by: { $0.key < $1.key }) {
      try block.forEach { lower in
        let key = upper << 16 | Int64(lower)
        if let known = range, known.upperBound < key, known.upperBound == key &- 1 {
          range = known.lowerBound...key
        } else {
          if let range { try body(range) }
          range = key...key
        }
      }
    }
    if let range { try body(range) }
  }
}
