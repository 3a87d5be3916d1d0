import Foundation

extension RunSummary {
  /// The report for a terminal: verdict, totals, issues and the next step. Independent of colour and width.
  ///
  /// At most `issuesShownMax` issues are shown; those that differ in their lines and values only count as one. The JSON
  /// report has the rest.
  public func text(issuesShownMax: Int = 20) -> String {
    var lines = [RawText.oneLine("\(subject) \(verdict.phrase)"), ""]
    lines += TextTable.rows(paths)
    lines += TextTable.rows(totals)
    lines += TextTable.rows((entities ?? []).map(describe))
    lines += TextTable.rows((links ?? []).map(describe))
    lines += problems(issuesShownMax)
    if let next = nextStep { lines += ["", RawText.oneLine("Next: \(next)")] }
    return lines.joined(separator: "\n") + "\n"
  }

  private var paths: [(String, String)] {
    var rows: [(String, String)] = []
    for file in inputs { rows.append(("input", describe(file))) }
    for file in unreadInputs ?? [] { rows.append(("input", "\(name(of: file))  (not read)\(place(file))")) }
    for file in outputs { rows.append(("output", describe(file))) }
    if let store { rows.append(("store", kind == .validate ? "\(store) (untouched)" : store)) }
    if let seed { rows.append(("seed", "\(TextTable.count(seed.files.count, "file")), UUID \(seed.uuid)")) }
    if let rejects { rows.append(("rejects", rejects)) }
    if let note { rows.append(("note", note)) }
    for text in undelivered ?? [] { rows.append(("undelivered", text)) }
    let rate = TextTable.grouped(Int(rowsPerSecond.rounded()))
    let memory = TextTable.bytes(memoryPeakBytes)
    rows.append(("time", "\(String(format: "%.2f", seconds)) s, \(rate) records/s, peak memory \(memory)"))
    return rows
  }

  private func describe(_ file: File) -> String {
    let name = file.path == "-" ? (kind == .export ? "standard output" : "standard input") : file.path
    let records = TextTable.count(file.records, "record")
    return "\(name)  (\(TextTable.bytes(file.bytes)), \(records)\(stateText(file)))\(place(file))"
  }

  private func place(_ file: File) -> String { file.movedTo.map { " → \($0)" } ?? "" }

  /// What the ledger recorded for an input, in words that follow its number of records.
  func stateText(_ file: File) -> String {
    let first = file.firstRecord.map(TextTable.grouped) ?? ""
    switch file.state {
    case nil, .imported: return ""
    case .known: return ", already imported on \(file.importedAt.map { $0.formatted(.iso8601) } ?? "")"
    case .resumed: return ", resumed at record \(first)"
    case .grown: return ", new from record \(first) on"
    }
  }

  private var totals: [(String, String)] {
    if kind == .export { return [("exported", TextTable.grouped(exported))] }
    let shown = shown(counts)
    let numbers = shown.map { TextTable.grouped($0.1) }
    let width = numbers.map(\.count).max() ?? 0
    return zip(shown, numbers).map { ($0.0, TextTable.padded($1, to: width)) }
  }

  /// The counts with their names. Zeros are omitted except for the first two and the last.
  private func shown(_ counts: RunCounts) -> [(String, Int)] {
    let would = kind == .validate ? "would be " : ""
    let all = [
      ("read", counts.read), ("\(would)inserted", counts.inserted), ("\(would)updated", counts.updated),
      ("unchanged", counts.unchanged), ("duplicate", counts.duplicate), ("repeated in the input", counts.repeated),
      ("rejected", counts.rejected),
    ]
    return all.enumerated().filter { $0 < 2 || $1.1 > 0 || $0 == all.count - 1 }.map(\.element)
  }

  private func describe(_ entity: EntityCounts) -> (String, String) {
    (entity.entity, shown(entity.counts).map { "\($0.0) \(TextTable.grouped($0.1))" }.joined(separator: ", "))
  }

