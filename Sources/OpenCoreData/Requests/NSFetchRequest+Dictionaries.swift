import Foundation

extension NSFetchRequest {
  /// What the dictionaries of the request contain.
  ///
  /// - Throws: `NSError` 134060 for properties that the entity does not store, for expressions without a value, and for
  ///   what cannot be combined with a grouping.
  func dictionaryShape(_ query: FetchQuery) throws -> DictionaryShape {
    var reader = DictionaryColumns(query.entity, (propertiesToFetch ?? []) + (propertiesToGroupBy ?? []))
    var shape = DictionaryShape(
      columns: try propertiesToFetch.map { try $0.map { try reader.column(of: $0) } }
        ?? query.entity.attributeSlots.filter { !$0.isTransient }.map { .attribute($0, path: [$0.name]) })
    guard !shape.columns.isEmpty else {
      throw NSError.coreData(.coreData, "propertiesToFetch is empty. Name an attribute, or leave it nil for all.")
    }
    shape.isDistinct = returnsDistinctResults
    shape.groups = try (propertiesToGroupBy ?? []).map { try reader.column(of: $0) }
    shape.havingSource = try havingPredicate?.predicateNode()
    shape.having = try shape.havingSource.map { try reader.binder.bind($0) }
    shape.aggregates = reader.binder.aggregates
    try checkGroups(shape, query)
    return shape
  }

  /// A group has a single value only for what it is grouped by, and for what is computed of all its rows.
  private func checkGroups(_ shape: DictionaryShape, _ query: FetchQuery) throws {
    if shape.groups.isEmpty, shape.having != nil {
      throw NSError.coreData(.coreData, "havingPredicate chooses among groups: set propertiesToGroupBy too.")
    }
    if let group = shape.groups.first(where: \.hasAggregates) {
      throw NSError.coreData(
        .coreData, "\(group.name) is computed of all rows of a group, so rows can't be grouped by it.")
    }
    guard shape.isSummary || !shape.groups.isEmpty else { return }
    let names = shape.columns.flatMap { shape.groupNames.contains($0.name) ? [] : $0.rowNames }
    let sorted = shape.isSummary ? [] : query.sortKeys.map(\.name)
    let required = (shape.having?.keys ?? []).filter { RowAggregate.index(of: $0.path) == nil }.map(\.name)
    guard let other = (names + sorted + required).first(where: { !shape.groupNames.contains($0) }) else { return }
    let what =
      shape.isSummary
      ? "\(other) has another value for each row, and \(shape.summaryName) is one value of all rows: set "
        + "propertiesToGroupBy."
      : "\(other) is not among propertiesToGroupBy (\(shape.groupNames.joined(separator: ", "))): a group has no "
        + "single value of it. Add it there, or leave it out of what is fetched, sorted by and required."
    throw NSError.coreData(.coreData, what)
  }
}

extension DictionaryShape {
  /// The first column that is computed of all rows.
  fileprivate var summaryName: String { columns.first(where: \.hasAggregates)?.name ?? "the result" }
}

extension DictionaryShape.Column {
  fileprivate var hasAggregates: Bool { if case .expression(let column) = self { column.hasAggregates } else { false } }

  /// What it reads of a single row.
  fileprivate var rowNames: [String] {
    switch self {
    case .attribute, .objectID: [name]
    case .expression(let column): column.attributeKeys.map(\.name)
    }
  }
}

/// Reads the properties that a request names.
private struct DictionaryColumns {
  let entity: NSEntityDescription
  var binder: AggregateBinder

  init(_ entity: NSEntityDescription, _ properties: [Any]) {
    self.entity = entity
    let named = properties.compactMap { property -> (String, PredicateOperand)? in
      guard let property = property as? NSExpressionDescription, let tree = property.expression?.tree else {
        return nil
      }
      return (property.name, tree)
    }
    binder = AggregateBinder(
      schema: EntityPredicateSchema(entity: entity),
      variables: Dictionary(named, uniquingKeysWith: { first, _ in first }))
  }

  mutating func column(of property: Any) throws -> DictionaryShape.Column {
    if let expression = property as? NSExpressionDescription { return try column(expression) }
    guard let name = (property as? NSPropertyDescription)?.name ?? property as? String else {
      throw NSError.coreData(
        .coreData, "\(property) is no property: give the name of an attribute, or its NSAttributeDescription.")
    }
    if name == "objectID" { return .objectID() }
    let path = name.split(separator: ".").map(String.init)
    guard case .attribute(let attribute, _) = try AttributePath(path, of: entity).end else {
      throw NSError.coreData(
        .coreData,
        "\(name) is an object, which a dictionary has no value of. Fetch an attribute of it, or its objectID.")
    }
    guard !attribute.isTransient else {
      throw NSError.coreData(
        .coreData, "The attribute \(name) is transient: the store has no values of it. Fetch objects instead.")
    }
    return .attribute(attribute, path: path)
  }

  private mutating func column(_ description: NSExpressionDescription) throws -> DictionaryShape.Column {
    guard !description.name.isEmpty, let expression = description.expression else {
      throw NSError.coreData(
        .coreData, "An NSExpressionDescription in a fetch request lacks its name or its expression. Set both.")
    }
    let (tree, type) = (expression.tree, description.expressionResultType)
    if tree == .selfObject { return .objectID(name: description.name) }
    let value = try binder.bind(tree)
    guard value.type != .object else {
      throw NSError.coreData(
        .coreData,
        "\(description.name) is an object, which a dictionary has no value of. Compute an attribute of it.")
    }
    let isGiven = type != .undefinedAttributeType
    guard !isGiven || value.type.converts(to: type) else {
      throw NSError.coreData(
        .coreData,
        "\(description.name) gives \(value.type.describedName), and its resultType is \(type.describedName). Set another "
          + "resultType, or CAST the expression.")
    }
    return .expression(
      ExpressionColumn(name: description.name, source: tree, value: value, resultType: isGiven ? type : nil))
  }
}
