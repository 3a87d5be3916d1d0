import CSV
import Foundation

/// What an output held when it was written: kept in a file beside it, so that whoever reads the output can tell
/// whether it is whole.
///
/// The file is `<output>.xxh128`. Its first line is that of `xxhsum -H2`, which `xxhsum -c` checks against the bytes on
/// the disk; the second, which to `xxhsum` is a comment, has the number of records and the hash and the size of the
/// content, unpacked:
///
/// ```
/// 6bba86c7e069f56d5a10b435f1c8e49c  log.csv.gz
/// # records 2, content 1c8e49c6bba86c7e069f56d5a10b435f, bytes 96
/// ```
struct OutputSeal: Sendable, Hashable {
  /// Of the output as it is stored.
  var stored: ContentDigest
  /// Header excluded.
  var records: Int
  /// Of what a reader sees, the same whether the output is compressed or not.
  var content: ContentDigest
  var contentBytes: Int

  static func path(for output: String) -> String { output + ".xxh128" }

  /// Writes the file beside `output`, whole and durable but not yet under its name: the sink still has to be committed.
  ///
  /// - Throws: `write-error`.
  func write(for output: String) throws(CSVError) -> ByteSink {
    let sink = try ByteSink(path: Self.path(for: output))
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

  /// Reads the file beside `output`.
  ///
  /// - Throws: 66 when there is none that can be read, 65 when it is no such file.
  static func read(for output: String) throws(RunFailure) -> OutputSeal {
    let path = path(for: output)
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw RunFailure(
        code: .sourceError, exitCode: .noInput,
        message: "there is no hash file \(path) that can be read; an export writes it with --hash")
    }
    guard let seal = OutputSeal(text: text) else {
      throw RunFailure(
        code: .sourceError, exitCode: .dataError,
        message: "\(path) is no hash file of an export, or was changed; export again with --hash")
    }
    return seal
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

extension OutputSeal {
  /// The seal of an input, whose content is read to see that it is the one that was sealed.
  ///
  /// Before anything of the input is used: what is damaged at its end must not go in up to there.
  ///
  /// - Throws: 65 for another content; as `read`, and what reading the input throws.
  static func verified(_ path: String, _ name: String) throws(RunFailure) -> OutputSeal {
    guard path != "-" else {
      throw RunFailure(
        code: .sourceError, exitCode: .noInput,
        message: "standard input has no hash file beside it; name a file, or leave out the check of the hash")
    }
    let seal = try read(for: path)
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
    guard hash.digest == seal.content else {
      let size =
        hash.byteCount == seal.contentBytes ? "" : ", and of \(hash.byteCount) bytes instead of \(seal.contentBytes)"
      throw RunFailure(
        code: .hashCount, exitCode: .dataError,
        message:
          "\(name): its content is not what \(Self.path(for: name)) says\(size); fetch both again, or export again")
    }
    return seal
  }

  /// Checks the number of records that were read: a wrong one of the right content shows a
  /// wrong dialect.
  func checkRecords(_ count: Int, of name: String) throws(RunFailure) {
    if count == records { return }
    throw RunFailure(
      code: .rowCount, exitCode: .dataError,
      message: "\(name): has \(count) records, and its hash file says \(records): its dialect is not the pipeline's, "
        + "though every byte is in place")
  }
}