  private func describe(_ link: LinkCounts) -> (String, String) {
    let would = kind == .validate ? "would be " : ""
    var parts = ["\(would)created \(TextTable.grouped(link.created))", "linked \(TextTable.grouped(link.linked))"]
    if link.updated > 0 { parts.append("\(would)updated \(TextTable.grouped(link.updated))") }
    if link.leftOut > 0 { parts.append("left out \(TextTable.grouped(link.leftOut))") }
    return (entities == nil ? link.entity : "to \(link.entity)", parts.joined(separator: ", "))
  }

  private func problems(_ shownMax: Int) -> [String] {
    if issues.counts.isEmpty { return [] }
    var lines = ["", "What is wrong:"]
    let sorted = issues.counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let width = sorted.map { TextTable.grouped($0.value).count }.max() ?? 0
    for (code, count) in sorted { lines.append("  \(TextTable.padded(TextTable.grouped(count), to: width))  \(code)") }
    if issues.listed.isEmpty { return lines }
    lines.append("")
    let shown = IssueGroup.all(of: issues.listed).prefix(shownMax)
    for group in shown {
      lines += (["  \(group.first)"] + (group.others.map { ["    \($0)"] } ?? [])).map(RawText.oneLine)
    }
    let hidden = issues.errors + issues.warnings - shown.reduce(0) { $0 + $1.count }
    if hidden > 0 {
      let rest = TextTable.grouped(hidden)
      lines.append(
        "  … and \(rest) more"
          + (issues.isTruncated
            ? "; reports list \(issues.listed.count.grouped) of "
              + "\((issues.errors + issues.warnings).grouped)" : ""))
    }
    return lines
  }

  /// What the user should do next; nil when nothing is left to do, or when the failure states it.
  var nextStep: String? {
    switch outcome {
    case .failed:
      return failedPaths.isEmpty ? nil : "correct \(failedPaths.joined(separator: ", ")), and \(movesBack)."
    case .cancelled: return "run it again."
    case .stopped:
      let records = issues.errors == 1 ? "record" : "records"
      let advice = stopAdvice.map { ", or \($0)" } ?? ""
      if failedPaths.isEmpty { return "correct the listed \(records) and run it again\(advice)." }
      return "correct the listed \(records) in \(failedPaths.joined(separator: ", "))\(advice). Then \(movesBack)."
    case .completed: break
    }
    if issues.errors == 0 { return nil }
    let correction = "correct these records in the inputs" + (rejects.map { " (they are in \($0))" } ?? "")
    if seed != nil { return "\(correction), and make the seed again." }
    if kind == .validate {
      return rejects == nil ? "correct the listed lines, then import." : "\(correction), then import."
    }
    if let rejects {
      // Without a full stop, so that the command can be copied.
      let files = (rejectsFiles.isEmpty ? [rejects] : rejectsFiles).map(ShellWord.quoted)
      return "correct the records in \(rejects), then run: \(program) replay \(files.joined(separator: " "))"
    }
    return issues.listed.isEmpty ? nil : "correct the listed lines."
  }
}

extension RunSummary {
  private var movesBack: String { "move \(failedPaths.count == 1 ? "it" : "them") back to the inbox for the next run" }
}

/// Formatting for text reports.
package enum TextTable {
  /// Name and value in two aligned columns.
  static func rows(_ rows: [(String, String)]) -> [String] {
    let width = max(10, rows.map { DisplayWidth.of($0.0) }.max() ?? 0)
    return rows.map { name, value in RawText.oneLine("  \(DisplayWidth.padded(name, to: width))  \(value)") }
  }

  static func padded(_ text: String, to width: Int) -> String {
    DisplayWidth.padded(text, to: width, isRight: true)
  }

  package static func grouped(_ value: Int) -> String { value.grouped }

  /// `plural` for nouns whose plural is not formed with an s.
  static func count(_ value: Int, _ noun: String, plural: String? = nil) -> String {
    "\(grouped(value)) \(value == 1 ? noun : plural ?? noun + "s")"
  }

  /// Decimal units with one decimal digit.
  static func bytes(_ value: Int) -> String {
    if value < 1000 { return "\(value) B" }
    var amount = Double(value)
    for unit in ["kB", "MB", "GB"] {
      amount /= 1000
      if amount < 999.95 { return String(format: "%.1f \(unit)", amount) }
    }
    return String(format: "%.1f TB", amount / 1000)
  }
}
