import CSV

/// Which members of JSON objects feed a pipeline's columns: one field for each column, or for each part of a column
/// that is made of several.
///
/// A member is named by its label: its name, or for a member of a nested object the names on the way to it, with dots
/// between them. Every label of a column feeds the same field.
package struct MemberLabels: Sendable {
  private let table: LabelTable
  /// For each field its column and the part of the column.
  let fields: [LabelTable.Target]
  private let fieldOfTarget: [LabelTable.Target: Int]
  /// The fields within an object, by its label regardless of letter case.
  private let fieldsWithin: [String: Set<Int>]

  package init(_ columns: [ColumnDefinition]) {
    let table = LabelTable(columns)
    let fields = columns.indices.filter { columns[$0].value == nil }.flatMap { column in
      (0..<max(1, columns[column].from.count)).map { LabelTable.Target(column: column, part: $0) }
    }
    let fieldOfTarget = Dictionary(uniqueKeysWithValues: zip(fields, fields.indices))
    var fieldsWithin: [String: Set<Int>] = [:]
    for label in columns.filter({ $0.value == nil }).flatMap({ $0.labels.map(\.label) }) {
      guard let field = table.target(of: label).flatMap({ fieldOfTarget[$0] }) else { continue }
      let names = ColumnLabel.trimmed(label).split(separator: ".", omittingEmptySubsequences: false)
      for count in 1..<max(1, names.count) {
        fieldsWithin[ColumnLabel.folded(names.prefix(count).joined(separator: ".")), default: []].insert(field)
      }
    }
    (self.table, self.fields, self.fieldOfTarget, self.fieldsWithin) = (table, fields, fieldOfTarget, fieldsWithin)
  }

  package var fieldCount: Int { fields.count }
  /// For each field the index of its column.
  package var columnOfField: [Int] { fields.map(\.column) }

  /// What a member is used for, by its label.
  package func use(of label: String) -> MemberUse {
    let field = table.target(of: label).flatMap { fieldOfTarget[$0] }
    let within = fieldsWithin[ColumnLabel.folded(label)]
    return MemberUse(field: field, isContainer: within != nil, fieldsWithin: within.map { $0.sorted() } ?? [])
  }
}

extension MemberSelection {
  /// The members that feed the columns of a pipeline.
  package init(_ labels: MemberLabels, extra policy: PipelineDefinition.ColumnPolicy) {
    let extra: Extra =
      switch policy {
      case .error: .refused
      case .warn: .noted
      case .ignore: .ignored
      }
    self.init(fieldCount: labels.fieldCount, extra: extra) { labels.use(of: $0) }
  }
}
