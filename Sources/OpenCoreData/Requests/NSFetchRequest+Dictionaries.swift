import Foundation

extension NSFetchRequest {
  /// What the dictionaries of the request contain.
  ///
  /// - Throws: `NSError` 134060 for properties that the entity does not store, for expressions without a value, and for
  ///   what cannot be combined with a grouping.
  func dictionaryShape(_ query: FetchQuery) throws -> DictionaryShape {
    var reader = DictionaryColumns(query.entity, (propertiesToFetch ?? []) + (propertiesToGroupBy ?? []))
    let groups = try (propertiesToGroupBy ?? []).map { try reader.group(by: $0) }
    var shape = DictionaryShape(
      columns: try propertiesToFetch.map { try $0.map { try reader.column(of: $0) } }
        ?? query.entity.attributeSlots.filter { !$0.isTransient }.map { .attribute($0, path: [$0.name]) })
    guard !shape.columns.isEmpty else {
      throw NSError.coreData(.coreData, "propertiesToFetch is empty. Name an attribute, or leave it nil for all.")
    }
    shape.isDistinct = returnsDistinctResults
    shape.groups = groups
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
    guard shape.isSummary || !shape.groups.isEmpty else { return }
    let grouped = Set(shape.groups.flatMap(\.ownPaths))
    let fetched = shape.columns.flatMap(\.rowPaths)
    let sorted = shape.isSummary ? [] : query.sortKeys.map(\.keyPath)
    let required = (shape.having?.paths ?? []).filter { ResultKey($0) == nil }
    guard let other = (fetched + sorted + required).first(where: { !grouped.contains($0) }) else { return }
    let name = other.joined(separator: ".")
    let what =
      shape.isSummary
      ? "\(name) has another value for each row, and \(shape.summaryName) is one value of all rows: set "
        + "propertiesToGroupBy."
      : "\(name) is not among propertiesToGroupBy (\(shape.groupNames.joined(separator: ", "))): a group has no "
        + "single value of it. Add it there, or leave it out of what is fetched, sorted by and required."
    throw NSError.coreData(.coreData, what)
  }
}

extension DictionaryShape {
  /// The first column that is computed of all rows.
  fileprivate var summaryName: String { columns.first(where: \.isOfResult)?.name ?? "the result" }
}

extension DictionaryShape.Column {
  fileprivate var isOfResult: Bool { if case .expression(let column) = self { column.isOfResult } else { false } }

  /// The key path that it is the value of; empty for a computed value.
  fileprivate var ownPaths: [[String]] {
    switch self {
    case .attribute(_, let path): [path]
    case .objectID: [["objectID"]]
    case .expression: []
    }
  }

