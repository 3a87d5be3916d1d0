/// Finds what follows the table: totals, footnotes.
struct FooterSniffer {
  static let footerRowsMax = 25

  let width: Int
  let kinds: ColumnKinds

  private static let totals = [
    "summe", "gesamt", "total", "totals", "sum", "somme", "suma", "soma", "anzahl", "count", "average", "mean",
    "durchschnitt",
    "mittelwert", "mittel", "moyenne", "média", "media", "promedio", "insgesamt", "totale", "subtotal", "grand total",
    "ø",
  ]

  /// The footer at the end of `records`, which are the last of the file.
  ///
  /// - Parameters:
  ///   - records: the last records.
  ///   - body: where the table begins among them.
  ///   - others: records of the table before them.
  /// - Returns: the footer, and the number of its records, blank ones included.
  func guess(_ records: [SplitRecord], body: Int, others: [SplitRecord] = []) -> (
    footer: Finding<Layout.Footer>, count: Int
  ) {
    let none = (Finding(Layout.Footer.none, confidence: 1, evidence: "the last record is like the others"), 0)
    let table = records[min(body, records.count)...]
    guard width > 1, let last = table.lastIndex(where: { !$0.isBlank }) else { return none }
    var start = last + 1
    var index = last
    var filled = 0
    while index >= table.startIndex {
      if !records[index].isBlank {
        guard isFooter(records[index]) else { break }
        start = index
        filled += 1
      }
      index -= 1
    }
    guard filled > 0 else { return none }
    let before = table[..<start].filter { !$0.isBlank }
    // Several lines of another number of fields are a table of their own.
    let odd = table[start...].filter { $0.cells.count != width && $0.filledCount > 1 && !isTotal($0) }
    if Dictionary(grouping: odd, by: \.cells.count).values.contains(where: { $0.count >= 3 }) { return none }
    guard filled <= Self.footerRowsMax, filled * 2 <= max(2, before.count) else {
      return (
        Finding(
          .none, confidence: 0.5, evidence: "the last \(counted(filled, "record")) are not like the others",
          choices: ["\"skipLastRows\": \(filled)", "no footer"]), 0
      )
    }
    return (footer(records[start], filled: filled, before: before + others), table.endIndex - start)
  }

  private func footer(
    _ record: SplitRecord, filled: Int, before: [SplitRecord]
  ) -> Finding<Layout.Footer> {
    let shown = record.cells.map(\.text).filter { !$0.isEmpty }.joined(separator: " ")
    let evidence =
      "\(counted(filled, "line")) at the end \(filled == 1 ? "is" : "are") not like the others, from \(quoted([shown])) on"
    let confidence = isTotal(record) || record.filledCount == 1 ? 0.95 : 0.8
    if let text = Self.beginning(record), !before.contains(where: { $0.text(0).hasPrefix(text) }) {
      return Finding(.stopAt(text), confidence: confidence, evidence: evidence)
    }
    return Finding(.last(filled), confidence: confidence, evidence: evidence)
  }

  /// What the first line of the footer begins with; nil if its first field is empty.
  private static func beginning(_ record: SplitRecord) -> String? {
    guard let first = record.cells.first, !first.isQuoted else { return nil }
    let text = first.text
    // A number in it may differ in the next file.
    let word = text.prefix { !$0.isNumber }.trimmingBlanks
    let short = word.count > 30 ? String(word.split(separator: " ").prefix(3).joined(separator: " ")) : word
    return short.isEmpty ? nil : short
  }

  /// Whether a record can't be one of the table.
  private func isFooter(_ record: SplitRecord) -> Bool {
    if isTotal(record) { return true }
    let few = record.filledCount <= max(1, width / 3)
    guard few else { return false }
    if beginsLikeRecord(record) { return false }
    // A short record with the values that all records have is a record.
    let matching = kinds.reliable.filter { hasFamily(record, $0) }
    let hasDates = kinds.reliable.contains { kinds.columns[$0].family == .date }
    guard hasDates else { return matching.isEmpty }
    return !matching.contains { kinds.columns[$0].family == .date } && matching.count * 2 < kinds.reliable.count
  }

  private func hasFamily(_ record: SplitRecord, _ column: Int) -> Bool {
    guard column < record.cells.count else { return false }
    return ColumnKinds.family(CellKind(record.cells[column].bytes.trimmed)) == kinds.columns[column].family
  }

  /// Whether a record that is separated otherwise begins with a value of the first column.
  private func beginsLikeRecord(_ record: SplitRecord) -> Bool {
    guard let family = kinds.columns.first?.family, let first = record.cells.first else { return false }
    let token = first.bytes.trimmed.prefix { !" ;,|\t".utf8.contains($0) }
    return ColumnKinds.family(CellKind(Array(token))) == family
  }

  private func isTotal(_ record: SplitRecord) -> Bool {
    guard let first = record.cells.first(where: { !$0.isEmpty }) else { return false }
    let words = first.text.lowercased().split { !$0.isLetter }
    guard let word = words.first, Self.totals.contains(String(word)) else { return false }
    // "Total Beach" is a place: the first column of the table would be of another kind, or the record has gaps.
    let isOdd = kinds.columns.first?.family != nil || record.filledCount < width
    return isOdd && !hasDate(record)
  }

  private func hasDate(_ record: SplitRecord) -> Bool {
    kinds.columns.indices.contains { kinds.columns[$0].family == .date && hasFamily(record, $0) }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: String {
    var text = self
    while let last = text.last, last.isWhitespace { text.removeLast() }
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    return String(text)
  }
}
