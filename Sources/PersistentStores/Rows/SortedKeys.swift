extension [Int64] {
  /// The numbers in ascending order, each once.
  package func sortedUniquely() -> [Int64] {
    guard let least = self.min(), let greatest = self.max() else { return [] }
    let (span, overflow) = greatest.subtractingReportingOverflow(least)
    guard !overflow, span / Self.numbersPerFound < Int64(count) else {
      return sorted().reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
    // Close to each other: a bit for each is faster than comparing them.
    var bits = [UInt64](repeating: 0, count: Int(span) / 64 + 1)
    for number in self { bits[Int(number - least) / 64] |= 1 << (UInt64(number - least) % 64) }
    var numbers: [Int64] = []
    numbers.reserveCapacity(count)
    for (index, word) in bits.enumerated() {
      var rest = word
      while rest != 0 {
        numbers.append(least + Int64(index * 64 + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return numbers
  }
  private static var numbersPerFound: Int64 { 64 }
}
