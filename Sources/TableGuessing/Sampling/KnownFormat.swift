import CSV

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

  /// How many members of JSON Lines are shown.
  private static let labelsMax = 20

  /// Why a file can't be a table of delimited text; nil if it can.
  static func doubt(_ sample: FileSample) -> GuessPoint? {
    func point(_ shown: String, _ evidence: String) -> GuessPoint {
      GuessPoint(name: pointName, shown: shown, confidence: 0, evidence: evidence)
    }
    if sample.head.allSatisfy(\.isBlank) { return point("empty", "the file has no text") }
    if let known = beginnings.first(where: { sample.head.starts(with: $0.bytes) }) {
      return point(known.name, "the file begins like that; \(known.advice)")
    }
    if let labels = UnreadInput.memberLabels(inFirstLineOf: sample.head) {
      return point(
        "JSON Lines",
        "the file is JSON Lines, which need no guess: import it as it is if its members have the names of the "
          + "columns; otherwise write a pipeline whose columns are named after its members, which are "
          + (labels.isEmpty ? "none in the first line" : labels.prefix(labelsMax).joined(separator: ", "))
          + (labels.count > labelsMax ? " and others" : ""))
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
