import CSV

/// The parts of an input that a guess looks at: its beginning, its end, and blocks between.
package struct FileSample: Sendable, Hashable {
  /// What messages call the input.
  package var name: String
  package var head: [UInt8]
  /// Blocks between beginning and end, in order. They begin and end anywhere in a record.
  package var blocks: [[UInt8]]
  /// The end, which begins anywhere in a record; empty if `head` is the whole input.
  package var tail: [UInt8]
  /// Whether the end of the input was seen: in `tail`, or because `head` is all.
  package var hasEnd: Bool
  /// Number of bytes of the input after decompression, where it is known.
  package var totalBytes: Int?
  package var isCompressed: Bool

  /// Whether `head` is the whole input.
  package var isWhole: Bool { hasEnd && tail.isEmpty && blocks.isEmpty }
  package var sampledBytes: Int { head.count + blocks.reduce(0) { $0 + $1.count } + tail.count }

  package init(
    name: String, head: [UInt8], blocks: [[UInt8]] = [], tail: [UInt8] = [], hasEnd: Bool = true,
    totalBytes: Int? = nil, isCompressed: Bool = false
  ) {
    self.name = name
    self.head = head
    self.blocks = blocks
    self.tail = tail
    self.hasEnd = hasEnd
    self.totalBytes = totalBytes
    self.isCompressed = isCompressed
  }

  /// How much of an input is looked at.
  package struct Limits: Sendable, Hashable {
    package var headBytes = 256 << 10
    package var tailBytes = 64 << 10
    package var blockBytes = 32 << 10
    package var blocks = 6
    /// How much of an input without random access (compressed, a pipe) is read in search of its end.
    package var streamBytes = 64 << 20

    package init() {}
  }
}

extension FileSample {
  /// Reads the sample of a file; `-` is standard input.
  ///
  /// A regular file is read at its beginning, its end and at equal distances between. Only the
  /// first `limits.streamBytes` of a compressed input or a pipe are read.
  /// - Throws: `CSVError` if the input can't be read or decompressed.
  package init(path: String, limits: Limits = Limits()) throws(CSVError) {
    try self.init(try ByteSource(path: path), limits: limits)
  }

  package init(_ source: ByteSource, limits: Limits = Limits()) throws(CSVError) {
    var head: [UInt8] = []
    try Self.fill(&head, to: limits.headBytes, from: source)
    self.init(name: source.name, head: head, hasEnd: head.count < limits.headBytes)
    isCompressed = source.compression != ByteSource.Compression.none
    if hasEnd {
      totalBytes = head.count
    } else if let total = source.totalBytes, !isCompressed {
      try readAhead(source, total: total, limits: limits)
    } else {
      try readThrough(source, limits: limits)
    }
  }

  private static func fill(_ bytes: inout [UInt8], to count: Int, from source: ByteSource) throws(CSVError) {
    while bytes.count < count, try source.read(appendingTo: &bytes, bytesMax: count - bytes.count) > 0 {}
  }

  /// Skips from block to block. Positions are multiples of four, so that no character of UTF-16 or UTF-32 is cut.
  private mutating func readAhead(_ source: ByteSource, total: Int, limits: Limits) throws(CSVError) {
    var position = head.count
    let tailStart = max(position, (total - limits.tailBytes + 3) / 4 * 4)
    let free = tailStart - position
    if free > limits.blocks * limits.blockBytes, limits.blocks > 0 {
      for index in 1...limits.blocks {
        let start = (head.count + free * index / (limits.blocks + 1)) / 4 * 4
        guard start >= position, start + limits.blockBytes <= tailStart else { continue }
        try source.skip(start - position)
        var block: [UInt8] = []
        try Self.fill(&block, to: limits.blockBytes, from: source)
        position = start + block.count
        blocks.append(block)
      }
    }
    if tailStart > position { try source.skip(tailStart - position) }
    var end: [UInt8] = []
    // One byte more than expected would mean that the file has grown; it is not read.
    try Self.fill(&end, to: total - tailStart, from: source)
    tail = end
    hasEnd = true
    totalBytes = total
  }

  private mutating func readThrough(_ source: ByteSource, limits: Limits) throws(CSVError) {
    var read = head.count
    var last: [UInt8] = []
    while read < limits.streamBytes {
      var piece: [UInt8] = []
      let count = try source.read(appendingTo: &piece, bytesMax: 1 << 20)
      if count == 0 {
        hasEnd = true
        totalBytes = read
        break
      }
      read += count
      last += piece
      if last.count > limits.tailBytes + (4 << 20) { last.removeFirst(last.count - limits.tailBytes) }
    }
    let surplus = max(0, last.count - limits.tailBytes)
    // The tail begins at a multiple of four of the whole input.
    let start = (read - last.count + surplus + 3) / 4 * 4 - (read - last.count)
    tail = Array(last.dropFirst(max(0, start)))
    if !hasEnd {
      blocks = [tail]
      tail = []
    }
  }
}
