import CSV
import Foundation
import SystemSupport

/// What an output held when it was written, kept in a file next to it, so that a reader of the output can check whether
/// it is complete.
///
/// The file is `<output>.xxh128`. Its first line is that of `xxhsum -H2`, which `xxhsum -c` checks against the bytes on
/// the disk. The second line, which is a comment to `xxhsum`, has the number of records and the hash and size of the
/// uncompressed content:
///
/// ```
/// 6bba86c7e069f56d5a10b435f1c8e49c  log.csv.gz
/// # records 2, content 1c8e49c6bba86c7e069f56d5a10b435f, bytes 96
/// ```
struct ChecksumFile: Sendable, Hashable {
  /// The digest of the output as stored.
  var stored: ContentDigest
  /// Without the header.
  var records: Int
  /// The digest of the uncompressed content, so the same whether the output is compressed or not.
  var content: ContentDigest
  var contentBytes: Int

  static let nameEnd = ".xxh128"

  static func path(for output: String) -> String { output + nameEnd }

  /// Checks that the file next to `output` can be written: a FIFO would be waited for.
  ///
  /// - Throws: `write-error`.
  static func check(for output: String) throws(CSVError) {
    let path = path(for: output)
    try OutputFile.checkOwner(of: path)
    guard let kind = stat.of(path).flatMap(RegularFile.kind) else { return }
    throw CSVError(
      .write, "is \(kind), and the checksum of \(output) belongs there; move it away, or name another output",
      path: path, errnoCode: EEXIST)
  }

  /// Writes the file next to `output`, complete and durable but not yet under its name: the sink still has to be
  /// committed.
  ///
  /// - Throws: `write-error`.
  func write(for output: String, permissions: UInt32) throws(CSVError) -> ByteSink {
    let sink = try ByteSink(path: Self.path(for: output), permissions: permissions)
    try sink.write(text(for: output))
    try sink.finish()
    return sink
  }

  private func text(for output: String) -> String {
    """
    \(stored.hex)  \(URL(fileURLWithPath: output).lastPathComponent)
    # records \(records), content \(content.hex), bytes \(contentBytes)

    """
  }

  /// It has two lines, with the name of a file.
  private static let bytesMax = 64 << 10

  /// Reads the file next to `output`.
  ///
  /// - Throws: 66 when there is none that can be read, 65 when it is not a checksum file.
  static func read(for output: String) throws(RunFailure) -> ChecksumFile {
    let path = path(for: output)
    let text: String
    do throws(RegularFileError) {
      text = String(decoding: try RegularFile.read(path, bytesMax: bytesMax), as: UTF8.self)
    } catch {
      let problem = error.code == ENOENT ? "is missing" : "can't be read: \(error.reason)"
      throw RunFailure(
        code: .sourceError, exitCode: .noInput,
        message: "the checksum file \(path) \(problem); an export writes it with --hash")
    }
    guard let file = ChecksumFile(text: text) else {
      throw RunFailure(
        code: .sourceError, exitCode: .dataError,
        message: "\(path) is not a checksum file of an export, or was changed; export again with --hash")
    }
    return file
  }

  private init?(text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty, let stored = ContentDigest(hex: lines[0].prefix(32)),
      lines[0].dropFirst(32).hasPrefix("  ")
    else { return nil }
    let words = lines[1].split(separator: " ").map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
    guard words.count == 7, [words[0], words[1], words[3], words[5]] == ["#", "records", "content", "bytes"],
      let records = Int(words[2]), let content = ContentDigest(hex: words[4]), let bytes = Int(words[6])
    else { return nil }
    self.init(stored: stored, records: records, content: content, contentBytes: bytes)
  }

  init(stored: ContentDigest, records: Int, content: ContentDigest, contentBytes: Int) {
    self.stored = stored
    self.records = records
    self.content = content
    self.contentBytes = contentBytes
  }
}

// MARK: - Verifying

extension ChecksumFile {
  /// The checksum file of an input, whose content is read to verify it.
  ///
  /// Called before anything of the input is used: of an input that is damaged at its end, no record may be imported.
  ///
  /// - Throws: 65 for different content; also what `read` and reading the input throw.
  static func verified(_ path: String, _ name: String) throws(RunFailure) -> ChecksumFile {
    guard path != "-", !OutputPath.isSpecial(path) else {
      let shown = path == "-" ? "standard input" : "\(name), which is not a regular file,"
      throw RunFailure(
        code: .sourceError, exitCode: .noInput,
        message: "\(shown) has no checksum file next to it; name a file, or leave out the check of the hash")
    }
    let file = try read(for: path)
    let hash = ContentHash()
    do throws(CSVError) {
      let source = try ByteSource(path: path)
      var bytes: [UInt8] = []
      while try source.read(appendingTo: &bytes, bytesMax: 256 << 10) > 0 {
        hash.update(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    } catch {
      throw RunFailure(error)
    }
    guard hash.digest == file.content else {
      let size =
        hash.byteCount == file.contentBytes ? "" : ", and of \(hash.byteCount) bytes instead of \(file.contentBytes)"
      throw RunFailure(
        code: .hashCount, exitCode: .dataError,
        message:
          "\(name): its content is not what \(Self.path(for: name)) says\(size); fetch both again, or export again")
    }
    return file
  }

  /// Checks the number of records that were read: a wrong number for the right content indicates a wrong dialect.
  func checkRecords(_ count: Int, of name: String) throws(RunFailure) {
    if count == records { return }
    throw RunFailure(
      code: .rowCount, exitCode: .dataError,
      message: "\(name): has \(count) records, and its checksum file says \(records): its dialect is not "
        + "the pipeline's, although every byte is correct")
  }
}
