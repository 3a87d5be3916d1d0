import CArchive

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An archive that libarchive has open: the entries of a zip archive, or one entry that stands for the content of a
/// compressed file.
final class Archive {
  /// One file or folder of a zip archive.
  struct Entry {
    let name: String
    let isFolder: Bool
    let isRegular: Bool
    let isEncrypted: Bool
  }

  /// An error of libarchive's, in its words.
  struct Failure: Error {
    let words: String
  }

  private let library: archive_functions
  private let handle: OpaquePointer
  /// libarchive has its address until the handle is freed.
  private let feed: ArchiveFeed

  /// Opens what the feed holds.
  init(_ library: ArchiveLibrary, _ feed: ArchiveFeed, as kind: ByteSource.Compression) throws(Failure) {
    self.library = library.functions
    self.feed = feed
    guard let handle = library.functions.read_new() else { throw Failure(words: "no memory") }
    self.handle = handle
    try check(support(kind))
    _ = self.library.set_read(handle) { _, data, buffer in ArchiveFeed.of(data).read(buffer) }
    if kind == .zip {
      _ = self.library.set_seek(handle) { _, data, offset, origin in ArchiveFeed.of(data).seek(offset, origin) }
    }
    _ = self.library.set_data(handle, Unmanaged.passUnretained(feed).toOpaque())
    try check(self.library.open(handle))
  }

  deinit { _ = library.read_free(handle) }

  private func support(_ kind: ByteSource.Compression) -> Int32 {
    switch kind {
    case .zip: return library.support_zip(handle)
    case .bzip2: return supportContent(library.support_bzip2(handle))
    case .xz: return supportContent(library.support_xz(handle))
    case .zstandard: return supportContent(library.support_zstd(handle))
    // The caller's mistake: `Decompression.open` knows the two.
    case .none, .gzip: preconditionFailure("libarchive is not used for this")
    }
  }

  /// Lets the decompressed bytes be one entry, also where there are none.
  private func supportContent(_ filter: Int32) -> Int32 {
    min(filter, library.support_raw(handle), library.support_empty(handle))
  }

  /// Number of decompressors that libarchive uses: none if it does not recognise the first bytes, two if the content is
  /// compressed once more.
  var decompressorCount: Int { Int(library.filter_count(handle)) - 1 }

  /// Number of bytes of the feed that were used.
  var consumedBytes: Int { max(0, Int(library.filter_bytes(handle, -1))) }

  /// The next entry, nil at the end.
  func nextEntry() throws(Failure) -> Entry? {
    // Names are converted to the encoding of the thread's locale.
    let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
    let previous = locale.map { uselocale($0) }
    defer {
      if let previous { uselocale(previous) }
      if let locale { freelocale(locale) }
    }
    var entry: OpaquePointer?
    let status = library.next_header(handle, &entry)
    if status == CARCHIVE_EOF { return nil }
    // A warning concerns a name or a time.
    if status < CARCHIVE_WARN { throw failure }
    guard let entry else { return nil }
    let type = library.file_type(entry) & S_IFMT
    return Entry(
      name: library.pathname(entry).map { String(cString: $0) } ?? "?", isFolder: type == S_IFDIR,
      isRegular: type == S_IFREG, isEncrypted: library.is_encrypted(entry) != 0)
  }

  /// The next bytes of the present entry, nil at its end. They are valid until the next call.
  /// - Parameter offset: the number of bytes that came before.
  func nextBlock(at offset: Int) throws(Failure) -> UnsafeRawBufferPointer? {
    var start: UnsafeRawPointer?
    var count = 0
    var position: Int64 = 0
    let status = library.data_block(handle, &start, &count, &position)
    if status == CARCHIVE_EOF { return nil }
    // A checksum that does not match is a warning.
    guard status == CARCHIVE_OK else { throw failure }
    guard Int(position) == offset else { throw Failure(words: "bytes are missing") }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  private func check(_ status: Int32) throws(Failure) {
    if status != CARCHIVE_OK { throw failure }
  }

  private var failure: Failure {
    Failure(words: library.error_string(handle).map { String(cString: $0) } ?? "no reason given")
  }
}
