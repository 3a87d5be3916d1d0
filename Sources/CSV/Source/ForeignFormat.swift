/// A format that is recognised by its first bytes and cannot be read: the input is refused by that name instead of
/// being taken for text.
struct ForeignFormat {
  /// How many bytes of an input decide.
  static let headBytes = 64

  /// What the input is, and what to do about it.
  let message: String

  /// Nil for anything else.
  init?(_ head: [UInt8]) {
    if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) || head.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
      message = Self.zipMessage(head)
      return
    }
    if Self.isBzip2(head) {
      message = Self.compressed("bzip2 (.bz2)", "bzip2 -dc")
      return
    }
    guard let known = Self.known.first(where: { head.starts(with: $0.magic) }) else { return nil }
    message = known.message
  }

  private static let known: [(magic: [UInt8], message: String)] = [
    ([0x28, 0xB5, 0x2F, 0xFD], compressed("Zstandard (.zst)", "zstd -dc")),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], compressed("xz", "xz -dc")),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "is a 7-Zip archive; unpack it, and name the table in it"),
    (
      Array("SQLite format 3\0".utf8),
      "is a SQLite database; export the table as CSV, for example with sqlite3 -csv -header FILE 'SELECT …'"
    ),
    // Every Parquet file continues with the type of a compact Thrift field; text does not.
    (Array("PAR1\u{15}".utf8), "is a Parquet file; export it as CSV, for example with DuckDB or pandas"),
    (
      [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
      "is a document of an older Office (.xls); open it, and save the sheet as CSV in UTF-8"
    ),
    (Array("%PDF-1.".utf8), "is a PDF document; look for the table in another format"),
  ]

  /// The six bytes after BZh and the block size begin a block, or end an empty file.
  private static func isBzip2(_ head: [UInt8]) -> Bool {
    guard head.count >= 10, head.starts(with: Array("BZh".utf8)) else { return false }
    let next = Array(head[4..<10])
    return next == [0x31, 0x41, 0x59, 0x26, 0x53, 0x59] || next == [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]
  }

  private static func compressed(_ name: String, _ command: String) -> String {
    "is compressed with \(name), which is not read; decompress it first, for example with \(command), and read its output from \"-\""
  }

  /// A workbook is a zip archive too; the name of the first file in it tells (ECMA-376 part 2, OpenDocument 1.3 part 2).
  private static func zipMessage(_ head: [UInt8]) -> String {
    let count = head.count > 28 ? Int(head[26]) + Int(head[27]) << 8 : 0
    let name = String(decoding: head.dropFirst(30).prefix(count), as: UTF8.self)
    if name == "[Content_Types].xml" || ["xl/", "_rels/", "docProps/"].contains(where: name.hasPrefix) {
      return "is an Excel workbook (.xlsx), or another Office document; open it, and save the sheet as CSV in UTF-8"
    }
    if name == "mimetype" {
      return "is an OpenDocument file (.ods); open it, and save the sheet as CSV in UTF-8"
    }
    return "is a zip archive; unpack it, and name the table in it"
  }
}
