/// A zip archive that holds one file to read.
struct ZipArchive {
  /// The end record: its first bytes, its length without the comment, and the longest comment (APPNOTE.TXT, 4.3.16).
  private static let endMagic: [UInt8] = [0x50, 0x4B, 0x05, 0x06]
  private static let endBytes = 22
  private static let commentBytesMax = 0xFFFF
  /// How many files a message names.
  private static let namesMax = 3

  private let input: RawInput
  private let library: ArchiveLibrary

  /// - Parameters:
  ///   - input: any input; its directory of files is at its end, so a pipe is copied into the temporary directory.
  ///   - head: the bytes already read from `input`.
  init(_ input: RawInput, head: [UInt8]) throws(CSVError) {
    library = try ArchiveLibrary.load(for: .zip, path: input.name)
    self.input = input.readsAnywhere ? input : try InputSpool.copy(input, head: head)
  }

  /// A reader of the one file.
  /// - Throws: `CSVError` with the code `format-error` if the archive is empty, has several files or an encrypted one, or
  ///   is a document; `compression-error` if it is damaged.
  func reader() throws(CSVError) -> ArchiveReader {
    try checkEnd()
    let index = try indexOfFile()
    let feed = ArchiveFeed(input, seeks: true)
    do throws(Archive.Failure) {
      let archive = try Archive(library, feed, as: .zip)
      for _ in 0...index { _ = try archive.nextEntry() }
      return ArchiveReader(archive, feed: feed, kind: .zip, name: input.name)
    } catch {
      throw damage(error, feed)
    }
  }

  /// Finds the end record where the archive ends. libarchive also accepts other bytes behind it.
  private func checkEnd() throws(CSVError) {
    let total = input.totalBytes ?? 0
    var end = [UInt8](repeating: 0, count: min(total, Self.endBytes + Self.commentBytesMax))
    let start = total - end.count
    var have = 0
    while have < end.count {
      let count = try end.overwrite(from: have) { bytes throws(CSVError) in
        try input.read(into: bytes, at: start + have)
      }
      if count == 0 { break }
      have += count
    }
    for index in stride(from: end.count - Self.endBytes, through: 0, by: -1) where end[index] == Self.endMagic[0] {
      let commentBytes = Int(end[index + 20]) | Int(end[index + 21]) << 8
      guard end[index...].starts(with: Self.endMagic), index + Self.endBytes + commentBytes == end.count else {
        continue
      }
      // libarchive does not recognise an archive whose number of entries is 0.
      if end[index + 10] == 0, end[index + 11] == 0 { throw Self.noFile(input.name) }
      return
    }
    throw CSVError(
      .compression, "the zip archive ends in the middle, or something else follows it; fetch the file again",
      path: input.name, byte: 0, compressedByte: total)
  }

  /// The number of entries before the only file.
  private func indexOfFile() throws(CSVError) -> Int {
    var found: (index: Int, isEncrypted: Bool)?
    var names: [String] = []
    var fileCount = 0
    var document: String?
    let feed = ArchiveFeed(input, seeks: true)
    do throws(Archive.Failure) {
      let archive = try Archive(library, feed, as: .zip)
      var index = 0
      while let entry = try archive.nextEntry() {
        defer { index += 1 }
        document = document ?? ForeignFormat.document(entryName: entry.name)
        guard entry.isRegular, !Self.isIgnored(entry.name) else { continue }
        fileCount += 1
        found = found ?? (index, entry.isEncrypted)
        if names.count < Self.namesMax { names.append(Self.shown(entry.name)) }
      }
    } catch {
      throw damage(error, feed)
    }
    if let document { throw refusal(document) }
    guard let found else { throw Self.noFile(input.name) }
    if fileCount > 1 {
      let more = fileCount > names.count ? " and \(fileCount - names.count) more" : ""
      throw refusal(
        "is a zip archive of several files (\(names.joined(separator: ", "))\(more)); unpack it, and name the table in it"
      )
    }
    if found.isEncrypted {
      throw refusal("is an encrypted zip archive; unpack it with its password, and name the table in it")
    }
    return found.index
  }

  /// What macOS adds to an archive.
  private static func isIgnored(_ name: String) -> Bool {
    name.hasPrefix("__MACOSX/") || name == ".DS_Store" || name.hasSuffix("/.DS_Store")
  }

  /// A name from the archive for a message: on one line, and not long.
  private static func shown(_ name: String) -> String {
    let scalars = name.unicodeScalars.prefix(60).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: Character("?")
      default: Character(scalar)
      }
    }
    return String(scalars) + (name.unicodeScalars.count > 60 ? "…" : "")
  }

  private static func noFile(_ path: String) -> CSVError {
    CSVError(.format, "is a zip archive without a file; zip the table again", path: path, byte: 0)
  }

  private func refusal(_ message: String) -> CSVError { CSVError(.format, message, path: input.name, byte: 0) }

  private func damage(_ failure: Archive.Failure, _ feed: ArchiveFeed) -> CSVError {
    ArchiveReader.error(failure, feed: feed, kind: .zip, name: input.name, byte: 0, compressedByte: feed.usedBytes)
  }
}
