/// Vertical bars over an axis, as SVG. Widths are percentages and heights pixels, so that text keeps its size on every
/// screen.
struct ColumnChart {
  private let bars: [ChartBars.Bar]
  private let id: String
  private let title: String
  private let unit: String
  private let hasRoomForNumbers: (wide: Bool, narrow: Bool)

  private static let height = 190.0
  private static let top = 22.0
  private static let bottom = 162.0
  /// Up to this many bars, each has its number above it.
  private static let numberedMax = 12

  init(_ bars: ChartBars, id: String, title: String) {
    self.bars = bars.bars
    self.id = id
    self.title = title
    unit = bars.unit
    hasRoomForNumbers = bars.hasRoomForNumbers
  }

  var markup: Markup? {
    guard let most = bars.map(\.entries).max(), most > 0 else { return nil }
    let step = ChartText.roundStep(atLeast: Double(most) / 3)
    let top = (Double(most) / step).rounded(.up) * step
    let ticks = stride(from: 0, through: top, by: step).map { $0 }
    let width = ticks.map { ChartText.grouped($0).count }.max() ?? 1
    let name = "columns axis\(min(width, 11))" + (hasRoomForNumbers.narrow ? "" : " dense")
    return """
      <svg class="\(name)" width="100%" height="\(Int(Self.height))" role="img" \
      aria-labelledby="\(id)-title \(id)-about">
      <title id="\(id)-title">\(title): entries per \(unit)</title>
      <desc id="\(id)-about">\(about(most))</desc>
      \(ticks.map { gridline($0, top) })\(bars.indices.map { column($0, top) })</svg>
      """
  }

  private func about(_ most: Int) -> String {
    let peak = bars.first { $0.entries == most }?.name ?? ""
    return "\(bars.first?.name ?? "") to \(bars.last?.name ?? ""); the most, \(TextTable.grouped(most)), at \(peak). "
      + "All numbers are in the table below."
  }

  private func y(_ value: Double, _ top: Double) -> Double {
    Self.bottom - (Self.bottom - Self.top) * value / top
  }

  private func gridline(_ value: Double, _ top: Double) -> Markup {
    let y = y(value, top)
    return """
      <line class="\(value == 0 ? "base" : "grid")" x1="0" x2="100%" y1="\(Self.pixels(y))" y2="\(Self.pixels(y))"/>\
      <text class="tick" x="-8" y="\(Self.pixels(y + 4))">\(ChartText.grouped(value))</text>

      """
  }

  private func column(_ index: Int, _ top: Double) -> Markup {
    let bar = bars[index]
    let slot = 1 / Double(bars.count)
    // Otherwise few bars would be too wide, and many would have no visible gap.
    let share = bars.count <= Self.numberedMax ? 0.55 : 0.78
    let x = (Double(index) + (1 - share) / 2) * slot
    let middle = ChartText.percent((Double(index) + 0.5) * slot)
    let y = y(Double(bar.entries), top)
    let name = bar.isMinor ? "label minor" : "label"
    let label: Markup? = bar.label.map { "<text class=\"\(name)\" x=\"\(middle)\" y=\"182\">\($0)</text>" }
    guard bar.entries > 0 else { return "\(label)\n" }
    // A minimum height keeps small counts visible.
    let height = max(Self.bottom - y, 1.5)
    let number: Markup? =
      bars.count <= Self.numberedMax && hasRoomForNumbers.wide
      ? "<text class=\"number\" x=\"\(middle)\" y=\"\(Self.pixels(y - 6))\">\(TextTable.grouped(bar.entries))</text>"
      : nil
    return """
      <g><title>\(bar.name): \(TextTable.grouped(bar.entries))</title>\
      <rect class="bar" x="\(ChartText.percent(x))" y="\(Self.pixels(Self.bottom - height))" \
      width="\(ChartText.percent(share * slot))" height="\(Self.pixels(height))"/>\(number)\(label)</g>

      """
  }

  private static func pixels(_ value: Double) -> String { String((value * 100).rounded() / 100) }
}
