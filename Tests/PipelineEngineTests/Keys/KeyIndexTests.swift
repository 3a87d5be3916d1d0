import Foundation
import Testing

@testable import PipelineEngine

/// Duplicates are found among any number of keys within a bounded memory: as a plain dictionary would find them.
@Suite struct KeyIndexTests {
  /// Digests that a small `space` makes collide often.
  private static func digest(_ value: UInt64) -> KeyDigest {
    var hasher = KeyHasher()
    hasher.append(Int64(value))
    return hasher.finish()
  }

  @Test(arguments: [1, 2, 7, 100, 1_000_000])
  func `Chunks of random keys find the same earlier records as a dictionary`(keysInMemoryMax: Int) throws {
    var random = EngineRandom(UInt64(keysInMemoryMax))
    var index = KeyIndex(keysInMemoryMax: keysInMemoryMax)
    var plain: [KeyDigest: UInt64] = [:]
    var record: UInt64 = 0
    for chunk in 0..<60 {
      var keys: [(digest: KeyDigest, record: UInt64)] = []
      for _ in 0..<(chunk % 7 * 10) {
        record += 1
        keys.append((Self.digest(.random(in: 0..<1500, using: &random)), record))
      }
      let expected = keys.map { key -> UInt64? in
        if let earlier = plain[key.digest] { return earlier }
        plain[key.digest] = key.record
        return nil
      }
      #expect(try index.insert(keys) == expected, "chunk \(chunk)")
      // Some records are refused by the store after all.
      for key in keys where plain[key.digest] == key.record && Int.random(in: 0..<8, using: &random) == 0 {
        plain[key.digest] = nil
        try index.remove(key.digest)
      }
    }
    let hasSpilled = index.hasSpilled
    #expect(hasSpilled == (keysInMemoryMax < 1000))
  }

  @Test func `Duplicates within one chunk name its first record`() throws {
    var index = KeyIndex(keysInMemoryMax: 2)
    let (a, b) = (Self.digest(1), Self.digest(2))
    #expect(try index.insert([(a, 1), (b, 2), (a, 3), (b, 4), (a, 5)]) == [nil, nil, 1, 2, 1])
  }

  @Test func `A key that is taken back can be had again, in memory and beyond it`() throws {
    for keysInMemoryMax in [1, 1000] {
      var index = KeyIndex(keysInMemoryMax: keysInMemoryMax)
      _ = try index.insert([(Self.digest(1), 1), (Self.digest(2), 2), (Self.digest(3), 3)])
      try index.remove(Self.digest(2))
      try index.remove(Self.digest(99))
      #expect(try index.insert([(Self.digest(2), 4), (Self.digest(1), 5)]) == [nil, 1])
      #expect(try index.insert([(Self.digest(2), 6), (Self.digest(3), 7)]) == [4, 3])
    }
  }

  @Test func `The bound is exceeded by a chunk at most before keys move out`() throws {
    var index = KeyIndex(keysInMemoryMax: 10)
    _ = try index.insert((1...10).map { (Self.digest($0), $0) })
    let before = index.hasSpilled
    #expect(!before)
    _ = try index.insert([(Self.digest(11), 11)])
    let after = index.hasSpilled
    #expect(after)
  }

  /// Counts what reaches it and keeps nothing else.
  private final class CountingSpill: KeySpill {
    var asked = 0
    var inserted: [KeyDigest] = []

    func insert(_ entries: [(digest: KeyDigest, record: UInt64)]) throws { inserted += entries.map(\.digest) }

    func records(of digests: [KeyDigest]) throws -> [KeyDigest: UInt64] {
      asked += digests.count
      return [:]
    }

    func remove(_ digest: KeyDigest) throws {}
  }

  @Test func `Keys move out sorted, and a file without duplicates hardly asks for them`() throws {
    let spill = CountingSpill()
    var index = KeyIndex(keysInMemoryMax: 5000) { spill }
    for chunk: UInt64 in 0..<20 {
      _ = try index.insert((1...1000).map { (Self.digest(chunk * 1000 + $0), chunk * 1000 + $0) })
    }
    #expect(spill.inserted.count == 18_000)
    #expect(spill.inserted.prefix(6000).elementsEqual(spill.inserted.prefix(6000).sorted()))
    #expect(spill.asked < 20)
  }

  @Test func `A spill that cannot be made is told with its remedy`() {
    let error = KeySpillError(reason: "disk I/O error")
    #expect(error.exitCode == .ioError)
    #expect(
      error.description == """
        the temporary key database failed: disk I/O error. Free space in the temporary directory, set TMPDIR to one \
        with more room, or raise limits.keysInMemoryMax
        """)
    #expect(throws: KeySpillError.self) {
      var index = KeyIndex(keysInMemoryMax: 1) { throw error }
      _ = try index.insert([(Self.digest(1), 1), (Self.digest(2), 2)])
    }
  }
}

/// The table in memory grows, forgets and empties without losing a key.
@Suite struct KeyTableTests {
  @Test func `Thousands of insertions and removals leave what a dictionary has`() {
    var random = EngineRandom(24)
    var table = KeyTable()
    var plain: [KeyDigest: UInt64] = [:]
    for record: UInt64 in 1...3000 {
      // Low halves that nearly all collide are the worst that open addressing can meet.
      let digest = KeyDigest(high: .random(in: 0..<300, using: &random), low: .random(in: 0..<4, using: &random))
      if record % 3 == 0 {
        #expect(table.remove(digest) == (plain.removeValue(forKey: digest) != nil))
      } else {
        #expect(table.insert(digest, record: record) == plain[digest])
        if plain[digest] == nil { plain[digest] = record }
      }
    }
    for (digest, record) in plain { #expect(table.record(of: digest) == record) }
    let drained = table.drain()
    #expect(drained.map(\.digest) == plain.keys.sorted())
    #expect(drained.allSatisfy { plain[$0.digest] == $0.record })
    #expect(table.count == 0)
    #expect(table.drain().isEmpty)
  }
}
