import Foundation

extension FileComparison {
  /// The page of a comparison for a browser, in the style of a run's report: one file that needs no other file, no
  /// network and no script.
  func html() throws -> String {
    guard let content else { return "" }
    return try ComparisonPage(content).markup.text
  }
}

/// The page of a comparison: totals, then the differences of each kind.
struct ComparisonPage {
  private let content: FileComparison.Content
  private let text: ComparisonText
  /// Differences of each kind that are shown, and those that are shown at once.
  static let shownMax = 500
  private static let openMax = 20

  init(_ content: FileComparison.Content) {
    self.content = content
    text = ComparisonText(content)
  }

  private static let rules: Markup = """
    .entries li { grid-template-columns: 7rem minmax(0, 1fr); }
    .entries .column { display: block; }

    """

  var markup: Markup {
    get throws {
      var shown: [Difference.Kind: [Difference]] = [:]
      try content.each { difference in
        if shown[difference.kind]?.count ?? 0 < Self.shownMax { shown[difference.kind, default: []].append(difference) }
      }
      return """
        \(PageHead(title: "\(content.newIsNamed): \(headline)", rules: Self.rules).markup)
        <body>
        <main>
        \(header)
        \(totals)
        <section aria-labelledby="differences">
        <h2 id="differences">What differs</h2>
        \(Difference.Kind.allCases.compactMap { group($0, shown[$0] ?? []) })
        </section>
        \(PageProblems(problems, listedIn: nil, listingFormat: ".jsonl").markup)
        </main>
        <footer>
        <p>Comparison by \(content.program). Times are UTC.</p>
        </footer>
        </body>
        </html>

        """
    }
  }

  /// The issues of both files.
  private var problems: RunSummary {
    var all = content.newSummary
    guard let old = content.oldSummary else { return all }
    all.inputs = old.inputs + all.inputs
    all.issues.errors += old.issues.errors
    all.issues.warnings += old.issues.warnings
    all.issues.counts.merge(old.issues.counts, uniquingKeysWith: +)
    all.issues.warningCounts.merge(old.issues.warningCounts, uniquingKeysWith: +)
    all.issues.listed = old.issues.listed + all.issues.listed
    all.issues.isTruncated = all.issues.isTruncated || old.issues.isTruncated
    return all
  }

  private var headline: String {
    let differences = content.counts.differences
    return differences == 0 ? "no difference" : TextTable.count(differences, "difference")
  }

  private var header: Markup {
    let tone = content.rejected > 0 ? "errors" : content.counts.differences > 0 ? "warnings" : "clean"
    let key = content.columns.texts.columns.indices.filter { content.columns.isKey[$0] }
      .map { content.columns.texts.columns[$0].attribute }
    let basis = key.isEmpty ? "whole records" : "by \(key.joined(separator: ", "))"
    return """
      <header class="verdict \(tone)">
      <p class="eyebrow">\(content.pipeline) <span class="dot">·</span> comparison</p>
      <h1><span>\(headline.prefix(1).uppercased() + headline.dropFirst())</span></h1>
      <p class="lede">\(content.newIsNamed) compared with \(content.oldIsNamed), \(basis).</p>
      \(content.notes.map { "<p class=\"notice\"><strong>Note</strong> \($0)</p>\n" as Markup })
      </header>
      """
  }

  private var totals: Markup {
    let counts = content.counts
    let parts = [
      ("added", counts.added), ("changed", counts.changed), ("unchanged", counts.unchanged),
      ("duplicate", counts.duplicatesNew),
    ]
    let terms = parts.enumerated().map { index, part -> Markup in
      """
      <div class="term part\(index)\(part.1 == 0 ? " none" : "")">\
      <dd>\(TextTable.grouped(part.1))</dd><dt>\(part.0)</dt></div>

      """
    }
    return """
      <section aria-labelledby="totals">
      <h2 id="totals">Totals</h2>
      <dl class="equation">
      <div class="term read"><dd>\(TextTable.grouped(counts.new))</dd><dt>in the file</dt></div>
      \(terms)</dl>
      <dl class="facts">
      <div><dt>On the old side</dt><dd>\(TextTable.grouped(counts.old))</dd></div>
      <div><dt>Missing from the file</dt><dd>\(TextTable.grouped(counts.missing))</dd></div>
      <div><dt>Duplicate keys on the old side</dt><dd>\(TextTable.grouped(counts.duplicatesOld))</dd></div>
      <div><dt>Records rejected</dt><dd>\(TextTable.grouped(content.rejected))</dd></div>
      </dl>
      </section>
      """
  }

  // MARK: Differences

  private func total(_ kind: Difference.Kind) -> Int {
    switch kind {
    case .added: content.counts.added
    case .changed: content.counts.changed
    case .missing: content.counts.missing
    case .duplicate: content.counts.duplicatesNew + content.counts.duplicatesOld
    }
  }

  private static func explanation(_ kind: Difference.Kind) -> String {
    switch kind {
    case .added: "Only the new side has these."
    case .changed: "Both sides have these, with other values."
    case .missing: "Only the old side has these."
    case .duplicate: "The key of these occurs more than once on a side, so they are not compared."
    }
  }

  private func group(_ kind: Difference.Kind, _ shown: [Difference]) -> Markup? {
    let total = total(kind)
    if total == 0 { return nil }
    let rest = shown.dropFirst(Self.openMax)
    let more: Markup? =
      rest.isEmpty
      ? nil
      : """
      <details class="more"><summary>\(rest.count) more</summary>
      <ol class="examples entries">
      \(rest.map(item))</ol>
      </details>
      """
    let left: Markup? =
      shown.count < total
      ? """
      <p class="note">\(TextTable.grouped(shown.count)) of \(TextTable.grouped(total)) shown. A report that ends in \
      .txt or .jsonl lists all.</p>
      """ : nil
    return """
      <article class="group \(kind == .duplicate ? "error" : "warning")">
      <h3><span class="count">\(TextTable.grouped(total))</span> <span class="code">\(kind.rawValue)</span></h3>
      <p class="explanation">\(Self.explanation(kind))</p>
      <ol class="examples entries">
      \(shown.prefix(Self.openMax).map(item))</ol>
      \(more)
      \(left)
      </article>

      """
  }

  private func item(_ difference: Difference) -> Markup {
    let (key, others) = content.values(difference)
    let name = key.map { ComparisonText.shown($0.text) }.joined(separator: ", ")
    let values = others.compactMap { value -> Markup? in
      if difference.kind == .changed {
        let (old, new) = ComparisonText.excerpts(value.old, value.new)
        return "<span class=\"message\">\(value.name)</span> <code>\(old)</code> → <code>\(new)</code> "
      }
      return value.text.map {
        "<span class=\"message\">\(value.name)</span> <code>\(ComparisonText.shown($0))</code> "
      }
    }
    return """
      <li><span class="location">\(text.location(difference))</span> \
      <span class="said"><span class="column">\(name)</span>\(values)</span></li>

      """
  }
}