  /// The key paths of a single row that it reads.
  fileprivate var rowPaths: [[String]] {
    guard case .expression(let column) = self else { return ownPaths }
    return column.rowPaths.sorted { $0.lexicographicallyPrecedes($1) }
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

  /// What rows are grouped by.
  mutating func group(by property: Any) throws -> DictionaryShape.Column {
    if let (name, path) = toOnePath(of: property) {
      return objectColumn(name, path: path, value: try binder.group(by: .keyPath(path)))
    }
    guard let description = property as? NSExpressionDescription else {
      let column = try attributeColumn(of: property)
      if case .attribute(_, let path) = column { _ = try binder.group(by: .keyPath(path)) }
      // A key for each group keeps the numbers those of the groups.
      if case .objectID = column { _ = try binder.group(by: .selfObject) }
      return column
    }
    let tree = try tree(of: description)
    if tree == .selfObject {
      _ = try binder.group(by: tree)
      return .objectID(name: description.name)
    }
    return try column(description, of: tree, try binder.group(by: tree))
  }

  mutating func column(of property: Any) throws -> DictionaryShape.Column {
    if let (name, path) = toOnePath(of: property) {
      return objectColumn(name, path: path, value: try binder.bind(.keyPath(path)))
    }
    guard let description = property as? NSExpressionDescription else { return try attributeColumn(of: property) }
    let tree = try tree(of: description)
    if tree == .selfObject { return .objectID(name: description.name) }
    return try column(description, of: tree, try binder.bind(tree))
  }

  /// A property that is a to-one relationship: its name, and the path of relationships. Nil for another one.
  private func toOnePath(of property: Any) -> (name: String, path: [String])? {
    guard !(property is NSExpressionDescription), let name = Self.name(of: property) else { return nil }
    let found = try? AttributePath(name.split(separator: ".").map(String.init), of: entity)
    guard let found, case .object = found.end, !found.relationships.isEmpty else { return nil }
    return (name, found.relationships.map(\.name))
  }

  private static func name(of property: Any) -> String? {
    (property as? NSPropertyDescription)?.name ?? property as? String
  }

  /// The ID of the object at the end of a path.
  private func objectColumn(_ name: String, path: [String], value: BoundExpression) -> DictionaryShape.Column {
    var destination: NSEntityDescription?
    if case .object(let entity)? = try? AttributePath(path, of: entity).end { destination = entity }
    return .expression(
      ExpressionColumn(
        name: name, source: .keyPath(path), value: value, resultType: .objectIDAttributeType, destination: destination))
  }

  private func attributeColumn(of property: Any) throws -> DictionaryShape.Column {
    guard let name = Self.name(of: property) else {
      throw NSError.coreData(
        .coreData, "\(property) is not a property: give the name of an attribute, or its NSAttributeDescription.")
    }
    if name == "objectID" { return .objectID() }
    let path = name.split(separator: ".").map(String.init)
    guard case .attribute(let attribute, _) = try AttributePath(path, of: entity).end else {
      throw NSError.coreData(
        .coreData,
        "\(name) is an object, which a dictionary has no value of. Fetch an attribute of it, or objectID.")
    }
    guard !attribute.isTransient else {
      throw NSError.coreData(
        .coreData, "The attribute \(name) is transient: the store has no values of it. Fetch objects instead.")
    }
    return .attribute(attribute, path: path)
  }

  private func tree(of description: NSExpressionDescription) throws -> PredicateOperand {
    guard !description.name.isEmpty, let expression = description.expression else {
      throw NSError.coreData(
        .coreData, "An NSExpressionDescription in a fetch request lacks its name or its expression. Set both.")
    }
    return expression.tree
  }

  private func column(
    _ description: NSExpressionDescription, of tree: PredicateOperand, _ value: BoundExpression
  ) throws -> DictionaryShape.Column {
    let (name, type) = (description.name, description.expressionResultType)
    if case .keyPath(let path) = tree, value.type == .object,
      type == .undefinedAttributeType || type == .objectIDAttributeType
    {
      return objectColumn(name, path: path, value: value)
    }
    guard value.type != .object else {
      throw NSError.coreData(
        .coreData, "\(name) is an object, which a dictionary has no value of. Compute an attribute of it.")
    }
    if case .keyPath(let path) = tree, case .attribute(let attribute, _)? = try? AttributePath(path, of: entity).end,
      type == .undefinedAttributeType || type == attribute.attributeType
    {
      return .expression(ExpressionColumn(name: name, source: tree, value: value, decoding: attribute))
    }
    try value.checkTransformables(of: entity, tree)
    let isGiven = type != .undefinedAttributeType
    guard !isGiven || value.isNull || value.type.converts(to: type) else {
      throw NSError.coreData(
        .coreData,
        "\(name) gives \(value.type.describedName), and its resultType is \(type.describedName). Set another "
          + "resultType, or CAST the expression.")
    }
    return .expression(ExpressionColumn(name: name, source: tree, value: value, resultType: isGiven ? type : nil))
  }
}

extension BoundExpression {
  /// - Throws: `NSError` 134060 if the bytes of a transformable attribute are calculated with: only the attribute itself
  ///   can turn them into a value.
  func checkTransformables(of entity: NSEntityDescription, _ tree: PredicateOperand) throws {
    guard type == .blob else { return }
    for path in paths {
      guard case .attribute(let attribute, _)? = try? AttributePath(path, of: entity).end,
        attribute.attributeType == .transformableAttributeType
      else { continue }
      throw NSError.coreData(
        .coreData,
        "The expression '\(tree.formatDescription)' has the transformable attribute \(attribute.name), whose values only "
          + "objects have. Fetch objects, or the attribute itself.")
    }
  }
}
