/// Horizontal bars with a name above each, as SVG: the most frequent texts.
struct RowChart {
  private let rows: [(name: String, entries: Int)]
  /// What has no row of its own. It gets no bar, which could be far longer than all others.
  private let others: (name: String, entries: Int)?
  private let id: String
  private let title: String

  private static let rowsMax = 12
  private static let rowHeight = 36
  /// The width of a name that fits next to its number on a phone, in letters; a wide letter counts twice.
  private static let nameWidthMax = 30

  init(_ chart: EntryProfile.Chart, id: String) {
    self.id = id
    title = chart.attribute
    rows = chart.counts.prefix(Self.rowsMax).map { ($0.value, $0.entries) }
    let rest = chart.counts.dropFirst(Self.rowsMax)
    let entries = rest.reduce(chart.other) { $0 + $1.entries }
    // Values that are counted as `other` have no names to count.
    let name = chart.other > 0 ? "All others" : TextTable.count(rest.count, "other")
    others = entries > 0 ? (name, entries) : nil
  }

  var markup: Markup? {
    guard let most = rows.map(\.entries).max(), most > 0, let first = rows.first else { return nil }
    let about =
      "The most frequent is \(first.name) with \(TextTable.grouped(first.entries)). All numbers are in the table below."
    return """
      <svg class="rows" width="100%" height="\((rows.count + (others == nil ? 0 : 1)) * Self.rowHeight)" role="img" \
      aria-labelledby="\(id)-title \(id)-about">
      <title id="\(id)-title">\(title): entries per value</title>
      <desc id="\(id)-about">\(about)</desc>
      \(rows.enumerated().map { row($0, name: $1.name, entries: $1.entries, most: most) })\
      \(others.map { label(rows.count, name: $0.name, entries: $0.entries) })\
      </svg>
      """
  }

  private func row(_ index: Int, name: String, entries: Int, most: Int) -> Markup {
    let y = index * Self.rowHeight + 21
    return """
      <g><title>\(name): \(TextTable.grouped(entries))</title>\(label(index, name: name, entries: entries))\
      <rect class="track" x="0" y="\(y)" width="100%" height="7" rx="3.5"/>\
      <rect class="bar" x="0" y="\(y)" width="\(ChartText.percent(entries, of: most))" height="7" rx="3.5"/></g>

      """
  }

  private func label(_ index: Int, name: String, entries: Int) -> Markup {
    let y = index * Self.rowHeight + 15
    return """
      <text class="name" x="0" y="\(y)">\(name.isEmpty ? "(empty text)" : Self.shortened(name))</text>\
      <text class="count" x="100%" y="\(y)">\(TextTable.grouped(entries))</text>
      """
  }

  /// SVG does not break lines: a long name is shortened with an ellipsis, and the tooltip and the table have its full
  /// text.
  static func shortened(_ name: String) -> String {
    var width = 0
    var text = ""
    for character in name {
      // Characters from the Hangul block on are about twice as wide as Latin ones, as are emoji.
      width += (character.unicodeScalars.first?.value ?? 0) >= 0x1100 ? 2 : 1
      if width > nameWidthMax { return text + "…" }
      text.append(character)
    }
    return text
  }
}
