extension FileComparison {
  /// Writes the comparison for a terminal of 80 columns: differences, problems, counts; or the counts only.
  package func writeText(showsDifferences: Bool = true, _ write: (String) throws -> Void) throws {
    guard let content else { return }
    let text = ComparisonText(content)
    try write(text.header)
    if showsDifferences { try content.each { try write(text.block($0)) } }
    try write(text.footer(showsAll: showsDifferences))
  }
}

/// The parts of a comparison as text.
struct ComparisonText {
  private let content: FileComparison.Content
  /// Characters of a value that are shown.
  private static let charactersMax = 200
  /// Characters that are shown before the first that differs.
  private static let contextCharacters = 20

  init(_ content: FileComparison.Content) { self.content = content }

  var header: String {
    Self.text(["--- \(content.oldIsNamed)", "+++ \(content.newIsNamed)"] + basis + [""])
  }

  /// What is compared.
  private var basis: [String] {
    let names = content.columns.texts.columns.map(\.attribute)
    let key = zip(names, content.columns.isKey).filter(\.1).map(\.0)
    let others = zip(names, content.columns.isKey).filter { !$0.1 }.map(\.0)
    return key.isEmpty
      ? TextLayout.lines(names, after: "whole records: ")
      : TextLayout.lines(key, after: "by key: ")
        + (others.isEmpty ? [] : TextLayout.lines(others, after: "compared: "))
  }

  /// What a line quotes can't begin another one.
  private static func text(_ lines: [String]) -> String { lines.map { RawText.oneLine($0) + "\n" }.joined() }

  // MARK: Differences

  /// One difference, with a final line break.
  func block(_ difference: Difference) -> String {
    let (key, others) = content.values(difference)
    var lines: [String]
    switch difference.kind {
    case .added: lines = entry("+", at: new(difference), key: key) + values(others)
    case .missing: lines = entry("-", at: old(difference), key: key) + values(others)
    case .changed:
      lines = entry("~", at: "\(new(difference)) (\(old(difference)))", key: key) + others.flatMap(change)
    case .duplicate:
      let name = difference.new == nil ? content.oldIsNamed : content.newIsNamed
      lines =
        entry("!", at: location(difference), key: key)
        + TextLayout.lines(["of \(name): not compared, because its key occurs more than once"], after: "    ")
    }
    return Self.text(lines)
  }

  /// Where the entry is, on the new side if it is there.
  func location(_ difference: Difference) -> String { difference.new == nil ? old(difference) : new(difference) }

  private func new(_ difference: Difference) -> String { "line \(difference.new?.line ?? 0)" }

  private func old(_ difference: Difference) -> String {
    content.isStore ? "entry \(difference.old?.number ?? 0)" : "old line \(difference.old?.line ?? 0)"
  }

  private func entry(_ sign: String, at location: String, key: [FileComparison.Content.Value]) -> [String] {
    key.isEmpty
      ? ["\(sign) \(location)"]
      : TextLayout.lines(
        key.map { "\($0.name) \(Self.shown($0.text))" }, after: "\(sign) \(location): ", separator: " · ")
  }

  private func values(_ values: [FileComparison.Content.Value]) -> [String] {
    let filled = values.filter { $0.text != nil }
    return TextLayout.lines(filled.map { "\($0.name) \(Self.shown($0.text))" }, after: "    ", separator: " · ")
  }

  private func change(_ value: FileComparison.Content.Value) -> [String] {
    let (old, new) = Self.excerpts(value.old, value.new)
    return TextLayout.lines(["\(value.name): \(old)", "→ \(new)"], after: "    ", separator: " ")
  }

  static func shown(_ text: String?) -> String {
    guard let text else { return "(none)" }
    let shown = TextLayout.shortened(text, to: charactersMax)
    // Spaces at an end would not be seen.
    return text.isEmpty || text.hasPrefix(" ") || text.hasSuffix(" ") ? "\"\(shown)\"" : shown
  }

  /// Both values; long ones from where they begin to differ, and those that look alike with their scalars by number.
  static func excerpts(_ old: String?, _ new: String?) -> (old: String, new: String) {
    if let old, old == new { return (scalars(old), scalars(new ?? "")) }
    guard let old, let new, max(old.count, new.count) > charactersMax else { return (shown(old), shown(new)) }
    let (left, right) = (Array(old), Array(new))
    let common = zip(left, right).prefix { $0 == $1 }.count
    let start = max(0, common - contextCharacters)
    func excerpt(_ text: [Character]) -> String {
      (start > 0 ? "…" : "") + TextLayout.shortened(String(text[start...]), to: charactersMax)
    }
    return (excerpt(left), excerpt(right))
  }

  private static func scalars(_ text: String) -> String {
    let escaped = text.unicodeScalars.map {
      $0.isASCII ? String($0) : "\\u{\(String($0.value, radix: 16, uppercase: true))}"
    }
    return shown(escaped.joined())
  }

  // MARK: The end

  /// - Parameter showsAll: Whether differences precede, and what is wrong in the files is listed too.
  func footer(showsAll: Bool) -> String {
    let counts = content.counts
    var rows = [("added", counts.added)]
    if content.columns.hasKey { rows.append(("changed", counts.changed)) }
    rows += [("unchanged", counts.unchanged), ("missing", counts.missing)]
    if counts.duplicatesNew > 0 { rows.append(("duplicate keys, new", counts.duplicatesNew)) }
    if counts.duplicatesOld > 0 { rows.append(("duplicate keys, old", counts.duplicatesOld)) }
    if content.rejected > 0 { rows.append(("rejected", content.rejected)) }
    let width = rows.map { TextTable.grouped($0.1).count }.max() ?? 0
    var lines = showsAll ? problems : []
    if showsAll, counts.listed > 0 { lines.insert("", at: 0) }
    lines += TextTable.rows(rows.map { ($0.0, TextTable.padded(TextTable.grouped($0.1), to: width)) })
    for note in content.notes { lines += TextLayout.lines([note], after: "  note: ") }
    return Self.text(lines)
  }

  /// The issues of the files.
  private var problems: [String] {
    var lines: [String] = []
    for summary in content.summaries where !summary.issues.counts.isEmpty {
      let issues = summary.issues
      lines.append("What is wrong in \(summary.inputs.first.map { summary.name(of: $0) } ?? content.newIsNamed):")
      lines += issues.listed.map { "  \($0)" }
      let hidden = issues.errors + issues.warnings - issues.listed.count
      if hidden > 0 { lines.append("  … and \(TextTable.grouped(hidden)) more") }
      lines.append("")
    }
    return lines
  }
}
