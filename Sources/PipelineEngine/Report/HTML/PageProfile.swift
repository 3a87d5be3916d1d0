import Foundation

/// The page's section on the values of the entries: a figure for each attribute that was counted.
struct PageProfile {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  var markup: Markup? {
    let charts = (summary.profile?.charts ?? []).filter { $0.entries > 0 }
    if charts.isEmpty { return nil }
    return """
      <section aria-labelledby="profile">
      <h2 id="profile">\(summary.kind == .validate ? "What is in the data" : "What is in the imported data")</h2>
      <div class="figures">
      \(charts.enumerated().map { figure($1, id: "chart\($0)") })</div>
      </section>
      """
  }

  private func figure(_ chart: EntryProfile.Chart, id: String) -> Markup {
    let drawing: Markup?
    let unit: String
    switch chart.kind {
    case .months:
      let bars = ChartBars(months: chart.counts)
      (drawing, unit) = (ColumnChart(bars, id: id, title: chart.attribute).markup, bars.unit)
    case .integers:
      let bars = ChartBars(integers: chart.counts)
      (drawing, unit) = (ColumnChart(bars, id: id, title: chart.attribute).markup, bars.unit)
    case .texts:
      (drawing, unit) = (RowChart(chart, id: id).markup, "value")
    }
    return """
      <figure class="\(chart.kind.rawValue)">
      <figcaption><h3>\(chart.attribute)</h3><p>Entries per \(unit)\(aside(chart))</p></figcaption>
      \(drawing)
      \(table(chart))
      </figure>

      """
  }

  private func aside(_ chart: EntryProfile.Chart) -> String {
    var text = ""
    if chart.empty > 0 { text += " · \(TextTable.grouped(chart.empty)) without one" }
    // Charts of texts have a bar for the others.
    if chart.other > 0, chart.kind != .texts { text += " · \(TextTable.grouped(chart.other)) others" }
    return text
  }

  /// The same numbers for screen readers, and for exact values.
  private func table(_ chart: EntryProfile.Chart) -> Markup {
    var rows = chart.counts.map { ($0.value, $0.entries) }
    if chart.other > 0 { rows.append(("(others)", chart.other)) }
    if chart.empty > 0 { rows.append(("(none)", chart.empty)) }
    let heading = chart.kind == .months ? "month" : chart.attribute
    return """
      <details class="table"><summary>As a table</summary>
      <table><thead><tr><th scope="col">\(heading)</th><th scope="col">entries</th></tr></thead>
      <tbody>
      \(rows.map { "<tr><th scope=\"row\">\($0)</th><td>\(TextTable.grouped($1))</td></tr>\n" })</tbody></table>
      </details>
      """
  }
}
