/// Finds the table in a decoded sample: what surrounds it, its header, and its records.
struct TableSniffer {
  private(set) var layout: Layout
  /// The records of the table that were seen, without blank ones, comments and the footer.
  private(set) var body: [SplitRecord] = []
  private(set) var doubts: [GuessPoint] = []
  private(set) var remarks: [String] = []

  init(_ sample: DecodedSample, _ dialect: DialectSniffer.Result, isLabel: @escaping (String) -> Bool) {
    let width = dialect.width
    let all = RecordSplitter.records(of: sample.head, dialect.dialect)
    let comment = CommentSniffer.guess(all, width: width)
    func isRecord(_ record: SplitRecord) -> Bool {
      comment.value.map { !CommentSniffer.begins(record, with: Array($0.utf8)) } ?? true
    }
    let head = all.filter(isRecord)
    let sniffer = HeaderSniffer(head, width: width, isLabel: isLabel)
    let header = sniffer.guess()
    let tail = RecordSplitter.records(of: sample.tail, dialect.dialect).filter(isRecord)
    let middle = sample.blocks.flatMap { RecordSplitter.records(of: $0, dialect.dialect).filter(isRecord) }
    let below = Array(head[min(header.body, head.count)...])
    let footerSniffer = FooterSniffer(width: width, kinds: sniffer.kinds)
    var (footer, footerCount) =
      tail.isEmpty
      ? footerSniffer.guess(head, body: header.body) : footerSniffer.guess(tail, body: 0, others: below + middle)
    if !sample.hasEnd {
      footer = Finding(.none, confidence: 0.9, evidence: "the end of the file was not seen")
      footerCount = 0
    }
    let headBody = below.dropLast(tail.isEmpty ? footerCount : 0)
    let records = headBody + middle + tail.dropLast(footerCount)
    body = records.filter { !$0.isBlank }
    let blank = [below, middle, tail].reduce(0) { $0 + $1.count(where: \.isBlank) }
    layout = Layout(
      comment: comment, skipRows: Self.skipRows(header, comment, above: all), headerRows: header.headerRows,
      labels: header.labels,
      footer: footer, blankRecords: blank, width: width, headerLines: header.headerLines)
    if body.isEmpty {
      doubts.append(
        GuessPoint(
          name: "records", shown: "none", confidence: 0,
          evidence: "the table has no record below the header, so nothing shows the forms of values"))
    }
    lookForSecondTable(Array(headBody), kinds: sniffer.kinds)
    layout.ragged = RaggedSniffer(width: width, kinds: sniffer.kinds).guess(body)
    lookForRaggedRecords(isFromFirstLine: tail.isEmpty && sample.blocks.isEmpty)
  }

  /// Comments and blank lines alone above the header need no rows to be skipped.
  private static func skipRows(
    _ header: HeaderSniffer.Result, _ comment: Finding<String?>, above all: [SplitRecord]
  ) -> Finding<Int> {
    guard header.skipRows.value > 0, let sign = comment.value else { return header.skipRows }
    let above = all.prefix { $0.line <= header.skipRows.value }
    guard above.allSatisfy({ CommentSniffer.begins($0, with: Array(sign.utf8)) }) else { return header.skipRows }
    return Finding(0, confidence: 1, evidence: "only comments are above the header")
  }

  private mutating func lookForSecondTable(_ records: [SplitRecord], kinds: ColumnKinds) {
    func doubt(_ record: SplitRecord, _ evidence: String) -> GuessPoint {
      GuessPoint(
        name: "second table", shown: "from line \(record.line) on", confidence: 0.4, evidence: evidence,
        choices: ["\"stopAt\" with the beginning of line \(record.line)", "divide the file"])
    }
    var repeated = 0
    for (index, record) in records.enumerated() where !record.isBlank {
      // Lazily: the rest of a large sample is not searched for each record.
      let next = Array(records[index...].lazy.filter { !$0.isBlank }.prefix(4))
      let count = record.cells.count
      if count != layout.width, count > 1, next.count >= 3, next.allSatisfy({ $0.cells.count == count }) {
        doubts.append(doubt(record, "from there on records have \(count) fields, not \(layout.width)"))
        return
      }
      guard layout.width > 1, count == layout.width, record.filledCount > layout.width / 2 else { continue }
      if layout.headerRows.value > 0, record.cells.map(\.text) == layout.labels {
        repeated += 1
        continue
      }
      let comparison = kinds.compare(record)
      if comparison.mismatches >= 2, comparison.matches == 0, comparison.values == 0, kinds.typed.count >= 2,
        comparison.mismatches * 3 >= kinds.typed.count * 2, kinds.records > 3
      {
        doubts.append(doubt(record, "that record has no values of its columns, like a header"))
        return
      }
    }
    layout.repeatedHeaders = repeated
    if repeated > 0 { remarks.append("The header is repeated in \(counted(repeated, "line")); they will be rejected.") }
  }

  private mutating func lookForRaggedRecords(isFromFirstLine: Bool) {
    for (records, what) in [
      (body.filter { $0.cells.count < layout.width }, "fewer"), (body.filter { $0.cells.count > layout.width }, "more"),
    ] where !records.isEmpty {
      let line = isFromFirstLine ? ", the first in line \(records[0].line)" : ""
      let verb = records.count == 1 ? "has" : "have"
      guard layout.ragged.value == .none else { continue }
      remarks.append(
        "\(counted(records.count, "record")) \(verb) \(what) than \(layout.width) fields\(line): rejected unless the "
          + "dialect says \"raggedRows\".")
    }
    let broken = body.filter(\.isBroken)
    if !broken.isEmpty {
      let line = isFromFirstLine ? ", the first in line \(broken[0].line)" : ""
      remarks.append("In \(counted(broken.count, "record"))\(line), a quote is out of place: rejected as it is.")
    }
  }
}
