import CSV
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Keys are distinguished by 128 bits of XXH3, the same in every run.
@Suite struct KeyDigestTests {
  @Test func `The digest of nothing is the published one`() {
    // https://github.com/Cyan4973/xxHash, what `xxhsum -H2` prints for an empty input.
    #expect(KeyHasher().digest == KeyDigest(high: 0x99AA_06D3_0147_98D8, low: 0x6001_C324_468D_497F))
  }

  @Test func `A key is hashed as the kinds, lengths and values of its parts`() throws {
    // Lengths around whole words, and those at which XXH3 goes another way.
    let texts = ([0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 25, 63, 64, 119, 120, 121, 128, 184, 185, 1000, 5000] as [Int])
      .map { count in (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 200) } }
    var hasher = KeyHasher()
    let digests = texts.map { text in
      // One after the other: nothing is left of the key before.
      hasher.begin()
      hasher.append(427_015_800.5)
      hasher.append(text.span)
      hasher.appendNull()
      hasher.append(Int64(-5))
      return ContentDigest(high: hasher.digest.high, low: hasher.digest.low).hex
    }
    #expect(try digests == pythonLines(Self.xxhsum, texts.map(Self.message)))
  }

  /// What the key with `text` is, in hexadecimal.
  private static func message(_ text: [UInt8]) -> String {
    var bytes: [UInt8] = []
    func word(_ value: UInt64) { bytes += (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) } }
    word(3 << 56 | 8)
    word((427_015_800.5).bitPattern)
    word(4 << 56 | UInt64(text.count))
    bytes += text + [UInt8](repeating: 0, count: (8 - text.count % 8) % 8)
    word(1 << 56)
    word(2 << 56 | 8)
    word(UInt64(bitPattern: -5))
    return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// xxHash's own program says what the hashes are.
  private static let xxhsum = """
    import subprocess, sys
    for line in sys.stdin:
        run = subprocess.run(["xxhsum", "-H2"], input=bytes.fromhex(line), capture_output=True, check=True)
        print(run.stdout[:32].decode())
    """

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
    return (hasher.digest, hasher.isAllNull)
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
