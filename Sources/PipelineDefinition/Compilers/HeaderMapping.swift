/// Which field of a record feeds which column.
package struct HeaderMapping: Sendable, Equatable {
  /// For each field, in order, the index of its column; `nil` for an ignored field.
  package let columnOfField: [Int?]
  /// For each column the index of its field, the first one of several; `nil` for a column that the input lacks.
  package let fieldOfColumn: [Int?]
  /// For columns that are made of several fields these fields, in the order of their parts.
  package let partsOfColumn: [Int: [Int]]
  /// Columns that none of the first records of JSON Lines has, although later ones may.
  package let unseenColumns: Set<Int>
  /// The issues of the header. The file can be imported unless one of them is an error.
  package let issues: [RecordIssue]

  package var isUsable: Bool { !issues.contains { $0.severity == .error } }
  /// Fields that a record must have.
  package var fieldCount: Int { columnOfField.count }

  /// Maps labels to columns.
  ///
  /// - Parameters:
  ///   - labels: the header's fields, or the dialect's declared columns for a file without a header. Labels match a
  ///     column's name or synonyms, ignoring letter case and surrounding spaces, unless columns differ in letter case
  ///     only.
  ///   - columns: the columns of the pipeline.
  ///   - policy: the treatment of labels without a column, and of columns without a label.
  ///   - position: the position of the header, for issues.
  ///
  /// Errors are `blank-header`, `duplicate-label` and `missing-label` (for columns that are `required` or have that
  /// rule). The policy decides on other columns that are missing and on `extra-label` and `blank-label`; such fields
  /// are ignored unless they are errors.
  package init(
    labels: [String], columns: [ColumnDefinition], policy: HeaderPolicy = HeaderPolicy(), at position: RecordPosition
  ) {
    var resolver = LabelResolver(columns: columns, policy: policy, position: position)
    columnOfField = labels.enumerated().map { resolver.column(of: $1, field: $0) }
    resolver.finish(labels: labels)
    fieldOfColumn = resolver.fieldOfColumn
    partsOfColumn = resolver.partsOfColumn
    unseenColumns = []
    issues = resolver.issues
  }

  /// The issues of a record whose number of fields differs from `fieldCount`: a `missing-cell` for each column that
  /// it lacks, or an `extra-cell` for each additional field.
  package func raggedIssues(
    fieldCount found: Int, lastIsEmpty: Bool, dialect: DialectDefinition, columns: [ColumnDefinition],
    severity: Severity = .error, at position: RecordPosition
  ) -> [RecordIssue] {
    if found == fieldCount { return [] }
    let counts = "the record has \(found) fields and the \(dialect.header ? "header" : "dialect") \(fieldCount)"
    if found > fieldCount {
      let advice =
        lastIsEmpty && found == fieldCount + 1 && !dialect.trailingComma
        ? "remove the delimiter at its end, or, if every record ends with one, declare \"trailingComma\": true"
        : "put quotes around a value that contains a '\(dialect.delimiter)', or remove the additional fields"
      let text = severity == .error ? "\(counts); \(advice)" : "\(counts); \(Self.repair(dialect, isLonger: true))"
      return (fieldCount..<found).map {
        RecordIssue(.extraCell, severity: severity, at: position, field: $0 + 1, message: text)
      }
    }
    let missing = (found..<fieldCount).filter { columnOfField[$0] != nil }
    let advice =
      severity == .error
      ? "write a '\(dialect.delimiter)' for each empty field" : Self.repair(dialect, isLonger: false)
    // Even if only ignored fields are missing, the record does not match the header.
    return (missing.isEmpty ? [found] : missing).map { field in
      let column = columnOfField[field].map { columns[$0].name }
      return RecordIssue(
        .missingCell, severity: severity, at: position, field: field + 1, column: column,
        message: "\(counts); \(advice)")
    }
  }

  /// What `raggedRows` makes of such a record.
  private static func repair(_ dialect: DialectDefinition, isLonger: Bool) -> String {
    if !isLonger { return "the missing ones are taken as empty" }
    return dialect.raggedRows.contains(.truncate)
      ? "the additional ones are dropped" : "the additional ones are taken as part of the last"
  }
}

/// Matches labels to columns one by one and collects the issues.
private struct LabelResolver {
  let columns: [ColumnDefinition]
  let policy: HeaderPolicy
  let position: RecordPosition
  var issues: [RecordIssue] = []
  var fieldOfColumn: [Int?]
  /// For each column the field of each of its parts.
  private var fieldsOfParts: [[Int?]]
  private let table: LabelTable
  /// Labels that no column has, with their fields.
  private var unknown: [(label: String, field: Int)] = []
  /// Labels of columns that the pipeline fills with constants.
  private let constants: Set<String>

  init(columns: [ColumnDefinition], policy: HeaderPolicy, position: RecordPosition) {
    self.columns = columns
    self.policy = policy
    self.position = position
    fieldOfColumn = Array(repeating: nil, count: columns.count)
    fieldsOfParts = columns.map { Array(repeating: nil, count: max(1, $0.from.count)) }
    constants = Set(columns.filter { $0.value != nil }.map { ColumnLabel.folded($0.name) })
    table = LabelTable(columns)
  }

