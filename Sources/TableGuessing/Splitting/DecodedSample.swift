import CSV

/// A sample as UTF-8, without the parts of lines at which its blocks are cut.
struct DecodedSample: Sendable {
  /// The bytes of `head` that delimiters are guessed from.
  static let sniffedBytes = 64 << 10

  let head: [UInt8]
  let blocks: [[UInt8]]
  let tail: [UInt8]
  let hasEnd: Bool
  let isWhole: Bool

  init(_ sample: FileSample, _ encoding: CSVEncoding) {
    let isHeadWhole = sample.hasEnd && sample.tail.isEmpty
    let head = encoding.utf8(sample.head)
    self.head = isHeadWhole ? head : Self.withoutLastLine(head)
    blocks = sample.blocks.map { Self.withoutLastLine(Self.withoutFirstLine(encoding.utf8($0))) }
    tail = Self.withoutFirstLine(encoding.utf8(sample.tail))
    hasEnd = sample.hasEnd
    isWhole = sample.isWhole
  }

  /// The beginning of the head, in whole lines.
  var sniffed: [UInt8] {
    head.count <= Self.sniffedBytes ? head : Self.withoutLastLine(Array(head.prefix(Self.sniffedBytes)))
  }

  private static func withoutLastLine(_ bytes: [UInt8]) -> [UInt8] {
    guard let end = bytes.lastIndex(where: { $0 == 10 || $0 == 13 }) else { return bytes }
    // A carriage return at the very end may be half of a line end.
    return Array(bytes[...end])
  }

  private static func withoutFirstLine(_ bytes: [UInt8]) -> [UInt8] {
    guard let end = bytes.firstIndex(where: { $0 == 10 || $0 == 13 }) else { return [] }
    let isPair = bytes[end] == 13 && end + 1 < bytes.count && bytes[end + 1] == 10
    return Array(bytes[(end + (isPair ? 2 : 1))...])
  }
}
