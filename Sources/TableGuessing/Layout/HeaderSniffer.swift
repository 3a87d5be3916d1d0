/// Finds title lines above the table, and its header.
struct HeaderSniffer {
  /// The most records that are one header.
  static let headerRowsMax = 4

  let width: Int
  /// Whether a text is known as a label.
  let isLabel: (String) -> Bool
  /// The records without comments.
  let records: [SplitRecord]
  /// Records that are certainly of the table.
  let kinds: ColumnKinds
  private let first: Int

  init(_ records: [SplitRecord], width: Int, isLabel: @escaping (String) -> Bool) {
    self.records = records
    self.width = width
    self.isLabel = isLabel
    first = records.firstIndex { Self.isTabular($0, width: width) } ?? 0
    let table = records[min(first, records.count)...].filter { $0.cells.count == width && !$0.isBlank }
    // The first records may be a header; without them there are hardly any in a small table.
    let skipped = table.count > 12 ? 4 : min(1, max(0, table.count - 1))
    kinds = ColumnKinds(table.dropFirst(skipped).prefix(300), width: width)
  }

  /// Whether a record may belong to the table: about as many fields, and enough of them filled.
  static func isTabular(_ record: SplitRecord, width: Int) -> Bool {
    let slack = width >= 4 ? max(1, width / 5) : 0
    guard abs(record.cells.count - width) <= slack else { return false }
    return record.filledCount >= max(min(2, width), (width + 1) / 2)
  }

  struct Result {
    var skipRows: Finding<Int>
    var headerRows: Finding<Int>
    var labels: [String]
    /// Index of the first record after the header.
    var body: Int
    var headerLines: ClosedRange<Int>?
  }

  func guess() -> Result {
    guard first < records.count, !records.isEmpty else {
      let none = Finding(0, confidence: 1, evidence: "the file has no records")
      return Result(skipRows: none, headerRows: none, labels: [], body: 0)
    }
    let header = headerRows()
    let count = header.value
    let lines = count > 0 ? records[first].line...records[first + count - 1].line : nil
    return Result(
      skipRows: skipRows(), headerRows: header, labels: labels(count), body: first + count, headerLines: lines)
  }

  private func skipRows() -> Finding<Int> {
    let line = records[first].line
    guard line > 1 else { return Finding(0, confidence: 1, evidence: "the table begins in the first line") }
    let above = records[..<first].filter { !$0.isBlank }
    let texts = above.map { $0.cells.map(\.text).filter { !$0.isEmpty }.joined(separator: " ") }
    let widths = "\(counted(width, "field")) a record from line \(line) on"
    if texts.isEmpty {
      return Finding(line - 1, confidence: 0.98, evidence: "blank lines or comments only, and \(widths)")
    }
    // Many lines above the table may be a table of their own.
    let isLong = above.count > 20 || above.count * 2 > records.count
    return Finding(
      line - 1, confidence: isLong ? 0.6 : 0.95, evidence: "\(quoted(texts, limit: 3)), then \(widths)",
      choices: isLong ? ["\"skipRows\": \(line - 1)", "\"skipRows\": 0"] : [])
  }

  // MARK: The header

  private func headerRows() -> Finding<Int> {
    var finding = isHeader(records[first])
    guard finding.value > 0 else { return finding }
    let rest = records.dropFirst(first + 1).prefix(Self.headerRowsMax - 1)
    let more = rest.prefix { continuesHeader($0) }.count
    if more > 0 {
      finding.value += more
      finding.confidence = min(finding.confidence, 0.85)
      finding.evidence += "; \(counted(more, "line")) below it \(more == 1 ? "has" : "have") no values of their columns"
    }
    if records[first].cells.count != width {
      finding.confidence = 0.5
      finding.evidence =
        "line \(records[first].line) looks like the header and has \(counted(records[first].cells.count, "field")), "
        + "not \(width)"
      finding.choices = ["correct the header", "\"header\": false with \"columns\""]
    }
    return finding
  }

