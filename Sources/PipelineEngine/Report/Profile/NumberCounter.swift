/// Counts how often each number occurs, up to a maximum of different ones: open addressing, no object per number.
struct NumberCounter: Sendable {
  private let distinctMax: Int
  private let mask: Int
  private var numbers: [Int64]
  /// 0 where the slot is free.
  private var counts: [Int]
  private(set) var distinct = 0
  private(set) var other = 0

  init(distinctMax: Int) {
    self.distinctMax = distinctMax
    // At most a third full, so that most numbers are found at the first slot.
    var slots = 64
    while slots < distinctMax * 3 { slots *= 2 }
    mask = slots - 1
    numbers = Array(repeating: 0, count: slots)
    counts = Array(repeating: 0, count: slots)
  }

  @inline(__always)
  mutating func add(_ number: Int64, times: Int = 1) {
    var slot = Int(truncatingIfNeeded: (UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask
    while counts[slot] != 0 {
      if numbers[slot] == number {
        counts[slot] &+= times
        return
      }
      slot = (slot + 1) & mask
    }
    guard distinct < distinctMax else {
      other &+= times
      return
    }
    numbers[slot] = number
    counts[slot] = times
    distinct += 1
  }

  mutating func addOther(_ times: Int = 1) { other &+= times }

  /// In ascending order.
  var all: [(number: Int64, count: Int)] {
    numbers.indices.filter { counts[$0] != 0 }.map { (numbers[$0], counts[$0]) }.sorted { $0.0 < $1.0 }
  }
}
