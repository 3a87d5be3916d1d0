import Foundation

extension RunSummary {
  /// The report as a page for a browser: one file that needs no other file, no network and no script.
  ///
  /// - Parameters:
  ///   - issuesListedIn: Path of a report that lists the issues one by one, for those that the page leaves out; nil where
  ///     there is none.
  ///   - isOfSeries: Whether other runs have pages next to it, which an index lists.
  public func html(issuesListedIn: String? = nil, isOfSeries: Bool = false) -> String {
    let tables = PageTables(self)
    let page: Markup = """
      \(PageHead(title: "\(subject) \(verdict.phrase)").markup)
      <body>
      <main>
      \(PageHeader(self).markup)
      \(PageFiles(self).markup)
      \(tables.exported)
      \(PageProblems(self, listedIn: issuesListedIn).markup)
      \(PageTotals(self).markup)
      \(tables.columns)
      \(tables.rules)
      \(PageProfile(self).markup)
      \(tables.runs(index: isOfSeries ? Self.indexName : nil))
      </main>
      \(PageFoot(self).markup)
      </body>
      </html>

      """
    return page.text
  }

  /// The name of the page that lists all runs, next to the pages of single runs.
  static let indexName = "index.html"

  /// The file's name for users.
  func name(of file: File) -> String {
    file.path == "-" ? (kind == .export ? "standard output" : "standard input") : file.path
  }
}

/// The top of the page: what ran, the result, and the next step.
struct PageHeader {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  var markup: Markup {
    let verdict = summary.verdict
    return """
      <header class="verdict \(verdict.tone.rawValue)">
      <p class="eyebrow">\(summary.pipeline) <span class="dot">·</span> \(summary.action)</p>
      <h1>\(Self.icon(verdict.tone))<span>\(verdict.headline)</span></h1>
      <p class="lede">\(sentence)</p>
      \(notice("What happened", summary.failure?.message))
      \(notice("Why", summary.stopReason))
      \(notice("Note", summary.note))
      \(notice("Next", summary.nextStep.map { $0.prefix(1).uppercased() + $0.dropFirst() }))
      \(summary.undelivered.map { notice("Not notified", $0.joined(separator: "; ")) } ?? nil)
      <p class="when"><time datetime="\(summary.startedAt.ISO8601Format())">\(time)</time></p>
      </header>
      """
  }

  private var time: String {
    summary.startedAt.ISO8601Format().replacingOccurrences(of: "T", with: " ").replacingOccurrences(
      of: "Z", with: " UTC")
  }

  private var sentence: String {
    let entries = TextTable.count(summary.exported, "entry", plural: "entries")
    let read = TextTable.count(summary.counts.read, "record")
    if summary.isNothingNew { return "Every input was imported before; the store is as it was." }
    switch (summary.kind, summary.outcome) {
    case (.export, .completed): return "\(entries) written."
    case (.export, _): return "It ended after \(entries)."
    case (.validate, .completed):
      return "\(read) checked, and the store left as it was: \(outcomes("could be imported"))."
    case (.import, .completed): return "\(read) read: \(outcomes("in the store"))."
    case (_, .failed): return failedFiles ?? "The run could not continue after \(read)."
    case (_, .stopped): return "The run was ended after \(read)."
    case (_, .cancelled): return "The run was cancelled after \(read); what was saved before stays."
    }
  }

  /// How many of several files were not imported; nil where the failure is not that of a file.
  private var failedFiles: String? {
    let unread = summary.unreadInputs?.count ?? 0
    let (failed, all) = (unread + summary.inputs.count { $0.failure != nil }, unread + summary.inputs.count)
    if failed == 0 || all == 1 { return nil }
    let done = summary.kind == .validate ? "checked" : "imported"
    if failed == all { return "None of the \(all) files could be \(done) to its end." }
    return
      "\(failed) of the \(all) files could not be \(done) to \(failed == 1 ? "its" : "their") end; the others were."
  }

  /// What happened to the records; `good` is said of those that are or can be in the store.
  private func outcomes(_ good: String) -> String {
    let counts = summary.counts
    if counts.read == 0 { return "there was nothing new" }
    let taken = counts.inserted + counts.updated + counts.unchanged
    if taken == counts.read { return "all \(good)" }
    let all = [
      ("\(TextTable.grouped(taken)) \(good)", taken),
      ("\(TextTable.grouped(counts.duplicate)) already present", counts.duplicate),
      ("\(TextTable.grouped(counts.repeated)) repeated in the input", counts.repeated),
      ("\(TextTable.grouped(counts.rejected)) rejected", counts.rejected),
    ]
    return all.filter { $0.1 > 0 }.map(\.0).joined(separator: ", ")
  }

  private func notice(_ title: String, _ text: String?) -> Markup? {
    guard let text else { return nil }
    return "<p class=\"notice\"><strong>\(title)</strong> \(text)</p>"
  }

  /// A shape in addition to the colour, for users who can't distinguish the colours.
  private static func icon(_ tone: RunVerdict.Tone) -> Markup {
    let stroke: Markup =
      switch tone {
      case .clean: "<path d=\"M9.5 16.5l4.5 4.5 8.5-9.5\"/>"
      case .warnings, .errors: "<path d=\"M16 9v9M16 22.6v.4\"/>"
      case .stopped, .cancelled: "<path d=\"M12.5 11v10M19.5 11v10\"/>"
      case .failed: "<path d=\"M11 11l10 10M21 11L11 21\"/>"
      }
    return """
      <svg class="icon" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="16"/>\(stroke)</svg>
      """
  }
}
