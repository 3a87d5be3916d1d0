/// Finds the sign that begins lines of comment.
enum CommentSniffer {
  private static let signs = ["#", "//", "%", "!"]

  static func guess(_ records: [SplitRecord], width: Int) -> Finding<String?> {
    let none = Finding<String?>(nil, confidence: 1, evidence: "no lines begin with a sign of comments")
    guard width > 1 else { return none }
    for sign in signs {
      let bytes = Array(sign.utf8)
      let found = records.filter { begins($0, with: bytes) }
      guard !found.isEmpty else { continue }
      let wide = found.count { $0.cells.count == width && $0.filledCount > max(1, width / 2) }
      let narrow = found.count - wide
      // Values such as #7, or a header whose first label begins so.
      if narrow == 0 { continue }
      let evidence = "\(counted(found.count, "line")) \(found.count == 1 ? "begins" : "begin") with \(sign)"
      if wide == 0 { return Finding(sign, confidence: 0.95, evidence: evidence) }
      if wide * 5 <= records.count {
        return Finding(
          sign, confidence: 0.85, evidence: "\(evidence), \(wide) of them with as many fields as a record")
      }
      return Finding(
        sign, confidence: 0.5, evidence: "\(evidence), \(wide) of them with as many fields as a record",
        choices: ["\"commentChar\": \"\(sign)\"", "no comments"])
    }
    return none
  }

  static func begins(_ record: SplitRecord, with sign: [UInt8]) -> Bool {
    guard let first = record.cells.first, !first.isQuoted else { return false }
    return first.bytes.has(sign, at: 0)
  }
}
