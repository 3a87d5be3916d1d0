/// Texts that are not delimited, recognised by how they begin. Archives, workbooks and databases are refused by the
/// source of the bytes.
enum KnownFormat {
  private static let beginnings: [(bytes: [UInt8], name: String, advice: String)] = [
    (Array("<?xml".utf8), "XML", "export the table as CSV"),
    (Array("<!DOCTYPE".utf8), "a web page", "fetch the file itself, or export the table as CSV"),
    (Array("<html".utf8), "a web page", "fetch the file itself, or export the table as CSV"),
    (Array("{\\rtf".utf8), "rich text", "save the table as CSV"),
  ]

  static let pointName = "format"

  /// Why a file can't be a table of delimited text; nil if it can.
  static func doubt(_ sample: FileSample) -> GuessPoint? {
    func point(_ shown: String, _ evidence: String) -> GuessPoint {
      GuessPoint(name: pointName, shown: shown, confidence: 0, evidence: evidence)
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
