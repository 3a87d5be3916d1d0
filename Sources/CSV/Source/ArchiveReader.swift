/// Decompresses Zstandard, xz and bzip2, and the one file of a zip archive, with the system's libarchive.
///
/// libarchive checks the checksums that the formats have, and reads frames that follow each other as one content. It
/// drops the bytes of the block in which it finds damage.
final class ArchiveReader: Decompressor {
  private let archive: Archive
  private let feed: ArchiveFeed
  private let kind: ByteSource.Compression
  private let name: String
  /// Number of stored bytes before those that libarchive reads.
  private let skippedBytes: Int
  /// The bytes of the archive's last block that were not returned yet.
  private var rest = UnsafeRawBufferPointer(start: nil, count: 0)
  private var returnedBytes = 0
  private var failure: CSVError?
  private let hasContent: Bool
  private var hasEnded = false

  /// - Parameters:
  ///   - archive: positioned at the entry to read.
  ///   - feed: what the archive reads.
  ///   - skippedBytes: number of stored bytes before those of the feed.
  ///   - hasContent: false if the archive has no entry, because the content is empty.
  init(
    _ archive: Archive, feed: ArchiveFeed, kind: ByteSource.Compression, name: String, skippedBytes: Int = 0,
    hasContent: Bool = true
  ) {
    self.archive = archive
    self.feed = feed
    self.kind = kind
    self.name = name
    self.skippedBytes = skippedBytes
    self.hasContent = hasContent
  }

  /// At the end of the file in a zip archive, all of the archive.
  var consumedBytes: Int {
    if kind == .zip, hasEnded, let total = feed.totalBytes { return total }
    return skippedBytes + archive.consumedBytes
  }

  func read(into output: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int {
    var count = 0
    while count < output.count, !hasEnded {
      do throws(CSVError) {
        if rest.isEmpty { try nextBlock() }
      } catch {
        failure = error
        if count == 0 { throw error }
        break
      }
      let taken = min(rest.count, output.count - count)
      UnsafeMutableRawBufferPointer(rebasing: output[count...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: rest[..<taken]))
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      count += taken
      returnedBytes += taken
    }
    return count
  }

  private func nextBlock() throws(CSVError) {
    if let failure { throw failure }
    do throws(Archive.Failure) {
      if hasContent, let block = try archive.nextBlock(at: returnedBytes) {
        rest = block
        return
      }
    } catch {
      throw Self.error(error, feed: feed, kind: kind, name: name, byte: returnedBytes, compressedByte: consumedBytes)
    }
    if kind != .zip { try checkEnd() }
    hasEnded = true
  }

  /// libarchive ends at the last frame that it recognises, whatever follows.
  private func checkEnd() throws(CSVError) {
    let unused = feed.givenBytes - archive.consumedBytes
    if unused == 0, try feed.isAtEnd() { return }
    let isCut = (1..<ArchiveFeed.endBytes).contains(unused) && CompressedHead.beginsFrame(feed.end.suffix(unused), kind)
    throw CSVError(
      .compression,
      isCut
        ? "the \(kind.word) data ends in the middle; fetch the file again"
        : "the \(kind.word) data is followed by something else; remove what was appended, or fetch the file again",
      path: name, byte: returnedBytes, compressedByte: consumedBytes + (isCut ? unused : 0))
  }

  /// What an error of libarchive's means for the input.
  static func error(
    _ failure: Archive.Failure, feed: ArchiveFeed, kind: ByteSource.Compression, name: String, byte: Int,
    compressedByte: Int
  ) -> CSVError {
    if let failure = feed.failure { return failure }
    let words = failure.words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let problem =
      if words.contains("runcated") || words.contains("No progress") {
        "ends in the middle; fetch the file again"
      } else if words.contains("too much memory") {
        "needs more memory than libarchive allows; decompress it first with zstd -dc --long=31, and read its output from \"-\""
      } else if words.contains("Unsupported") {
        "can't be read (\(words)); unpack it first"
      } else {
        "is damaged (\(words)); fetch the file again"
      }
    return CSVError(
      .compression, "the \(kind.word) data \(problem)", path: name, byte: byte, compressedByte: compressedByte)
  }
}
