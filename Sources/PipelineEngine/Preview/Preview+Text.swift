extension Preview {
  /// For a terminal of 80 columns.
  package func text() -> String {
    var blocks = files.map { PreviewText($0, pipeline: pipeline).text }
    if !headerIssues.isEmpty {
      blocks.append("Header\n" + headerIssues.map { Self.remark("\($0)") }.joined())
    }
    if let note { blocks.append("Note\n" + Self.remark(note)) }
    return blocks.joined(separator: "\n")
  }

  private static func remark(_ text: String) -> String {
    TextLayout.lines([text], after: "  ").joined(separator: "\n") + "\n"
  }
}

/// The preview of one file as text.
private struct PreviewText {
  private let file: FilePreview
  private let pipeline: String

  init(_ file: FilePreview, pipeline: String) { (self.file, self.pipeline) = (file, pipeline) }

  var text: String {
    var lines = TextTable.rows([("file", name), ("read as", pipeline), ("records", records)])
    if file.ignoredFields > 0 {
      lines += TextTable.rows([
        ("not read", TextTable.count(file.ignoredFields, "field") + " of each record, which no column has")
      ])
    }
    lines += ["", "Columns"] + file.columns.flatMap(column)
    if file.columns.contains(where: { !$0.distinctIsExact }) {
      lines += TextLayout.lines(
        ["Values are counted up to \(TextTable.grouped(file.distinctMax)) different ones of a column."], after: "  ")
    }
    let showsAll = file.first.count + file.last.count == file.accepted
    lines += table(showsAll ? "Records" : "First records", showsAll ? file.first + file.last : file.first)
    if !showsAll { lines += table("Last records", file.last) }
    if !file.odd.isEmpty { lines += ["", "Odd records"] + file.odd.flatMap(odd) }
    return lines.map(RawText.oneLine).joined(separator: "\n") + "\n"
  }

  private var name: String { file.input == "-" ? "standard input" : file.input }

  private var records: String {
    var parts = ["\(TextTable.grouped(file.read)) read", "\(TextTable.grouped(file.rejected)) rejected"]
    if file.warned > 0 { parts.append("\(TextTable.grouped(file.warned)) with warnings") }
    return parts.joined(separator: ", ")
  }

  // MARK: Columns

  private static let labelWidth = 15

  private func column(_ column: FilePreview.Column) -> [String] {
    var rows = [("filled", filled(column))]
    let different = TextTable.grouped(column.distinct)
    if column.filled > 0 {
      rows.append(("different", column.distinctIsExact ? different : "more than \(different)"))
    }
    if let range = column.range {
      let (least, greatest) = (TextLayout.shortened(range.least, to: 30), TextLayout.shortened(range.greatest, to: 30))
      rows.append((column.type == .date ? "first, last" : "least, most", "\(least), \(greatest)"))
    }
    if let lengths = column.lengths {
      let unit = column.type.isBinary ? "byte" : "character"
      rows.append(("shortest", TextTable.count(lengths.lowerBound, unit)))
      rows.append(("longest", TextTable.count(lengths.upperBound, unit)))
    }
    let attribute = column.attribute == column.name ? "" : ", for the attribute \(column.attribute)"
    var lines = ["  \(RawText.oneLine(column.name)): \(column.type.noun)\(attribute)"]
    lines += rows.map { "    \(TextLayout.padded($0, to: Self.labelWidth))\($1)" }
    let frequent = column.frequent.map { "\(shown($0.value, to: 40)) (\(TextTable.grouped($0.count)))" }
    lines += TextLayout.lines(
      frequent, after: "    " + TextLayout.padded("most frequent", to: Self.labelWidth), separator: " · ")
    for (index, issue) in column.refusals.enumerated() {
      let label = index == 0 ? "refused \(TextTable.grouped(column.refused))" : ""
      let value = issue.value.map { " \"\($0)\"" } ?? ""
      lines += TextLayout.lines(
        ["line \(issue.line)\(value): \(issue.message)"],
        after: "    " + TextLayout.padded(label, to: Self.labelWidth))
    }
    return lines
  }

  /// Never 100 % or 0 % of a part.
  private func filled(_ column: FilePreview.Column) -> String {
    guard file.accepted > 0 else { return "–" }
    var percent = Int((Double(column.filled) / Double(file.accepted) * 100).rounded())
    if column.filled > 0, column.filled < file.accepted { percent = min(99, max(1, percent)) }
    return "\(percent) % (\(TextTable.grouped(column.filled)) of \(TextTable.grouped(file.accepted)))"
  }

  private func shown(_ value: String?, to charactersMax: Int) -> String {
    guard let value else { return "" }
    return value.isEmpty ? "\"\"" : TextLayout.shortened(value, to: charactersMax)
  }

  // MARK: Records

  private static let gap = "  "
  private static let cellMax = 24

  /// Tables of as many columns as fit, one below the other.
  private func table(_ title: String, _ records: [FilePreview.Record]) -> [String] {
    if records.isEmpty { return [] }
    let lines = ["line"] + records.map { "\($0.line)" }
    let columns = file.columns.enumerated().map { index, column in
      ([column.name] + records.map { $0.values[index] }).map { shown($0, to: Self.cellMax) }
    }
    var tables: [[[String]]] = [[lines]]
    var width = 2 + Self.width(lines)
    for column in columns {
      let more = Self.gap.count + Self.width(column)
      if width + more > TextLayout.columnsMax, tables[tables.count - 1].count > 1 {
        tables.append([lines])
        width = 2 + Self.width(lines)
      }
      tables[tables.count - 1].append(column)
      width += more
    }
    return ["", title] + tables.flatMap(Self.rows)
  }

  private static func width(_ cells: [String]) -> Int { cells.map(DisplayWidth.of).max() ?? 0 }

  private static func rows(_ columns: [[String]]) -> [String] {
    let widths = columns.map(width)
    return columns[0].indices.map { row in
      var line = "  " + TextTable.padded(columns[0][row], to: widths[0])
      for (column, width) in zip(columns, widths).dropFirst() {
        line += gap + TextLayout.padded(column[row], to: width)
      }
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  private func odd(_ record: FilePreview.Record) -> [String] {
    var lines = TextLayout.lines(record.reasons, after: "  line \(record.line): ")
    if let text = record.text { lines.append("    \(text)") }
    let values = zip(file.columns, record.values).compactMap { column, value in
      value.map { "\(column.name) \(shown($0, to: 60))" }
    }
    lines += TextLayout.lines(values, after: "    ", separator: " · ")
    for issue in record.issues {
      let column = issue.column.map { "\($0): " } ?? ""
      lines += TextLayout.lines(["\(column)\(issue.code): \(issue.message)"], after: "    ")
    }
    return lines
  }
}
