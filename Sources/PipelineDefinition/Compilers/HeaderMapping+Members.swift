import CSV

extension HeaderMapping {
  /// Maps the members of JSON Lines to columns.
  ///
  /// - Parameters:
  ///   - survey: the members of the first records.
  ///   - labels: the members that feed columns.
  ///   - columns: the columns of the pipeline.
  ///   - policy: the treatment of members without a column, and of columns that none of the first records has.
  ///   - omitsMissing: whether such columns count as missing from the whole input, so that defaults apply; otherwise a
  ///     later record may have them.
  ///   - position: the position for issues.
  package init(
    _ survey: MemberSurvey, _ labels: MemberLabels, columns: [ColumnDefinition], policy: HeaderPolicy,
    omitsMissing: Bool, at position: RecordPosition
  ) {
    // An input without records lacks nothing.
    let found = survey.records == 0 ? Set(labels.fields.indices) : survey.fields
    let foundColumns = Set(found.map { labels.fields[$0].column })
    var fields: [Int: [Int]] = [:]
    for (field, target) in labels.fields.enumerated() where !omitsMissing || foundColumns.contains(target.column) {
      fields[target.column, default: []].append(field)
    }
    columnOfField = labels.fields.map { fields[$0.column] == nil ? nil : $0.column }
    fieldOfColumn = columns.indices.map { fields[$0]?.first }
    unseenColumns = Set(labels.fields.map(\.column)).subtracting(foundColumns)
    partsOfColumn = fields.filter { columns[$0.key].from.count > 1 }
    var issues = MemberIssues(survey: survey, columns: columns, policy: policy, position: position)
    issues.noteExtra()
    issues.noteMissing(labels.fields.indices.filter { !found.contains($0) }.map { labels.fields[$0] })
    self.issues = issues.found
  }
}

/// The issues of the first records of JSON Lines as a whole.
private struct MemberIssues {
  let survey: MemberSurvey
  let columns: [ColumnDefinition]
  let policy: HeaderPolicy
  let position: RecordPosition
  var found: [RecordIssue] = []

  /// Members for which a similar label is looked for; reports list fewer.
  private static let hintsMax = 1000

  /// The records, as the object of "none of" or "in".
  private var records: String { survey.records == 1 ? "the first record" : "the first \(survey.records) records" }

  mutating func noteExtra() {
    let labels = columns.flatMap { $0.labels.map(\.label) }
    for (number, label) in survey.extraLabels.enumerated() {
      let hint = number < Self.hintsMax ? NearestName.hint(for: label, in: labels) : ""
      add(
        .extraLabel, policy.extra.severity, value: label,
        message: policy.extra == .error
          ? "no column of the pipeline has this member; add the column to the pipeline, remove the member, or let "
            + "such members be ignored with \"extraColumns\": \"ignore\" (--extra-columns ignore)\(hint)"
          : "no column of the pipeline has this member; it is ignored\(hint)")
    }
  }

  mutating func noteMissing(_ missing: [LabelTable.Target]) {
    let hasNone = survey.records > 0 && survey.fields.isEmpty
    for target in missing { noteMissing(columns[target.column], part: target.part, hasNone: hasNone) }
    if hasNone, !found.contains(where: { $0.code == .missingLabel && $0.severity == .error }) {
      let known = columns.map { "'\($0.name)'" }.joined(separator: ", ")
      add(
        .missingLabel, .error,
        message: "no member of \(records) is one of the pipeline's columns, \(known); import the right file, or name "
          + "its members in the pipeline's columns, those of nested objects with dots such as wave.height")
    }
  }

  private mutating func noteMissing(_ column: ColumnDefinition, part: Int, hasNone: Bool) {
    let missing = MissingLabel(column, part: part, policy: policy, hasNone: hasNone)
    guard let severity = missing.severity else { return }
    let lack = "\(records) \(survey.records == 1 ? "has" : "have") no \(missing.shown)"
    let advice =
      severity == .error
      ? "; add the member, or declare its label as a synonym"
      : "; add the member, declare its label as a synonym, or \"missingColumns\": \"ignore\""
    let hint = missing.hint(among: survey.extraLabels)
    add(.missingLabel, severity, column: column.name, message: lack + advice + hint)
  }

  private mutating func add(
    _ code: IssueCode, _ severity: Severity?, column: String? = nil, value: String? = nil, message: String
  ) {
    guard let severity else { return }
    found.append(
      RecordIssue(
        code, severity: severity, at: position, column: column, value: value.map { RawText.shortened($0.utf8) },
        message: message))
  }
}
