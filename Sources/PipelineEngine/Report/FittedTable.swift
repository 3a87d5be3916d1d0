/// A table of texts in aligned columns. Where it would be wider than its limit, the widest columns are cut, and columns
/// that have no space even then are left out.
package struct FittedTable: Sendable {
  /// One column.
  package struct Column: Sendable {
    let name: String
    /// Whether its cells are numbers: they are aligned on the right, and never cut.
    let isNumber: Bool

    package init(_ name: String, isNumber: Bool = false) { (self.name, self.isNumber) = (name, isNumber) }
  }

  private static let gap = "  "
  /// The width of a column below which its cells say too little.
  private static let cutColumnsMin = 8

  private let columns: [Column]
  /// The columns of the terminal; nil where nothing is cut.
  private let columnsMax: Int?
  /// The width of each column that is shown.
  private var widths: [Int]
  private var isFitted = false

  /// - Parameter columnsMax: The columns of the terminal; nil where the widths only follow from the cells.
  package init(_ columns: [Column], columnsMax: Int? = nil) {
    (self.columns, self.columnsMax) = (columns, columnsMax)
    widths = columns.map { DisplayWidth.of($0.name) }
  }

  /// The names of the columns that have no space.
  package var leftOut: [String] { columns.dropFirst(widths.count).map(\.name) }

  /// Widens the columns for `rows`. Where the width is limited, the first rows determine the widths for good.
  package mutating func fit(_ rows: [[String]]) {
    if isFitted { return }
    for row in rows {
      for column in widths.indices { widths[column] = max(widths[column], DisplayWidth.of(row[column])) }
    }
    guard let columnsMax else { return }
    isFitted = !rows.isEmpty
    while width > columnsMax, let widest { widths[widest] -= 1 }
    while width > columnsMax, widths.count > 1 { widths.removeLast() }
  }

  private var width: Int { widths.reduce(0, +) + Self.gap.count * (widths.count - 1) }

  /// The widest column that may still be cut.
  private var widest: Int? {
    widths.indices.filter { !columns[$0].isNumber && widths[$0] > Self.cutColumnsMin }.max { widths[$0] < widths[$1] }
  }

  /// The line with the names of the columns.
  package var heading: String { line(columns.map(\.name)) }

  /// The line of a row.
  package func line(_ cells: [String]) -> String {
    let padded = widths.indices.map { column in
      let cell = columns[column].isNumber ? cells[column] : DisplayWidth.cut(cells[column], to: widths[column])
      return DisplayWidth.padded(cell, to: widths[column], isRight: columns[column].isNumber)
    }
    let text = padded.joined(separator: Self.gap)
    return String(text.reversed().drop { $0 == " " }.reversed()) + "\n"
  }
}
