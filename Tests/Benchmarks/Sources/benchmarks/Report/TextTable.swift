/// Rows of texts, the first of which has the heads. The first column is a name, the others are numbers, but for a last
/// one that may be words.
struct TextTable {
  let rows: [[String]]
  var endsInWords = false

  /// Lines for a terminal, under each other.
  /// - Parameter others: Tables whose columns are to be as wide.
  func lines(alignedWith others: [TextTable] = []) -> [String] {
    let all = others.flatMap(\.rows) + rows
    let widths = rows[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - row[column].count)
        if endsInWords, column == row.count - 1 { return row[column] }
        return column == 0 ? row[column] + space : space + row[column]
      }.joined(separator: "  ")
    }
  }

  var markdown: String {
    let lines = rows.map { "| " + $0.joined(separator: " | ") + " |" }
    let rule = "|" + String(repeating: " --- |", count: rows[0].count)
    return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n")
  }
}