  /// 1 for a header, 0 for a record.
  private func isHeader(_ record: SplitRecord) -> Finding<Int> {
    let line = record.line
    let known = record.cells.count { isLabel($0.text) }
    let comparison = kinds.compare(record)
    let choices = ["\"headerRows\": 1", "\"header\": false"]
    if kinds.records == 0 {
      let isText = comparison.values == 0 && record.cells.allSatisfy { !CellKind($0.bytes.trimmed).isTyped }
      return Finding(
        isText ? 1 : 0, confidence: isText && known * 2 >= width ? 0.9 : 0.5,
        evidence: "line \(line) is the only record", choices: choices)
    }
    if comparison.mismatches > 0, comparison.matches == 0 {
      let columns = counted(comparison.mismatches, "column")
      return Finding(
        1, confidence: min(0.99, 0.82 + 0.04 * Double(comparison.mismatches + known)),
        evidence: "line \(line) has texts in \(columns) of numbers or dates")
    }
    if comparison.matches > 0, comparison.mismatches == 0, known == 0 {
      return Finding(
        0, confidence: min(0.99, 0.85 + 0.04 * Double(comparison.matches)),
        evidence: "line \(line) has the same kinds of values as the lines below it")
    }
    if comparison.matches + comparison.mismatches > 0 {
      let isHeader = known >= 2 && comparison.matches <= comparison.mismatches
      // A value or two of another kind do not make a header of a record.
      let isClear = !isHeader && known == 0 && comparison.matches >= 3 * comparison.mismatches
      return Finding(
        isHeader ? 1 : 0, confidence: isHeader && known >= 3 || isClear ? 0.85 : 0.55,
        evidence: """
          line \(line) has values like the lines below it in \(counted(comparison.matches, "column")), and unlike them in \
          \(comparison.mismatches)
          """, choices: choices)
    }
    return textHeader(record, known: known, repeats: comparison.repeats, choices: choices)
  }

  /// Decides for a table of texts only.
  private func textHeader(
    _ record: SplitRecord, known: Int, repeats: Int, choices: [String]
  ) -> Finding<Int> {
    let line = record.line
    if known >= 2 || known * 2 >= width, known > 0 {
      return Finding(1, confidence: 0.92, evidence: "line \(line) has \(counted(known, "known label"))")
    }
    if repeats * 2 >= width {
      return Finding(
        0, confidence: 0.8, evidence: "\(repeats) of the texts of line \(line) are in other records too",
        choices: choices)
    }
    let texts = record.cells.map(\.text)
    let isShort = texts.allSatisfy { !$0.isEmpty && $0.count <= 30 } && Set(texts).count == texts.count
    return Finding(
      isShort && repeats == 0 ? 1 : 0, confidence: 0.55,
      evidence: "all columns are texts, and line \(line) may be their labels or a record", choices: choices)
  }

  /// Whether a record below the header belongs to it: no values, and texts where values belong.
  private func continuesHeader(_ record: SplitRecord) -> Bool {
    guard !record.isBlank, record.cells.count == width, kinds.records > 2 else { return false }
    let comparison = kinds.compare(record)
    guard comparison.matches == 0, comparison.values == 0, comparison.repeats == 0 else { return false }
    return comparison.mismatches >= 2 || comparison.mismatches == 1 && kinds.typed.count == 1 && kinds.records > 8
  }

  private func labels(_ count: Int) -> [String] {
    guard count > 0 else { return Array(repeating: "", count: width) }
    let rows = records[first..<(first + count)]
    return (0..<width).map { column in
      var parts: [String] = []
      for row in rows {
        // As the engine joins them: without empty ones, and without those that repeat the one above.
        let text = row.text(column)
        if !text.isEmpty, text != parts.last { parts.append(text) }
      }
      return parts.joined(separator: " ")
    }
  }
}
