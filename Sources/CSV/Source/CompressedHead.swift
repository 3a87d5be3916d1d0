/// The first bytes of compressed data.
enum CompressedHead {
  /// Nil for anything else.
  static func kind(of head: [UInt8]) -> ByteSource.Compression? {
    if isSkippable(head) { return .zstandard }
    return beginnings.first { known in known.magic.contains { head.starts(with: $0) } }?.kind
  }

  /// Whether the bytes, after which nothing follows, are less than the first bytes of the kind.
  static func isCut(_ head: [UInt8], _ kind: ByteSource.Compression) -> Bool {
    beginnings.contains { known in
      known.kind == kind && known.magic.contains { head.count >= known.cutBytesMin && $0.starts(with: head) }
    }
  }

  /// Whether the bytes at the end of an input can be those of one more frame, however few.
  static func beginsFrame(_ bytes: [UInt8], _ kind: ByteSource.Compression) -> Bool {
    beginnings.contains { known in
      known.kind == kind && known.magic.contains { bytes.starts(with: $0) || $0.starts(with: bytes) }
    }
  }

  /// The kind of compression whose data begin with `head`, which is a whole input that was cut off.
  static func kind(ofCut head: [UInt8]) -> ByteSource.Compression? {
    beginnings.first { isCut(head, $0.kind) }?.kind
  }

  /// Whether it is a frame that decompressors skip; pzstd begins a file with one (RFC 8878, section 3.1.2).
  static func isSkippable(_ head: [UInt8]) -> Bool {
    head.count >= 4 && head[0] & 0xF0 == 0x50 && head[1...3] == [0x2A, 0x4D, 0x18]
  }

  private struct Beginning {
    let kind: ByteSource.Compression
    let magic: [[UInt8]]
    /// How many of these bytes no text begins with.
    let cutBytesMin: Int
  }

  private static let beginnings = [
    Beginning(kind: .gzip, magic: [GzipInflater.magic], cutBytesMin: 2),
    Beginning(kind: .zstandard, magic: [[0x28, 0xB5, 0x2F, 0xFD]], cutBytesMin: 2),
    Beginning(kind: .xz, magic: [[0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]], cutBytesMin: 2),
    Beginning(kind: .bzip2, magic: bzip2, cutBytesMin: 5),
    // The header of a file; the end of an archive without files.
    Beginning(kind: .zip, magic: [[0x50, 0x4B, 0x03, 0x04], [0x50, 0x4B, 0x05, 0x06]], cutBytesMin: 3),
  ]

  /// The block size is a digit. The six bytes after it begin a block, or end an empty file.
  private static let bzip2: [[UInt8]] = "123456789".utf8.flatMap { size -> [[UInt8]] in
    let begin: [UInt8] = [0x42, 0x5A, 0x68, size]
    return [begin + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], begin + [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]]
  }
}

extension ByteSource.Compression {
  /// What data of this kind is called in messages.
  var word: String {
    switch self {
    case .none: "plain"
    case .gzip: "gzip"
    case .zstandard: "Zstandard"
    case .xz: "xz"
    case .bzip2: "bzip2"
    case .zip: "zip"
    }
  }

  /// What an input of this kind is.
  var noun: String { self == .zip ? "a zip archive" : "\(word) data" }
}
