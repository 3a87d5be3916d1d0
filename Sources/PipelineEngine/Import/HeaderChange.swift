import CSV

/// Reports columns that an input has lost or gained since the last input of its pipeline.
enum HeaderChange {
  /// - Parameters:
  ///   - last: The last input of the pipeline; nothing is reported without one, or if it has no header.
  ///   - labels: The labels of the new one.
  ///   - input: The name of the new one.
  /// - Returns: A warning for each label that is gone or new.
  static func issues(from last: LedgerEntry?, to labels: [String], input: String) -> [RecordIssue] {
    guard let last, let old = last.header else { return [] }
    let (oldNames, newNames) = (Set(old.map(ColumnLabel.folded)), Set(labels.map(ColumnLabel.folded)))
    let gone = old.filter { !newNames.contains(ColumnLabel.folded($0)) }
    let new = labels.filter { !oldNames.contains(ColumnLabel.folded($0)) }
    let since = "since the last input of the pipeline, \(last.path) of \(LedgerDate.text(last.savedAt))"
    func issue(_ label: String, _ text: String) -> RecordIssue {
      RecordIssue(
        .headerChanged, severity: .warning, at: RecordPosition(input: input, record: 0, line: 1, byte: 0),
        column: label, message: text)
    }
    if gone.count == 1, new.count == 1 {
      return [
        issue(
          gone[0],
          "'\(gone[0])' is gone \(since), and '\(new[0])' is new; if it is the same column, declare its "
            + "new label as a synonym")
      ]
    }
    return gone.map { label in
      let hint = NearestName.of(label, in: new).map { "; if it is '\($0)' now, declare that as a synonym" } ?? ""
      return issue(label, "'\(label)' is gone \(since)\(hint)")
    } + new.map { issue($0, "'\($0)' is new \(since)") }
  }
}