  /// Columns of several fields, with the fields that the header has.
  var partsOfColumn: [Int: [Int]] {
    var parts: [Int: [Int]] = [:]
    for (column, fields) in fieldsOfParts.enumerated() where fields.count > 1 {
      let found = fields.compactMap(\.self)
      if !found.isEmpty { parts[column] = found }
    }
    return parts
  }

  mutating func column(of label: String, field: Int) -> Int? {
    if ColumnLabel.folded(label).isEmpty {
      add(
        .blankLabel, policy.extra.severity, field: field, value: label,
        message: policy.extra == .error
          ? "this field has no label; name it or remove it"
          : "this field has no label and is ignored; name it or remove it")
      return nil
    }
    guard let target = table.target(of: label) else {
      unknown.append((label, field))
      return nil
    }
    let (column, part) = (target.column, target.part)
    if let first = fieldsOfParts[column][part] {
      let text = "field \(first + 1) is column '\(columns[column].name)' already; rename or remove one of the two"
      add(.duplicateLabel, .error, field: field, column: columns[column].name, value: label, message: text)
      return nil
    }
    fieldsOfParts[column][part] = field
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
    for column in columns.indices { fieldOfColumn[column] = fieldsOfParts[column].compactMap(\.self).first }
    noteUnknown()
    issues.sort { ($0.field ?? 0) < ($1.field ?? 0) }
    let hasNone = fieldOfColumn.allSatisfy { $0 == nil }
    for (index, column) in columns.enumerated() where column.value == nil {
      for (part, field) in fieldsOfParts[index].enumerated() where field == nil {
        noteMissing(column, part: part, hasNone: hasNone)
      }
    }
    // Every entry would consist of nil only.
    if hasNone, !issues.contains(where: { $0.code == .missingLabel && $0.severity == .error }) {
      let known = columns.map { "'\($0.name)'" }.joined(separator: ", ")
      let text =
        "no label is one of the pipeline's columns, \(known); import the right file, or, if it has no header, "
        + "name its columns in the pipeline's dialect"
      add(.missingLabel, .error, message: text)
    }
    if policy.isOrdered { checkOrder() }
  }

  private mutating func noteUnknown() {
    for (label, field) in unknown {
      if constants.contains(ColumnLabel.folded(label)) {
        add(
          .extraLabel, policy.extra == .ignore ? nil : .warning, field: field, value: label,
          message: "the pipeline fills this column with a constant; it is ignored")
        continue
      }
      let hint = NearestName.hint(for: label, in: columns.flatMap { $0.labels.map(\.label) })
      add(
        .extraLabel, policy.extra.severity, field: field, value: label,
        message: policy.extra == .error
          ? "no column of the pipeline has this label; add the column to the pipeline, remove the field, or let "
            + "such fields be ignored with \"extraColumns\": \"ignore\" (--extra-columns ignore)\(hint)"
          : "no column of the pipeline has this label; it is ignored\(hint)")
    }
  }

  /// A header of one label that contains a usual delimiter.
  private var delimiterHint: String? {
    guard unknown.count == 1, let label = unknown.first?.label else { return nil }
    let usual: [(Character, String)] = [(";", "';'"), ("\t", "a tab"), ("|", "'|'"), (",", "','")]
    guard let found = usual.first(where: { label.contains($0.0) })?.1 else { return nil }
    return ". The header is one field with \(found) in it; if that is the delimiter, declare it in the pipeline's "
      + "dialect"
  }

  private mutating func noteMissing(_ column: ColumnDefinition, part: Int, hasNone: Bool) {
    let missing = MissingLabel(column, part: part, policy: policy, hasNone: hasNone)
    guard let severity = missing.severity else { return }
    let hint = missing.hint(among: unknown.map(\.label))
    var text = "the header has no \(missing.shown)"
    if severity == .error {
      text += "; add the column, or declare its label as a synonym\(hint)"
      if hasNone { text += delimiterHint ?? ". If the file has no header, name its columns in the pipeline's dialect" }
    } else {
      text += column.from.count > 1 ? ", which is left out" : ", which stays empty"
      text += "; add the column, declare its label as a synonym, or \"missingColumns\": \"ignore\"\(hint)"
    }
    add(.missingLabel, severity, column: column.name, message: text)
  }

  private mutating func checkOrder() {
    let found = fieldOfColumn.compactMap(\.self)
    guard let index = zip(found, found.dropFirst()).enumerated().first(where: { $1.0 > $1.1 })?.offset else { return }
    add(
      .missingLabel, .error, field: found[index + 1],
      message: "the labels are not in the pipeline's order; reorder them, or declare \"fieldsMatch\": \"equal\"")
  }

  private mutating func add(
    _ code: IssueCode, _ severity: Severity?, field: Int? = nil, column: String? = nil, value: String? = nil,
    message: String
  ) {
    guard let severity else { return }
    issues.append(
      RecordIssue(
        code, severity: severity, at: position, field: field.map { $0 + 1 }, column: column,
        value: value.map { RawText.shortened($0.utf8) }, message: message))
  }
}
