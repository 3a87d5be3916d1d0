import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Keys are found among any number of them within a bounded memory: as a plain dictionary would find them.
@Suite struct KeyIndexTests {
  /// Digests that a small `space` makes collide often.
  private static func digest(_ value: UInt64) -> KeyDigest {
    var hasher = KeyHasher()
    hasher.append(Int64(value))
    return hasher.digest
  }

  private static func entry(_ number: Int) -> KeyEntry {
    KeyEntry(storeKey: Int64(number), values: UInt64(number) &* 31, order: Double(number) / 2)
  }

  @Test(.seeded, arguments: [1, 2, 7, 100, 1_000_000])
  func `Chunks of random keys, some taken back, find what a dictionary finds`(keysInMemoryMax: Int) throws {
    var random = Randomness.generator()
    var spillCount = 0
    let index = KeyIndex(keysInMemoryMax: keysInMemoryMax, keepsOrders: true) {
      spillCount += 1
      return try SQLiteKeySpill()
    }
    var plain: [KeyDigest: KeyEntry] = [:]
    var number = 0
    for value in 0..<500 {
      number += 1
      let digest = Self.digest(UInt64(value % 400))
      try index.load([digest, .none]) { $0 == 0 ? Self.entry(number) : KeyEntry(storeKey: -1) }
      if plain[digest] == nil { plain[digest] = Self.entry(number) }
    }
    for chunk in 0..<TestLength.rounds(60, long: 1000) {
      let digests = (0..<(chunk % 7 * 10)).map { _ in Self.digest(.random(in: 0..<1500, using: &random)) }
      try index.beginChunk(digests)
      let before = plain
      for digest in digests {
        #expect(index.entry(of: digest) == plain[digest], "chunk \(chunk)")
        // New ones are noted, and of the others every third changes.
        guard plain[digest] == nil || Int.random(in: 0..<3, using: &random) == 0 else { continue }
        number += 1
        index.set(digest, Self.entry(number))
        plain[digest] = Self.entry(number)
      }
      if chunk % 5 == 4 {
        index.undoChunk()
        plain = before
      } else {
        try index.endChunk()
      }
    }
    #expect(spillCount == (keysInMemoryMax < 1000 ? 1 : 0))
    try index.beginChunk(Array(plain.keys))
    for (digest, entry) in plain { #expect(index.entry(of: digest) == entry) }
  }

  @Test func `A chunk that is undone can be gone through again`() throws {
    for keysInMemoryMax in [1, 1000] {
      let index = KeyIndex(keysInMemoryMax: keysInMemoryMax, keepsOrders: true)
      let (a, b) = (Self.digest(1), Self.digest(2))
      try index.beginChunk([a])
      index.set(a, Self.entry(1))
      try index.endChunk()
      for _ in 0..<2 {
        try index.beginChunk([a, b])
        #expect(index.entry(of: a) == Self.entry(1))
        #expect(index.entry(of: b) == nil)
        index.set(a, Self.entry(2))
        index.set(b, Self.entry(3))
        index.set(a, Self.entry(4))
        #expect(index.entry(of: a) == Self.entry(4))
        index.undoChunk()
      }
      try index.beginChunk([a, b])
      #expect(index.entry(of: a) == Self.entry(1))
      #expect(index.entry(of: b) == nil)
    }
  }

  @Test func `Without orders the rest of an entry is kept, of a key that comes twice the first`() throws {
    for keysInMemoryMax in [1, 1000] {
      let index = KeyIndex(keysInMemoryMax: keysInMemoryMax)
      try index.load([Self.digest(1), .none, Self.digest(2)]) { KeyEntry(storeKey: [7, 0, 8][$0]) }
      try index.load([Self.digest(1)]) { _ in KeyEntry(storeKey: 9) }
      try index.beginChunk([Self.digest(1), Self.digest(2)])
      #expect(index.entry(of: Self.digest(1)) == KeyEntry(storeKey: 7))
      #expect(index.entry(of: Self.digest(2)) == KeyEntry(storeKey: 8))
    }
  }

  @Test func `The bound is exceeded by a chunk at most before keys move out`() throws {
    let spill = CountingSpill()
    let index = KeyIndex(keysInMemoryMax: 10, keepsOrders: false) { spill }
    try Self.add(1...10, to: index)
    #expect(spill.added.isEmpty)
    try Self.add(11...11, to: index)
    #expect(spill.added.count == 11)
  }

  private static func add(_ values: ClosedRange<UInt64>, to index: KeyIndex) throws {
    try index.beginChunk(values.map(digest))
    for value in values { index.set(digest(value), KeyEntry(storeKey: Int64(value))) }
    try index.endChunk()
  }

  /// Counts what reaches it and keeps nothing else.
  private final class CountingSpill: KeySpill {
    var asked = 0
    var added: [KeyDigest] = []

    func set(_ entries: [(digest: KeyDigest, entry: KeyEntry)]) throws { added += entries.map(\.digest) }

    func entries(of digests: [KeyDigest]) throws -> [KeyDigest: KeyEntry] {
      asked += digests.count
      return [:]
    }
  }

  @Test func `Keys move out sorted, and a file without duplicates hardly asks for them`() throws {
    let spill = CountingSpill()
    let index = KeyIndex(keysInMemoryMax: 5000, keepsOrders: false) { spill }
    for chunk: UInt64 in 0..<20 { try Self.add((chunk * 1000 + 1)...(chunk * 1000 + 1000), to: index) }
    #expect(spill.added.count == 18_000)
    #expect(spill.added.prefix(6000).elementsEqual(spill.added.prefix(6000).sorted()))
    #expect(spill.asked < 20)
  }

  @Test func `A spill that cannot be made is reported with its remedy`() {
    let error = KeySpillError(reason: "disk I/O error")
    #expect(error.exitCode == .ioError)
    #expect(
      error.description == """
        the temporary key database failed: disk I/O error. Free space in the temporary directory, set TMPDIR to one \
        with more room, or raise limits.keysInMemoryMax
        """)
    #expect(throws: KeySpillError.self) {
      let index = KeyIndex(keysInMemoryMax: 1, keepsOrders: false) { throw error }
      try Self.add(1...2, to: index)
    }
  }
}

/// The table in memory grows, forgets and empties without losing a key.
@Suite struct KeyTableTests {
  @Test(.seeded, arguments: [false, true])
  func `Thousands of insertions and removals leave what a dictionary has`(keepsOrders: Bool) {
    var random = Randomness.generator()
    var table = KeyTable(keepsOrders: keepsOrders)
    var plain: [KeyDigest: KeyEntry] = [:]
    for number: Int64 in 1...3000 {
      // Low halves that nearly all collide are the worst that open addressing can meet.
      let low = UInt64.random(in: 0..<4, using: &random) << 62
      let digest = KeyDigest(high: .random(in: 1..<300, using: &random), low: low)
      if number % 3 == 0 {
        #expect(table.remove(digest) == (plain.removeValue(forKey: digest) != nil))
      } else {
        #expect(table.entry(of: digest) == plain[digest])
        let entry = keepsOrders ? KeyEntry(storeKey: number, values: 1, order: 2) : KeyEntry(storeKey: number)
        table.set(digest, entry)
        plain[digest] = entry
      }
    }
    #expect(table.count == plain.count)
    for (digest, entry) in plain { #expect(table.entry(of: digest) == entry) }
    let drained = table.drain()
    #expect(drained.map(\.digest) == plain.keys.sorted())
    for one in drained { #expect(plain[one.digest] == one.entry) }
    #expect(table.count == 0)
    #expect(table.drain().isEmpty)
  }
}
