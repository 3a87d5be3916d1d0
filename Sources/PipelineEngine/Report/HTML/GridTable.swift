/// A table of a page. On a narrow screen each row becomes a card in which the names of the columns stand before the values,
/// so that nothing has to be scrolled sideways.
struct GridTable {
  struct Column {
    let name: String
    var isNumber = false

    init(_ name: String, isNumber: Bool = false) { (self.name, self.isNumber) = (name, isNumber) }
  }

  let columns: [Column]
  /// One cell for each column. An empty cell is left out of a card.
  let rows: [[Markup]]
  /// A class of each row; nil for none.
  var classes: [String?] = []

  var markup: Markup {
    """
    <table class="grid">
    <thead><tr>\(columns.map { "<th scope=\"col\"\(Self.numberClass($0))>\($0.name)</th>" as Markup })</tr></thead>
    <tbody>
    \(rows.enumerated().map { row($0, $1) })</tbody></table>
    """
  }

  private func row(_ index: Int, _ cells: [Markup]) -> Markup {
    let name: Markup? = classes.indices.contains(index) ? classes[index].map { " class=\"\($0)\"" as Markup } : nil
    let first: Markup = "<th scope=\"row\">\(cells.first ?? "")</th>"
    let rest = zip(columns, cells).dropFirst().map { column, cell -> Markup in
      // One element, for a card lays out the name and this next to each other.
      let content: Markup? = cell.text.isEmpty ? nil : "<span class=\"cell\">\(cell)</span>"
      return "<td data-label=\"\(column.name)\"\(Self.numberClass(column))>\(content)</td>"
    }
    return "<tr\(name)>\(first)\(rest)</tr>\n"
  }

  private static func numberClass(_ column: Column) -> Markup? { column.isNumber ? " class=\"number\"" : nil }
}
