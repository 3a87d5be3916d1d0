/// Which field of a record feeds which column.
package struct HeaderMapping: Sendable, Equatable {
  /// For each field, in order, the index of its column; `nil` for an ignored field.
  package let columnOfField: [Int?]
  /// For each column the index of its field; `nil` for a column that the input lacks.
  package let fieldOfColumn: [Int?]
  /// The issues of the header. The file can be imported unless one of them is an error.
  package let issues: [RecordIssue]

  package var isUsable: Bool { !issues.contains { $0.severity == .error } }
  /// Fields that a record must have.
  package var fieldCount: Int { columnOfField.count }

  /// Maps labels to columns.
  ///
  /// - Parameters:
  ///   - labels: the header's fields, or the dialect's declared columns for a file without a header. Labels match a
  ///     column's name or synonyms, ignoring letter case and surrounding spaces.
  ///   - columns: the columns of the pipeline.
  ///   - position: the position of the header, for issues.
  ///
  /// Errors are `blank-header`, `duplicate-label` and `missing-label` (for columns that are `required` or have that
  /// rule). Warnings are `extra-label` and `blank-label`; such fields are ignored.
  package init(labels: [String], columns: [ColumnDefinition], at position: RecordPosition) {
    var resolver = LabelResolver(columns: columns, position: position)
    columnOfField = labels.enumerated().map { resolver.column(of: $1, field: $0) }
    resolver.finish(labels: labels)
    fieldOfColumn = resolver.fieldOfColumn
    issues = resolver.issues
  }

  /// The issues of a record whose number of fields differs from `fieldCount`: a `missing-cell` for each column that
  /// it lacks, or an `extra-cell` for each additional field. There is none if the only additional field is the empty
  /// one after a trailing delimiter that `dialect` allows.
  package func raggedIssues(
    fieldCount found: Int, lastIsEmpty: Bool, dialect: DialectDefinition, columns: [ColumnDefinition],
    at position: RecordPosition
  ) -> [RecordIssue] {
    if found == fieldCount { return [] }
    let counts = "the record has \(found) fields and the \(dialect.header ? "header" : "dialect") \(fieldCount)"
    if found > fieldCount {
      let allowsTrailing = dialect.trailingComma || !dialect.columns.isEmpty
      if found == fieldCount + 1, lastIsEmpty, allowsTrailing { return [] }
      let text =
        "\(counts); put quotes around a value that contains a '\(dialect.delimiter)', or remove the additional fields"
      return (fieldCount..<found).map { RecordIssue(.extraCell, at: position, field: $0 + 1, message: text) }
    }
    let missing = (found..<fieldCount).filter { columnOfField[$0] != nil }
    // Even if only ignored fields are missing, the record does not match the header.
    return (missing.isEmpty ? [found] : missing).map { field in
      let column = columnOfField[field].map { columns[$0].name }
      let text = "\(counts); write a '\(dialect.delimiter)' for each empty field"
      return RecordIssue(.missingCell, at: position, field: field + 1, column: column, message: text)
    }
  }
}

/// Matches labels to columns one by one and collects the issues.
private struct LabelResolver {
  let columns: [ColumnDefinition]
  let position: RecordPosition
  var issues: [RecordIssue] = []
  var fieldOfColumn: [Int?]
  private let columnOfLabel: [String: Int]
  /// Labels of columns that the pipeline fills with constants.
  private let constants: Set<String>

  init(columns: [ColumnDefinition], position: RecordPosition) {
    self.columns = columns
    self.position = position
    fieldOfColumn = Array(repeating: nil, count: columns.count)
    constants = Set(columns.filter { $0.value != nil }.map { ColumnLabel.folded($0.name) })
    let labels = columns.enumerated().filter { $1.value == nil }.flatMap { index, column in
      ([column.name] + column.synonyms).map { (ColumnLabel.folded($0), index) }
    }
    columnOfLabel = Dictionary(labels, uniquingKeysWith: { first, _ in first })
  }

  mutating func column(of label: String, field: Int) -> Int? {
    let folded = ColumnLabel.folded(label)
    if folded.isEmpty {
      add(
        .blankLabel, .warning, field: field, value: label,
        message: "this field has no label and is ignored; name it or remove it")
      return nil
    }
    guard let column = columnOfLabel[folded] else {
      if constants.contains(folded) {
        add(
          .extraLabel, .warning, field: field, value: label,
          message: "the pipeline fills this column with a constant; it is ignored")
        return nil
      }
      let known = columns.flatMap { [$0.name] + $0.synonyms }
      let hint = NearestName.hint(for: label, in: known)
      add(
        .extraLabel, .warning, field: field, value: label,
        message: "no column of the pipeline has this label; it is ignored\(hint)")
      return nil
    }
    if let first = fieldOfColumn[column] {
      let text = "field \(first + 1) is column '\(columns[column].name)' already; rename or remove one of the two"
      add(.duplicateLabel, .error, field: field, column: columns[column].name, value: label, message: text)
      return nil
    }
    fieldOfColumn[column] = field
    return column
  }

  mutating func finish(labels: [String]) {
    if labels.allSatisfy({ ColumnLabel.folded($0).isEmpty }) {
      // One issue instead of one per label.
      issues = [
        RecordIssue(.blankHeader, at: position, message: "the header is empty; write the columns' names in line 1")
      ]
      return
    }
    let hasNone = fieldOfColumn.allSatisfy { $0 == nil }
    for (index, column) in columns.enumerated() where fieldOfColumn[index] == nil && column.isLabelRequired {
      let others = column.synonyms.isEmpty ? "" : " (or \(column.synonyms.joined(separator: ", ")))"
      var text = "the header has no '\(column.name)'\(others); add the column, or declare its label as a synonym"
      if hasNone { text += ". If the file has no header, name its columns in the pipeline's dialect" }
      add(.missingLabel, .error, column: column.name, message: text)
    }
    // Every entry would consist of nil only.
    if hasNone, !issues.contains(where: { $0.code == .missingLabel }) {
      let known = columns.map { "'\($0.name)'" }.joined(separator: ", ")
      let text =
        "no label is one of the pipeline's columns, \(known); import the right file, or, if it has no header, "
        + "name its columns in the pipeline's dialect"
      add(.missingLabel, .error, message: text)
    }
  }

  private mutating func add(
    _ code: IssueCode, _ severity: Severity, field: Int? = nil, column: String? = nil, value: String? = nil,
    message: String
  ) {
    issues.append(
      RecordIssue(
        code, severity: severity, at: position, field: field.map { $0 + 1 }, column: column,
        value: value.map { RawText.shortened($0.utf8) }, message: message))
  }
}
