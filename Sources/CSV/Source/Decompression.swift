/// How the data of each kind is opened.
enum Decompression {
  /// - Parameters:
  ///   - head: the bytes already read from `input` for detection.
  ///   - gzipBufferBytes: size of the buffer for gzip data.
  /// - Throws: `CSVError` with the code `compression-error` for data that cannot even be begun, `format-error` for an
  ///   archive that does not hold exactly one file, `source-error` if libarchive is missing.
  static func open(
    _ kind: ByteSource.Compression, _ input: RawInput, head: [UInt8], gzipBufferBytes: Int
  ) throws(CSVError) -> any Decompressor {
    switch kind {
    // The caller's mistake: it has found a compression in the input.
    case .none: preconditionFailure("nothing is compressed")
    case .gzip: return GzipInflater(input, head: head, bufferBytes: gzipBufferBytes)
    case .zip: return try ZipArchive(input, head: head).reader()
    case .zstandard, .xz, .bzip2: return try frames(kind, input, head: head)
    }
  }

  private static func frames(
    _ kind: ByteSource.Compression, _ input: RawInput, head: [UInt8]
  ) throws(CSVError) -> any Decompressor {
    let library = try ArchiveLibrary.load(for: kind, path: input.name)
    var head = head
    let skippedBytes = kind == .zstandard ? try skipFrames(&head, input) : 0
    let feed = ArchiveFeed(input, head: head)
    let archive: Archive
    let hasContent: Bool
    do throws(Archive.Failure) {
      archive = try Archive(library, feed, as: kind)
      if archive.decompressorCount == 0 {
        throw Archive.Failure(words: CompressedHead.kind(of: head) == kind ? "truncated" : "no frame")
      }
      hasContent = archive.decompressorCount == 1 ? try archive.nextEntry() != nil : false
    } catch {
      throw ArchiveReader.error(
        error, feed: feed, kind: kind, name: input.name, byte: 0, compressedByte: skippedBytes + feed.givenBytes)
    }
    if archive.decompressorCount > 1 { throw doubled(kind, kind, path: input.name) }
    return ArchiveReader(
      archive, feed: feed, kind: kind, name: input.name, skippedBytes: skippedBytes, hasContent: hasContent)
  }

  /// The error for content that is compressed once more.
  static func doubled(
    _ inner: ByteSource.Compression, _ outer: ByteSource.Compression, path: String
  ) -> CSVError {
    CSVError(
      .format, "is \(outer.noun) that holds \(inner.noun) once more; decompress it once, and name the result",
      path: path, byte: 0)
  }

  /// Skips the frames without content at the beginning (RFC 8878, section 3.1.2), which libarchive does not know.
  /// - Returns: their number of bytes.
  private static func skipFrames(_ head: inout [UInt8], _ input: RawInput) throws(CSVError) -> Int {
    var skipped = 0
    while CompressedHead.isSkippable(head), head.count >= 8 {
      let count = 8 + head[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
      var left = count - head.count
      head.removeFirst(min(count, head.count))
      while left > 0 {
        var piece: [UInt8] = []
        try input.readHead(&piece, min(left, 64 << 10))
        if piece.isEmpty { break }
        left -= piece.count
      }
      skipped += count - max(0, left)
      try input.readHead(&head, max(head.count, ForeignFormat.headBytes))
    }
    return skipped
  }
}
