/// Decides whether records with too few or too many fields are ordinary ones: a program has left out empty fields at
/// their end, or added some. Other such records may be damaged, and stay errors.
struct RaggedSniffer {
  /// Fewer such records may be accidents.
  private static let recordsMin = 3

  let width: Int
  let kinds: ColumnKinds

  func guess(_ records: [SplitRecord]) -> Finding<Layout.Ragged> {
    let short = records.filter { $0.cells.count < width }
    let long = records.filter { $0.cells.count > width }
    let none = Finding(Layout.Ragged.none, confidence: 1, evidence: "records of another length are errors")
    guard short.isEmpty || areTrimmed(short, among: records), long.allSatisfy(hasEmptySurplus) else { return none }
    if long.count >= Self.recordsMin {
      return Finding(
        .lenient, confidence: 0.9,
        evidence: "\(counted(long.count, "record")) have more than \(width) fields, and what is surplus is empty")
    }
    guard long.isEmpty, short.count >= Self.recordsMin else { return none }
    return Finding(
      .pad, confidence: 0.9,
      evidence: "\(counted(short.count, "record")) have fewer than \(width) fields, each with the values of its "
        + "columns, and no record ends with an empty one")
  }

  /// Whether a program has left out all empty fields at the end of records: then none of them ends with one.
  private func areTrimmed(_ short: [SplitRecord], among records: [SplitRecord]) -> Bool {
    let isConsistent = records.allSatisfy { $0.cells.count > width || $0.cells.last?.isEmpty == false }
    return isConsistent && short.allSatisfy(fits)
  }

  private func hasEmptySurplus(_ record: SplitRecord) -> Bool {
    record.cells.dropFirst(width).allSatisfy { $0.isEmpty && !$0.isQuoted } && fits(record)
  }

  /// Whether the fields that are there have the values of their columns: a part of a broken line has others.
  private func fits(_ record: SplitRecord) -> Bool {
    let comparison = kinds.compare(record)
    let hasReliable = kinds.reliable.allSatisfy { column in
      guard column < record.cells.count else { return true }
      let kind = CellKind(record.cells[column].bytes.trimmed)
      return kind == .null || ColumnKinds.family(kind) == kinds.columns[column].family
    }
    return !record.isBroken && comparison.matches > 0 && comparison.mismatches == 0 && hasReliable
  }
}
