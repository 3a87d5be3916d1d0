import Foundation

/// Writes a surf log of any size, for one size the same everywhere: random times of 21 years, texts of the usual
/// lengths, about one in a hundred empty, places with commas, quotes, accents and other scripts. About 60 bytes a
/// record.
struct InputGenerator {
  /// Counts up when the same size gets other bytes, so that no older file is taken for it.
  static let version = 2

  private let words: LogWords
  private var state: UInt64

  private init(seed: UInt64 = 0x5EED, words: LogWords = LogWords()) { (state, self.words) = (seed, words) }

  /// - Parameter spots: How many places there are; nil for those with a name of their own.
  static func write(rows: Int, spots: Int? = nil, to path: String) throws {
    var generator = InputGenerator(words: LogWords(spots: spots))
    try write(to: path, rows: rows, generator.words) { generator.record() }
  }

  /// Writes another log, of which every other record, as it falls, is one of the log with as many: each of those is
  /// taken once at most, in random order. Of these, one in a hundred has other values than date and place.
  static func write(repeating rows: Int, to path: String) throws {
    var first = InputGenerator()
    var other = InputGenerator(seed: 0x0DD)
    var known = (0..<rows).map { _ in first.record() }
    try write(to: path, rows: rows, first.words) {
      var record = other.record()
      guard other.number(below: 2) == 0 else { return record }
      known.swapAt(other.number(below: known.count), known.count - 1)
      let repeated = known.removeLast()
      guard other.number(below: 100) == 0 else { return repeated }
      (record.day, record.time, record.place) = (repeated.day, repeated.time, repeated.place)
      return record
    }
  }

  private static func write(to path: String, rows: Int, _ words: LogWords, _ record: () -> LogRecord) throws {
    let temporary = path + ".part"
    guard FileManager.default.createFile(atPath: temporary, contents: nil),
      let file = FileHandle(forWritingAtPath: temporary)
    else { throw BenchmarkFailure("\(temporary) can't be made") }
    var bytes = LogWords.Bytes(LogWords.header.utf8)
    for _ in 0..<rows {
      words.append(record(), to: &bytes)
      guard bytes.count > 1 << 20 else { continue }
      try file.write(contentsOf: bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    try file.write(contentsOf: bytes)
    try file.close()
    _ = try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: temporary, toPath: path)
  }

  private mutating func record() -> LogRecord {
    LogRecord(
      day: one(of: words.days), time: one(of: words.times), height: oneOrNone(of: words.heights),
      period: oneOrNone(of: words.periods), wind: oneOrNone(of: words.winds), place: oneOrNone(of: words.places),
      rating: one(of: words.ratings))
  }

  private mutating func one(of choices: [LogWords.Bytes]) -> Int { number(below: choices.count) }

  private mutating func oneOrNone(of choices: [LogWords.Bytes]) -> Int? {
    number(below: 100) > 0 ? one(of: choices) : nil
  }

  private mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// SplitMix64.
  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
