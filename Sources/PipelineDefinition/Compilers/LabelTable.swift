/// Finds the column of a label: by its name or synonyms, ignoring letter case and surrounding spaces, unless columns
/// differ in letter case only. A label that no column has may be one that was exported with a guard against formulas.
struct LabelTable: Sendable {
  struct Target: Sendable, Hashable {
    let column: Int
    let part: Int
  }

  /// By the exact label, and by the label in the form in which letter case does not count.
  private let exact: [String: Target]
  private let folded: [String: Target]

  /// Columns that are constants have no label.
  init(_ columns: [ColumnDefinition]) {
    let targets = columns.enumerated().filter { $1.value == nil }.flatMap { index, column in
      column.labels.map { ($0.label, Target(column: index, part: $0.part)) }
    }
    exact = Dictionary(targets.map { (ColumnLabel.trimmed($0), $1) }, uniquingKeysWith: { first, _ in first })
    // Labels that differ only in letter case are distinguished by it.
    let byFolded = Dictionary(grouping: targets) { ColumnLabel.folded($0.0) }
    folded = byFolded.compactMapValues { Set($0.map(\.1.column)).count == 1 ? $0[0].1 : nil }
  }

  func target(of label: String) -> Target? {
    known(label) ?? FormulaGuard.unguarded(ColumnLabel.trimmed(label)).flatMap(known)
  }

  private func known(_ label: String) -> Target? {
    exact[ColumnLabel.trimmed(label)] ?? folded[ColumnLabel.folded(label)]
  }
}
