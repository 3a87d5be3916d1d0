import ManagedObjectModel

/// Computes the dictionaries of several stores, or of one that has no SQL, with the semantics of SQL within one store.
package struct DictionaryMerge {
  private let query: FetchQuery
  private let shape: DictionaryShape
  /// The query for each store. Its columns include what results are sorted, grouped and computed by.
  package let partShape: DictionaryShape
  package let partQuery: FetchQuery
  private let indexes: [String: Int]

  package init(_ query: FetchQuery, _ shape: DictionaryShape) {
    self.query = query
    self.shape = shape
    var columns = PartColumns(entity: query.entity)
    for column in shape.columns + shape.groups { columns.add(column) }
    for (index, aggregate) in shape.aggregates.enumerated() { columns.add(aggregate, index) }
    for key in query.sortKeys { columns.add(key.keyPath) }
    // Only the number of rows may be asked for.
    if columns.columns.isEmpty { columns.add(.objectID()) }
    var part = DictionaryShape(columns: columns.columns)
    // What is computed of all rows of a result needs them all.
    if shape.aggregates.isEmpty { (part.isDistinct, part.groups) = (shape.isDistinct, shape.groups) }
    partShape = part
    indexes = columns.indexes
    var partQuery = query.forEachStore
    // Results of two stores may belong to one group.
    if shape.joinsRows { partQuery.limit = 0 }
    self.partQuery = partQuery
  }

  /// - Parameter parts: The results of each store for `partQuery` and `partShape`.
  package func merge(_ parts: [[DictionaryRow]]) -> [DictionaryRow] {
    let keyed = parts.joined().enumerated().map { index, row in
      (index: index, row: row, values: query.sortKeys.map { value($0.name, of: [row]) })
    }
    let sorted = keyed.sorted { left, right in
      if query.sortKeys.orders(left.values, before: right.values) { return true }
      return !query.sortKeys.orders(right.values, before: left.values) && left.index < right.index
    }
    return query.slice(ordered(distinct(results(sorted.map(\.row)))).map(\.row))
  }

  /// A result with the values that it is sorted by.
  private struct Result {
    let row: DictionaryRow
    let sortValues: [StoredValue]
  }

  /// Results that may stand for several rows have no keys; among equal ones their own values decide, as in SQL.
  private func ordered(_ results: [Result]) -> [Result] {
    guard shape.joinsRows else { return results }
    return results.sorted { left, right in
      if query.sortKeys.orders(left.sortValues, before: right.sortValues) { return true }
      if query.sortKeys.orders(right.sortValues, before: left.sortValues) { return false }
      for (index, column) in shape.columns.enumerated() {
        if column.isObjectID, let one = left.row.id?.key, let other = right.row.id?.key, one != other {
          return (one.scope, one.number) < (other.scope, other.number)
        }
        let (one, other) = (left.row.values[index], right.row.values[index])
        if column.destination != nil, case .text(let one) = one, case .text(let other) = other, one != other {
          // The longer key is the greater one.
          return (one.utf8.count, one) < (other.utf8.count, other)
        }
        let order = StoredValueOrder.compare(one, other)
        if order != 0 { return order < 0 }
      }
      return false
    }
  }

  /// The results for the rows of a store without SQL.
  ///
  /// - Parameters:
  ///   - rows: What the query's predicate holds for.
  ///   - object: A row as an object that expressions are computed for.
  package func results(
    of rows: [FetchedRow], _ object: (FetchedRow) -> some QueriedObject
  ) throws -> [DictionaryRow] {
    // The slots of an entity that inherits from the query's may be others.
    var known: [ObjectIdentifier: [QueryExpression?]] = [:]
    let part = try rows.map { row in
      let entity = row.id.entity
      let columns = try known[ObjectIdentifier(entity)] ?? partShape.columns.map { try $0.expression(of: entity) }
      known[ObjectIdentifier(entity)] = columns
      let object = object(row)
      return DictionaryRow(
        id: partShape.hasObjectID ? row.id : nil, values: try columns.map { try $0?.value(of: object) ?? .null })
    }
    return merge([part])
  }

  // MARK: Groups

  /// The results, in the order of their first rows.
  private func results(_ rows: [DictionaryRow]) -> [Result] {
    guard !shape.groups.isEmpty || shape.isSummary else { return rows.compactMap { result([$0]) } }
    var groups: [[DictionaryRow]] = shape.isSummary ? [rows] : []
    if !shape.isSummary {
      let columns = shape.groups.compactMap { indexes[PartColumns.name(of: $0)] }
      let isByID = shape.groups.contains(where: \.isObjectID)
      var known: [Identity: Int] = [:]
      for row in rows {
        let key = Identity(id: isByID ? row.id?.key : nil, values: columns.map { row.values[$0] })
        if let index = known[key] {
          groups[index].append(row)
        } else {
          known[key] = groups.count
          groups.append([row])
        }
      }
    }
    return groups.compactMap(result)
  }

  /// Nil for a group that `havingPredicate` excludes.
  private func result(_ group: [DictionaryRow]) -> Result? {
    let aggregates = aggregates(of: group)
    if let having = shape.having, !having.matches({ value($0, of: group, aggregates) }) { return nil }
    let values = shape.columns.map { column -> StoredValue in
      switch column {
      case .expression(let expression) where expression.isOfResult:
        expression.value.value { value($0, of: group, aggregates) }
      case .attribute, .objectID, .expression: value(PartColumns.name(of: column), of: group)
      }
    }
    let row = DictionaryRow(id: shape.hasObjectID ? group.first?.id : nil, values: values)
    return Result(row: row, sortValues: query.sortKeys.map { value($0.name, of: group) })
  }

  /// The value of the first row in a column of the parts.
  private func value(_ column: String, of group: [DictionaryRow]) -> StoredValue {
    indexes[column].flatMap { index in group.first.map { $0.values[index] } } ?? .null
  }

  private func aggregates(of group: [DictionaryRow]) -> [StoredValue] {
    shape.aggregates.enumerated().map { index, aggregate in
      let column = indexes[PartColumns.name(ofAggregate: index)]
      return aggregate.value(group.lazy.map { row in column.map { row.values[$0] } ?? .null })
    }
  }

  /// All rows of a group have the values that it is formed by.
  private func value(_ key: PredicateKey, of group: [DictionaryRow], _ aggregates: [StoredValue]) -> StoredValue {
    switch ResultKey(key.path) {
    case .aggregate(let index): aggregates[index]
    case .group(let index): value(PartColumns.name(of: shape.groups[index]), of: group)
    case nil: value(key.name, of: group)
    }
  }

  // MARK: Equal results

  private struct Identity: Hashable {
    let id: ObjectKey?
    let values: [StoredValue]
  }

  private func distinct(_ results: [Result]) -> [Result] {
    guard shape.isDistinct else { return results }
    var seen: Set<Identity> = []
    return results.filter { seen.insert(Identity(id: $0.row.id?.key, values: $0.row.values)).inserted }
  }
}

