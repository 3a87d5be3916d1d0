import CSV

/// The encodings of older spreadsheet programs, which a guess can name as well as Unicode's.
extension CSVEncoding {
  /// Single-byte encodings, as far as the C library converts them.
  static let singleByteCandidates = [windows1252] + ["macintosh", "cp850"].compactMap(CSVEncoding.init(named:))

  /// The characters of the bytes 80 to FF of a single-byte encoding; U+FFFD for bytes that stand for none.
  var upperHalf: [Unicode.Scalar] {
    // Each byte is a line of its own, so an undefined one cannot affect the next.
    let lines = utf8((0x80...0xFF).flatMap { [UInt8($0), UInt8(ascii: "\n")] })
    return lines.text.unicodeScalars.filter { $0 != "\n" }
  }

  /// The name in reports.
  var displayName: String {
    switch name {
    case "utf-8": "UTF-8"
    case "utf-16le": "UTF-16 (little-endian)"
    case "utf-16be": "UTF-16 (big-endian)"
    case "utf-32le": "UTF-32 (little-endian)"
    case "utf-32be": "UTF-32 (big-endian)"
    case "windows-1252": "Windows-1252"
    case "macintosh": "Mac OS Roman"
    case "cp850": "code page 850"
    default: name
    }
  }
}
