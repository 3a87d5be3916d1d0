/// A column, or a part of one, that an input lacks: whether that is reported, and what messages say of it.
struct MissingLabel {
  /// The label that is missing.
  let label: String
  /// Nil if it is not reported.
  let severity: Severity?
  private let synonyms: [String]

  /// - Parameter hasNone: Whether the input has no column at all: one error then says more than a warning for each.
  init(_ column: ColumnDefinition, part: Int, policy: HeaderPolicy, hasNone: Bool) {
    label = column.from.isEmpty ? column.name : column.from[part]
    synonyms = column.synonyms
    let severity = column.isLabelRequired ? .error : policy.missing.severity
    // What a transform fills is not empty.
    let isSilent = severity != .error && (hasNone || column.transforms.contains(where: \.fillsEmpty))
    self.severity = isSilent ? nil : severity
  }

  /// The label with the column's other names.
  var shown: String { "'\(label)'" + (synonyms.isEmpty ? "" : " (or \(synonyms.joined(separator: ", ")))") }

  /// A question about a label that is nearly the missing one, or nothing.
  func hint(among labels: [String]) -> String {
    NearestName.of(label, in: labels).map { "; is it '\(RawText.shortened($0.utf8))'?" } ?? ""
  }
}