extension DictionaryShape.Column {
  /// What gives its value of an object; nil for an identity.
  fileprivate func expression(of entity: NSEntityDescription) throws -> QueryExpression? {
    switch self {
    case .objectID: nil
    case .attribute(_, let path): try QueryExpression(path, of: entity)
    case .expression(let column): try QueryExpression(column.value, entity)
    }
  }
}

/// What is read of each row, each once.
private struct PartColumns {
  let entity: NSEntityDescription
  private(set) var columns: [DictionaryShape.Column] = []
  private(set) var indexes: [String: Int] = [:]

  init(entity: NSEntityDescription) { self.entity = entity }

  /// The name of a column of the shape. An expression can have the name of an attribute.
  static func name(of column: DictionaryShape.Column) -> String {
    switch column {
    case .attribute: column.name
    case .objectID: "objectID"
    case .expression(let expression): "= \(expression.source.formatDescription)"
    }
  }

  static func name(ofAggregate index: Int) -> String { ResultKey.aggregate(index).path.joined(separator: ".") }

  mutating func add(_ column: DictionaryShape.Column) {
    switch column {
    case .attribute: append(column, column.name)
    case .objectID: append(.objectID(), Self.name(of: column))
    case .expression(let expression):
      // What it reads are the groups and aggregates of the shape, which are added too.
      guard !expression.isOfResult else { return }
      let name = Self.name(of: column)
      append(
        .expression(
          ExpressionColumn(
            name: name, source: expression.source, value: expression.value, destination: expression.destination)),
        name)
    }
  }

  mutating func add(_ aggregate: RowAggregate, _ index: Int) {
    guard let operand = aggregate.operand, let source = aggregate.source else { return }
    let name = Self.name(ofAggregate: index)
    append(.expression(ExpressionColumn(name: name, source: source, value: operand)), name)
  }

  /// An attribute; other paths are of aggregates.
  mutating func add(_ path: [String]) {
    guard case .attribute(let attribute, _)? = try? AttributePath(path, of: entity).end else { return }
    let column = DictionaryShape.Column.attribute(attribute, path: path)
    append(column, column.name)
  }

  private mutating func append(_ column: DictionaryShape.Column, _ name: String) {
    guard indexes[name] == nil else { return }
    indexes[name] = columns.count
    columns.append(column)
  }
}
