import Foundation
import Testing

@testable import PipelineEngine

/// Keys are told apart by SipHash-2-4 with 128 bits, the same in every run.
@Suite struct KeyDigestTests {
  @Test func `The digest of nothing is the published vector`() {
    // First of the authors' vectors for 128 bits: key 00 01 … 0f, empty message.
    let digest = SipState(key0: 0x0706_0504_0302_0100, key1: 0x0F0E_0D0C_0B0A_0908).finish()
    #expect(digest == KeyDigest(high: 0x9302_55C7_1472_F66D, low: 0xE6A8_25BA_047F_81A3))
  }

  @Test func `Words of any number hash as an independent SipHash does`() throws {
    var random = EngineRandom(128)
    // Beyond 32 words the length in bytes exceeds the one byte that it gets.
    let messages = (0..<40).map { count in (0..<count).map { _ in random.next() } }
    let keys = messages.map { _ in (random.next(), random.next()) }
    let lines = zip(messages, keys).map { message, key in
      "\(key.0) \(key.1) " + message.map(String.init).joined(separator: " ")
    }
    let expected = try pythonLines(PythonSipHash.script, lines)
    for (index, message) in messages.enumerated() {
      var state = SipState(key0: keys[index].0, key1: keys[index].1)
      for word in message { state.absorb(word) }
      let digest = state.finish()
      #expect("\(digest.high) \(digest.low)" == expected[index])
    }
  }

  @Test func `A key is hashed as the kinds, lengths and values of its parts`() throws {
    var hasher = KeyHasher()
    hasher.append(427_015_800.5)
    hasher.append(Array("C Street, Ventura".utf8).span)
    hasher.appendNull()
    hasher.append(Int64(-5))
    let digest = hasher.finish()
    var bytes: [UInt8] = []
    func word(_ value: UInt64) { bytes += withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    word(3 << 56 | 8)
    word((427_015_800.5).bitPattern)
    word(4 << 56 | 17)
    bytes += Array("C Street, Ventura".utf8) + [UInt8](repeating: 0, count: 7)
    word(1 << 56)
    word(2 << 56 | 8)
    word(UInt64(bitPattern: -5))
    let words = stride(from: 0, to: bytes.count, by: 8).map { start in
      (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << UInt64($1 * 8) }
    }
    let key = "\(0x5355_5246_4A4F_5552 as UInt64) \(0x4E41_4C2D_4B45_5953 as UInt64) "
    let expected = try pythonLines(PythonSipHash.script, [key + words.map(String.init).joined(separator: " ")])
    #expect("\(digest.high) \(digest.low)" == expected[0])
  }

  private enum Part {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
  }

  private func digest(_ parts: [Part]) -> (digest: KeyDigest, isAllNull: Bool) {
    var hasher = KeyHasher()
    for part in parts {
      switch part {
      case .null: hasher.appendNull()
      case .integer(let value): hasher.append(value)
      case .real(let value): hasher.append(value)
      case .text(let value):
        let bytes = Array(value.utf8)
        hasher.append(bytes.span)
      }
    }
    let isAllNull = hasher.isAllNull
    return (hasher.finish(), isAllNull)
  }

  @Test func `Different keys have different digests, however alike their bytes are`() {
    let keys: [[Part]] = [
      [], [.null], [.null, .null], [.text("")], [.text(""), .text("")], [.text("a")], [.text("ab")],
      [.text("a"), .text("b")], [.text("b"), .text("a")], [.text("ab"), .text("")], [.text(""), .text("ab")],
      [.text("a\0")], [.text("a\0\0\0\0\0\0\0")], [.text("12345678")], [.text("12345678"), .text("")],
      [.text("A")], [.integer(0)], [.integer(1)], [.real(0)], [.real(1)], [.text("a"), .null], [.null, .text("a")],
    ]
    #expect(Set(keys.map { digest($0).digest }).count == keys.count)
  }

  @Test func `Zero and minus zero are one value, as in SQL`() {
    #expect(digest([.real(0.0)]).digest == digest([.real(-0.0)]).digest)
  }

  @Test func `A key of nulls alone is known as such`() {
    #expect(digest([.null, .null]).isAllNull)
    #expect(!digest([.null, .text("")]).isAllNull)
    #expect(!digest([.integer(0)]).isAllNull)
  }

  @Test func `Digests are ordered by their high half, then the low one`() {
    let sorted = [(0, 1), (0, 2), (1, 0), (UInt64.max, 0)].map { KeyDigest(high: $0.0, low: $0.1) }
    #expect(sorted.reversed().sorted() == sorted)
  }
}

/// SipHash-2-4-128 after the authors' paper, over whole little-endian words.
private enum PythonSipHash {
  static let script = """
    import sys
    M = (1 << 64) - 1
    rot = lambda x, b: ((x << b) | (x >> (64 - b))) & M
    def rounds(v, n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M; v[1] = rot(v[1], 13) ^ v[0]; v[0] = rot(v[0], 32)
            v[2] = (v[2] + v[3]) & M; v[3] = rot(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M; v[3] = rot(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M; v[1] = rot(v[1], 17) ^ v[2]; v[2] = rot(v[2], 32)
    def siphash(k0, k1, message):
        c = [int.from_bytes(b'somepseudorandomlygeneratedbytes'[i:i + 8], 'big') for i in (0, 8, 16, 24)]
        v = [k0 ^ c[0], k1 ^ c[1] ^ 0xee, k0 ^ c[2], k1 ^ c[3]]
        tail = message[len(message) // 8 * 8:]
        blocks = [message[i:i + 8] for i in range(0, len(message) // 8 * 8, 8)]
        blocks.append(tail + bytes(7 - len(tail)) + bytes([len(message) & 255]))
        for block in blocks:
            m = int.from_bytes(block, 'little')
            v[3] ^= m; rounds(v, 2); v[0] ^= m
        v[2] ^= 0xee; rounds(v, 4)
        low = v[0] ^ v[1] ^ v[2] ^ v[3]
        v[1] ^= 0xdd; rounds(v, 4)
        return v[0] ^ v[1] ^ v[2] ^ v[3], low
    k0, k1 = int.from_bytes(bytes(range(8)), 'little'), int.from_bytes(bytes(range(8, 16)), 'little')
    assert siphash(k0, k1, b'') == (0x930255c71472f66d, 0xe6a825ba047f81a3)
    for line in sys.stdin:
        k0, k1, *words = map(int, line.split())
        print(*siphash(k0, k1, b''.join(w.to_bytes(8, 'little') for w in words)))
    """
}
