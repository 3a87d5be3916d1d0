/// The page's section on issues, by code: what the code means, and examples.
struct PageProblems {
  private let summary: RunSummary
  private let listedIn: String?
  private let listingFormat: String

  /// Number of examples per code; issues that differ in their lines and values only are one.
  static let examplesMax = 20
  /// Number of examples shown at once; the others are shown on a click, and in print.
  private static let openMax = 5

  /// - Parameter listingFormat: The extension of reports that list more issues than the page.
  init(_ summary: RunSummary, listedIn: String?, listingFormat: String = ".json") {
    self.summary = summary
    self.listingFormat = listingFormat
    self.listedIn = listedIn
  }

  var markup: Markup? {
    let codes = summary.issues.counts.keys.sorted { rank($0) < rank($1) }
    if codes.isEmpty { return nil }
    // One pass, however many issues the report lists.
    let examples = Dictionary(grouping: summary.issues.listed, by: \.code)
    return """
      <section aria-labelledby="problems">
      <h2 id="problems">What is wrong</h2>
      \(codes.map { group($0, examples[$0] ?? []) })
      \(limit)
      </section>
      """
  }

  /// What concerns a whole file comes before what concerns its header, then what concerns single records, then what is
  /// only a warning; in each the most frequent first.
  private func rank(_ code: IssueCode) -> Rank {
    let total = summary.issues.counts[code] ?? 0
    let seriousness =
      switch code.scope {
      case .file, .pipeline: 0
      case .header, .run: 1
      case .field, .record, .store, .export, nil: 2
      }
    let isWarning = summary.issues.warningCounts[code] == total
    return Rank(seriousness: isWarning ? seriousness + 10 : seriousness, total: total, code: code)
  }

  private struct Rank: Comparable {
    let seriousness: Int
    let total: Int
    let code: IssueCode

    static func < (left: Rank, right: Rank) -> Bool {
      (left.seriousness, right.total, left.code) < (right.seriousness, left.total, right.code)
    }
  }

  private func group(_ code: IssueCode, _ listed: [RecordIssue]) -> Markup {
    let total = summary.issues.counts[code] ?? 0
    let warnings = summary.issues.warningCounts[code] ?? 0
    let tone = warnings == total ? "warning" : "error"
    let kinds = warnings > 0 && warnings < total ? " (\(TextTable.count(warnings, "warning")))" : ""
    let shown = IssueGroup.all(of: listed).prefix(Self.examplesMax)
    return """
      <article class="group \(tone)">
      <h3><span class="count">\(TextTable.grouped(total))</span> \
      <span class="title">\(code.title ?? code.rawValue)</span> <span class="code">\(code.rawValue)</span> \
      <span class="kind">\(tone)\(total == 1 ? "" : "s")\(kinds)</span></h3>
      \(code.explanation.map { "<p class=\"explanation\">\($0)</p>" as Markup })
      <ol class="examples">
      \(shown.prefix(Self.openMax).map(example))</ol>
      \(more(shown.dropFirst(Self.openMax)))
      \(remainder(shown.reduce(0) { $0 + $1.count }, of: total))
      </article>

      """
  }

  private func more(_ groups: ArraySlice<IssueGroup>) -> Markup? {
    guard let first = groups.first else { return nil }
    if groups.count == 1 { return "<ol class=\"examples\">\n\(example(first))</ol>" }
    return """
      <details class="more"><summary>\(groups.reduce(0) { $0 + $1.count }) more</summary>
      <ol class="examples">
      \(groups.map(example))</ol>
      </details>
      """
  }

  private func example(_ group: IssueGroup) -> Markup {
    let issue = group.first
    var location = issue.line > 0 ? "line \(issue.line)" : "the file"
    if summary.inputs.count > 1 {
      let name = issue.input.split(separator: "/").last.map(String.init) ?? issue.input
      location = issue.line > 0 ? "\(name):\(issue.line)" : name
    }
    let column = issue.column ?? issue.field.map { "field \($0)" }
    return """
      <li><span class="location" title="\(issue.input)">\(location)</span> \
      <span class="column">\(column ?? "")</span> \
      <span class="said">\(issue.value.flatMap { $0.isEmpty ? nil : $0 }.map { "<code>\($0)</code> " as Markup })\
      <span class="message">\(issue.message)</span>\(group.others.map { " <span class=\"kind\">(\($0))</span>" as Markup })\
      </span></li>

      """
  }

  private func remainder(_ shown: Int, of total: Int) -> Markup? {
    guard shown < total else { return nil }
    let (shownText, totalText) = (TextTable.grouped(shown), TextTable.grouped(total))
    return "<p class=\"note\">\(shownText) of \(totalText) shown\(referenceToFullList)</p>"
  }

  private var referenceToFullList: Markup {
    let listed = TextTable.grouped(summary.issues.listed.count)
    switch (listedIn, summary.issues.isTruncated) {
    case (let path?, false): return "; all are in <span class=\"path\">\(path)</span>."
    case (let path?, true): return "; the first \(listed) of all issues are in <span class=\"path\">\(path)</span>."
    case (nil, _): return ". A report that ends in \(listingFormat) lists more."
    }
  }

  /// States that the list ended at its limit, and which file has all rejected records.
  private var limit: Markup? {
    guard summary.issues.isTruncated else { return nil }
    let listed = TextTable.count(summary.issues.listed.count, "issue")
    let rejects: Markup? = summary.rejects.map {
      " Every rejected record is in <span class=\"path\">\($0)</span>."
    }
    return """
      <p class="note">Only the first \(listed) of \
      \(TextTable.grouped(summary.issues.errors + summary.issues.warnings)) were listed, as the pipeline's limit \
      issuesListedMax says; the numbers are complete.\(rejects)</p>
      """
  }
}
