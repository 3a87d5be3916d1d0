/// The page's sections on the columns, the rules, and the last runs; for an export that on what was exported.
struct PageTables {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  // MARK: Columns

  var columns: Markup? {
    guard let columns = summary.columns, columns.contains(where: { $0.filled + $0.empty + $0.refused > 0 }) else {
      return nil
    }
    var names: [GridTable.Column] = [.init("Column")]
    names += ["Filled", "Different"].map { GridTable.Column($0, isNumber: true) }
    names += [.init("From"), .init("To"), .init("Most frequent"), .init("Refused", isNumber: true)]
    let rows = columns.map { column -> [Markup] in
      let total = column.filled + column.empty
      let share = total == 0 ? "" : " (\(Self.percent(column.filled, of: total)))"
      let filled: Markup = "\(TextTable.grouped(column.filled))<span class=\"about\">\(share)</span>"
      let refused = TextTable.grouped(column.refused)
      let name: Markup = "\(column.name)"
      let bounds = [column.least, column.greatest].map { bound -> Markup in
        bound.map { "<span class=\"bound\">\($0)</span>" } ?? ""
      }
      let last: Markup = column.refused == 0 ? "0" : "<strong>\(refused)</strong>"
      return [name, filled, distinct(column)] + bounds + [frequent(column), last]
    }
    let counted = columns.map(\.counted).max() ?? 0
    let all = columns.map { $0.filled + $0.empty }.max() ?? 0
    let note: Markup? =
      counted < all && counted > 0
      ? """
      <p class="note">Different and frequent values are those of the first \(TextTable.grouped(counted)) entries; all else \
      is of all entries.</p>
      """ : nil
    let scope: Markup? =
      summary.counts.unchanged + summary.counts.duplicate > 0
      ? "<p class=\"note\">Values are those of inserted and updated entries.</p>" : nil
    return """
      <section aria-labelledby="columns">
      <h2 id="columns">Columns</h2>
      \(GridTable(columns: names, rows: rows, classes: columns.map { $0.refused > 0 ? "bad" : nil }).markup)
      \(scope)\(note)
      </section>
      """
  }

  private func distinct(_ column: EntryProfile.Column) -> Markup {
    if column.counted == 0 { return "" }
    return column.hasMoreDistinct
      ? "over \(TextTable.grouped(column.distinct))" : "\(TextTable.grouped(column.distinct))"
  }

  private func frequent(_ column: EntryProfile.Column) -> Markup {
    let parts = column.frequent.enumerated().map { index, count -> Markup in
      let name = count.value.isEmpty ? "(empty text)" : RowChart.shortened(count.value)
      return """
        \(index == 0 ? "" : ", ")<span class="value">\(name)</span> <span class="about">\(TextTable.grouped(count.entries))\
        </span>
        """
    }
    return parts.isEmpty ? "" : "<span class=\"frequent\">\(parts)</span>"
  }

  /// A share without a false 0 % or 100 %.
  static func percent(_ part: Int, of total: Int) -> String {
    let share = Double(part) * 100 / Double(max(total, 1))
    if part > 0, share < 1 { return "below 1 %" }
    if part < total, share > 99 { return "over 99 %" }
    return "\(Int(share.rounded())) %"
  }

  // MARK: Rules

  var rules: Markup? {
    guard let rules = summary.rules, !rules.isEmpty, summary.counts.read > 0 else { return nil }
    let failed = rules.count { $0.failed > 0 }
    let sentence =
      failed == 0
      ? "All \(rules.count) hold for every record."
      : "\(failed) of \(rules.count) \(failed == 1 ? "is" : "are") broken by some records."
    let names: [GridTable.Column] = [
      .init("Rule"), .init("For"), .init("Held", isNumber: true), .init("Broken", isNumber: true),
    ]
    // The broken ones first, those that reject records before those that warn.
    let broken = rules.filter { $0.failed > 0 }
    let sorted =
      broken.filter { $0.severity == .error } + broken.filter { $0.severity == .warning }
      + rules.filter { $0.failed == 0 }
    let rows = sorted.map { rule -> [Markup] in
      let sign: Markup =
        rule.failed == 0
        ? "<span class=\"mark good\" aria-hidden=\"true\">✓</span>"
        : "<span class=\"mark \(rule.severity == .error ? "bad" : "care")\" aria-hidden=\"true\">✕</span>"
      let held = TextTable.grouped(max(0, summary.counts.read - rule.failed))
      let cells: [Markup] = ["\(sign) \(rule.rule)", "\(rule.column ?? "the record")"]
      return cells + ["\(held)", "\(TextTable.grouped(rule.failed))"]
    }
    return """
      <section aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <p class="note">\(sentence) A record that could not be split into fields counts as one for which they hold.</p>
      \(GridTable(columns: names, rows: rows).markup)
      </section>
      """
  }

  // MARK: Runs

  /// - Parameter index: The page with all runs; nil where there is none.
  func runs(index: String?) -> Markup? {
    // A failed run may have read nothing; it is shown as such.
    let bars = RunBars(
      summary.recentRuns + [summary.point], id: "runs", noun: summary.kind == .export ? "entries" : "records")
    guard !summary.recentRuns.isEmpty, let drawing = bars.markup else { return nil }
    let link: Markup? = index.map { "<p class=\"note\"><a href=\"./\($0)\">All runs</a></p>" }
    return """
      <section aria-labelledby="recent">
      <h2 id="recent">The last \(min(summary.recentRuns.count + 1, RunPoint.shownMax)) runs</h2>
      \(drawing)
      <p class="note">Each bar is a run, as high as the number of its \
      \(summary.kind == .export ? "entries" : "records, the rejected ones on top"). A cross marks one that failed or was \
      stopped. The last one is this run.</p>
      \(link)
      </section>
      """
  }

  // MARK: Exports

  var exported: Markup? {
    guard let exported = summary.exportedAs else { return nil }
    let all: [(String, String?)] = [
      ("Entries", exported.entity), ("Which", exported.predicate.map { "those for which \($0)" } ?? "all"),
      ("At most", exported.limit.map(TextTable.grouped)),
      ("Only new", exported.incremental ? "those that the export before did not have" : nil),
      ("Order", exported.order ?? "as in the store"), ("Columns", exported.columns.joined(separator: ", ")),
      ("Form", exported.format == "jsonl" ? "JSON Lines" : "CSV"),
    ]
    let rows = all.compactMap { name, value -> Markup? in
      value.map { "<div><dt>\(name)</dt><dd>\($0)</dd></div>\n" }
    }
    return """
      <section aria-labelledby="exported">
      <h2 id="exported">What was exported</h2>
      <dl class="files">
      \(rows)</dl>
      </section>
      """
  }
}
