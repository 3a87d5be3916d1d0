/// The page's section on what happened to the records, with the sum that has to match.
struct PageTotals {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  var markup: Markup {
    """
    <section aria-labelledby="totals">
    <h2 id="totals">Totals</h2>
    \(summary.kind == .export ? exported : records)
    </section>
    """
  }

  // MARK: Records

  private struct Part {
    let name: String
    let count: Int
  }

  private var parts: [Part] {
    let counts = summary.counts
    let would = summary.kind == .validate ? "would be " : ""
    return [
      Part(name: "\(would)inserted", count: counts.inserted), Part(name: "\(would)updated", count: counts.updated),
      Part(name: "unchanged", count: counts.unchanged), Part(name: "duplicate", count: counts.duplicate),
      Part(name: "repeated", count: counts.repeated), Part(name: "rejected", count: counts.rejected),
    ]
  }

  private var records: Markup {
    let parts = parts
    let terms = parts.enumerated().map { index, part -> Markup in
      """
      <div class="term part\(index)\(part.count == 0 ? " none" : "")">\
      <dd>\(TextTable.grouped(part.count))</dd><dt>\(part.name)</dt></div>

      """
    }
    return """
      <dl class="equation">
      <div class="term read"><dd>\(TextTable.grouped(summary.counts.read))</dd><dt>read</dt></div>
      \(terms)</dl>
      \(bar(parts))
      \(law)
      """
  }

  /// The parts next to each other, in proportion.
  private func bar(_ parts: [Part]) -> Markup? {
    let total = parts.reduce(0) { $0 + $1.count }
    guard total > 0 else { return nil }
    var start = 0
    var pieces: [Markup] = []
    for (index, part) in parts.enumerated() where part.count > 0 {
      let (x, width) = (ChartText.percent(start, of: total), ChartText.percent(part.count, of: total))
      pieces.append(
        """
        <g class="part\(index)"><title>\(TextTable.grouped(part.count)) \(part.name)</title>\
        <rect x="\(x)" width="\(width)" height="12"/></g>

        """)
      start += part.count
    }
    let parts = parts.filter { $0.count > 0 }.map { "\(TextTable.grouped($0.count)) \($0.name)" }
    return """
      <svg class="sum" width="100%" height="12" role="img" aria-labelledby="sum-title">
      <title id="sum-title">Of all records: \(parts.joined(separator: ", "))</title>
      \(pieces)</svg>
      """
  }

  private var law: Markup {
    if summary.counts.isConserved {
      return "<p class=\"note\">Every record read is in one of the other numbers: none was lost or counted twice.</p>"
    }
    let message = ConservationError(counts: summary.counts).description
    return "<p class=\"notice alarm\"><strong>The numbers don't add up</strong> \(message)</p>"
  }

  private var exported: Markup {
    """
    <dl class="equation">
    <div class="term read"><dd>\(TextTable.grouped(summary.exported))</dd><dt>exported</dt></div>
    </dl>
    """
  }
}
