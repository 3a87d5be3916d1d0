/// What a header must have in addition to the columns that are required.
package struct HeaderPolicy: Sendable, Hashable {
  /// The treatment of labels that no column has.
  package var extra = PipelineDefinition.ColumnPolicy.warn
  /// The treatment of columns that are not in the header.
  package var missing = PipelineDefinition.ColumnPolicy.warn
  /// Whether the labels are in the order of the columns.
  package var isOrdered = false

  package init() {}

  /// The policy of a pipeline. A file without a header has the columns that the dialect says.
  package init(_ definition: PipelineDefinition) {
    (extra, missing) = (definition.extraColumns, definition.missingColumns)
    switch definition.dialect.fieldsMatch {
    case nil: break
    case .exact: (extra, missing, isOrdered) = (.error, .error, true)
    case .equal: (extra, missing) = (.error, .error)
    case .subset: (extra, missing) = (.ignore, .error)
    case .superset: (extra, missing) = (.error, .ignore)
    }
    if !definition.dialect.header { (missing, isOrdered) = (.ignore, false) }
  }
}

extension PipelineDefinition.ColumnPolicy {
  var severity: Severity? {
    switch self {
    case .error: .error
    case .warn: .warning
    case .ignore: nil
    }
  }
}
