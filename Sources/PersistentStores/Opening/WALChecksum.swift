import CSQLite

/// The checksum of a WAL's header, its frames and its index. (SQLite: "Database File Format", 4.2.)
struct WALChecksum: Equatable {
  var first: UInt32 = 0
  var second: UInt32 = 0

  init() {}

  /// As the file has it, in big-endian numbers.
  init(at offset: Int, in bytes: [UInt8]) {
    first = UInt32(bytes.bigEndian32(offset))
    second = UInt32(bytes.bigEndian32(offset + 4))
  }

  static func of(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> WALChecksum {
    WALChecksum().continued(over: Array(bytes), 0..<bytes.count, isBigEndian: isBigEndian)
  }

  /// - Parameter range: A multiple of 8 bytes.
  func continued(over bytes: [UInt8], _ range: Range<Int>, isBigEndian: Bool) -> WALChecksum {
    let sums = csqlite_wal_checksum(
      bytes, range.lowerBound, range.count, isBigEndian ? 1 : 0, csqlite_wal_sums(first: first, second: second))
    var result = WALChecksum()
    (result.first, result.second) = (sums.first, sums.second)
    return result
  }

  /// The 32-bit words of `count` that can be the only wrong one, if the sum of the words as read is `self` and that of
  /// the words as written is `written`: the number of each, and what to add to it. Random words look like this once in
  /// four million pages. Errors in high bits can be in several places.
  ///
  /// The sums are linear: an error of d in a word changes them by d times a pair of neighbouring Fibonacci numbers,
  /// which depends on the distance from the end. At least one of the pair is odd, and so has an inverse.
  func wrongWords(for written: WALChecksum, of count: Int) -> [(number: Int, error: UInt32)] {
    let (neededFirst, neededSecond) = (written.first &- first, written.second &- second)
    guard neededFirst != 0 || neededSecond != 0 else { return [] }
    var found: [(number: Int, error: UInt32)] = []
    // How an error of 1 in the word changes the two sums; of the two words of a pair, the later one comes first.
    var (later, earlier): ((UInt32, UInt32), (UInt32, UInt32)) = ((0, 1), (1, 1))
    for pair in (0..<count / 2).reversed() {
      for (number, factors) in [(2 * pair + 1, later), (2 * pair, earlier)] {
        let isFirstOdd = factors.0 & 1 == 1
        let (odd, needed) = isFirstOdd ? (factors.0, neededFirst) : (factors.1, neededSecond)
        let error = needed &* Self.inverse(of: odd)
        if error &* factors.0 == neededFirst, error &* factors.1 == neededSecond { found.append((number, error)) }
      }
      (later, earlier) = (Self.next(later), Self.next(earlier))
    }
    return found
  }

  /// One more pair of words follows.
  private static func next(_ factors: (UInt32, UInt32)) -> (UInt32, UInt32) {
    let first = factors.0 &+ factors.1
    return (first, factors.1 &+ first)
  }

  /// The inverse of an odd number modulo 2³². At first 3 bits are right, and each step doubles their number.
  private static func inverse(of odd: UInt32) -> UInt32 {
    var result = odd
    for _ in 0..<4 { result = result &* (2 &- odd &* result) }
    return result
  }
}
