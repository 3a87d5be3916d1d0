/// Formats that are not delimited text, recognized by how their files begin.
enum KnownFormat {
  private static let beginnings: [(bytes: [UInt8], name: String, advice: String)] = [
    ([0x50, 0x4B, 3, 4], "a ZIP archive or a workbook (.xlsx, .ods, .numbers)", "export the sheet as CSV"),
    ([0xD0, 0xCF, 0x11, 0xE0], "an old Excel workbook (.xls)", "save the sheet as CSV"),
    (Array("%PDF-".utf8), "a PDF", "export the table as CSV from the program that made it"),
    (Array("SQLite format 3\0".utf8), "a SQLite database", "export the table as CSV"),
    (Array("PAR1".utf8), "a Parquet file", "convert it to CSV"),
    ([0x28, 0xB5, 0x2F, 0xFD], "compressed with Zstandard", "decompress it with unzstd"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "compressed with xz", "decompress it with unxz"),
    (Array("BZh".utf8), "compressed with bzip2", "decompress it with bunzip2"),
    (Array("<?xml".utf8), "XML", "export the table as CSV"),
    (Array("<!DOCTYPE".utf8), "a web page", "fetch the file itself, or export the table as CSV"),
    (Array("<html".utf8), "a web page", "fetch the file itself, or export the table as CSV"),
    (Array("{\\rtf".utf8), "rich text", "save the table as CSV"),
  ]

  /// Why a file can't be a table of delimited text; nil if it can.
  static func doubt(_ sample: FileSample) -> GuessPoint? {
    func point(_ shown: String, _ evidence: String) -> GuessPoint {
      GuessPoint(name: "format", shown: shown, confidence: 0, evidence: evidence)
    }
    if sample.head.allSatisfy(\.isBlank) { return point("empty", "the file has no text") }
    if let known = beginnings.first(where: { sample.head.starts(with: $0.bytes) }) {
      return point(known.name, "the file begins like that; \(known.advice)")
    }
    let start = sample.head.first { !$0.isBlank }
    let isObject = start == UInt8(ascii: "{") && sample.head.contains(UInt8(ascii: ":"))
    if isObject || start == UInt8(ascii: "[") && sample.head.contains(UInt8(ascii: "{")) {
      return point(
        "JSON", "the file begins with \(isObject ? "an object" : "an array"); a guess reads delimited text only")
    }
    return nil
  }
}
