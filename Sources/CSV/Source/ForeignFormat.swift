/// A format that is recognised by its first bytes and cannot be read: the input is refused by that name instead of
/// being taken for text.
struct ForeignFormat {
  /// How many bytes of an input decide.
  static let headBytes = 512

  /// What the input is, and what to do about it.
  let message: String

  /// Nil for anything else.
  init?(_ head: [UInt8]) {
    if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
      guard let message = Self.document(entryName: Self.firstName(head)) else { return nil }
      self.message = message
      return
    }
    guard
      let known = Self.known.first(where: { $0.offset <= head.count && head[$0.offset...].starts(with: $0.magic) })
    else { return nil }
    message = known.message
  }

  /// What to say of a zip archive that has an entry of this name and so is a document (ECMA-376 part 2, OpenDocument 1.3
  /// part 2); nil for other names.
  static func document(entryName name: String) -> String? {
    if name == "[Content_Types].xml" || ["xl/", "_rels/", "docProps/"].contains(where: name.hasPrefix) {
      "is an Excel workbook (.xlsx), or another Office document; open it, and save the sheet as CSV in UTF-8"
    } else if name == "mimetype" {
      "is an OpenDocument file (.ods); open it, and save the sheet as CSV in UTF-8"
    } else if name == "Index/Document.iwa" {
      "is a document of Apple's Numbers, Pages or Keynote; open it, and export the table as CSV in UTF-8"
    } else {
      nil
    }
  }

  private static let known: [(offset: Int, magic: [UInt8], message: String)] = [
    (0, [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "is a 7-Zip archive; unpack it, and name the table in it"),
    (0, Array("Rar!\u{1A}\u{7}".utf8), "is a RAR archive; unpack it, and name the table in it"),
    // The name of the format in the header of the first file (POSIX.1-2017, pax).
    (257, Array("ustar".utf8), "is a tar archive; unpack it, and name the table in it"),
    (
      0, Array("SQLite format 3\0".utf8),
      "is a SQLite database; export the table as CSV, for example with sqlite3 -csv -header FILE 'SELECT …'"
    ),
    // Every Parquet file continues with the type of a compact Thrift field; text does not.
    (0, Array("PAR1\u{15}".utf8), "is a Parquet file; export it as CSV, for example with DuckDB or pandas"),
    (
      0, [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1],
      "is a document of an older Office (.xls); open it, and save the sheet as CSV in UTF-8"
    ),
    (0, Array("%PDF-1.".utf8), "is a PDF document; look for the table in another format"),
  ]

  /// The name of the first file in a zip archive (APPNOTE.TXT, 4.3.7).
  private static func firstName(_ head: [UInt8]) -> String {
    let count = head.count > 28 ? Int(head[26]) + Int(head[27]) << 8 : 0
    return String(decoding: head.dropFirst(30).prefix(count), as: UTF8.self)
  }
}
