import Foundation

/// Reads an incremental store for the coordinator.
final class IncrementalReader: RowReader {
  private let store: IncrementalRowStore

  init(_ store: IncrementalRowStore) { self.store = store }

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    let ids = try store.ids(query)
    defer { try? store.register(ids) }
    if query.values == .none, query.keyPaths.isEmpty {
      return ids.map { FetchedRow(id: $0, version: BaseRow.unknownVersion, values: []) }
    }
    let paths = try query.keyPaths.map { try AttributePath($0, of: query.entity) }
    return try ids.compactMap { id in
      guard var row = try store.row(for: id) else { return nil }
      row.extras = try paths.map { try store.value(at: $0, of: row) }
      return row
    }
  }

  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    let rows = try ids.map { try store.row(for: $0) }
    try store.register(rows.compactMap { $0?.id })
    return rows
  }

  func count(_ query: FetchQuery) throws -> Int {
    if query.keyAbove != nil { return try store.ids(query).count }
    try store.check(query)
    var whole = query
    // The store counts what matches; how much of it is requested is counted here.
    (whole.limit, whole.offset, whole.sortKeys) = (0, 0, [])
    let results = try store.results(whole.request(.countResultType))
    guard results.count == 1, let count = (results[0] as? Int) ?? (results[0] as? NSNumber)?.intValue else {
      throw NSError.coreData(
        .coreData,
        "The store \(store.location) returned \(results) for a request of the result type count. Return an array with one "
          + "NSNumber.")
    }
    return query.slice(count: count)
  }

  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    let found = try ids.map { try store.related(relationship, of: $0) }
    try store.register(found.flatMap(\.self).filter { $0.storeIdentity === store.identity })
    return found
  }

  // MARK: Dictionaries

  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow] {
    guard !stop.isCancelled else { throw CancellationFlag.error }
    try store.check(query)
    let request = query.request(.dictionaryResultType)
    request.propertiesToFetch = shape.columns.map(\.property)
    request.returnsDistinctResults = shape.isDistinct
    request.propertiesToGroupBy = shape.groups.isEmpty ? nil : shape.groups.map(\.groupProperty)
    request.havingPredicate = shape.havingSource.map(NSPredicate.init(node:))
    return try store.results(request).map { result in
      guard let values = Self.values(of: result) else {
        throw NSError.coreData(
          .coreData, "The store \(store.location) returned \(type(of: result)) where a dictionary was asked for.")
      }
      return try row(values, shape: shape, entity: query.entity)
    }
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    try dictionaryRows(query, shape, stop: CancellationFlag()).count
  }

  private static func values(of result: Any) -> ((String) -> Any?)? {
    if let dictionary = result as? [String: Any] { return { dictionary[$0] } }
    if let dictionary = result as? NSDictionary { return { dictionary.object(forKey: NSString(string: $0)) } }
    return nil
  }

  private func row(
    _ values: (String) -> Any?, shape: DictionaryShape, entity: NSEntityDescription
  ) throws -> DictionaryRow {
    var id: NSManagedObjectID?
    let stored = try shape.columns.map { column -> StoredValue in
      switch column {
      case .objectID:
        id = values(column.name) as? NSManagedObjectID
        return .null
      case .attribute(let attribute, _):
        return try attribute.storedValue(fromStore: values(column.name), entity: entity.name ?? "")
      case .expression(let expression) where expression.destination != nil:
        return (values(column.name) as? NSManagedObjectID)?.comparisonValue ?? .null
      case .expression(let expression):
        return try expression.attribute.storedValue(fromStore: values(column.name), entity: entity.name ?? "")
      }
    }
    return DictionaryRow(id: id, values: stored)
  }
}

extension DictionaryShape.Column {
  /// As a store is asked for it: the attribute or expression, or the key path to an attribute of another entity.
  fileprivate var property: Any {
    switch self {
    case .attribute(let attribute, let path) where path.count == 1: return attribute
    case .attribute, .objectID: return name
    case .expression(let column) where column.destination != nil: return name
    case .expression(let column):
      return NSExpressionDescription(name: column.name, tree: column.source, resultType: column.resultType)
    }
  }

  /// As a store is asked to group by it.
  fileprivate var groupProperty: Any { if case .expression = self { property } else { name } }
}

extension FetchQuery {
  /// The query as a request to a store of a client's own. It has the type that clients can cast to.
  func request(_ resultType: NSFetchRequestResultType) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    request.resultType = resultType
    request.includesSubentities = includesSubentities
    request.predicate = predicateSource.map(NSPredicate.init(node:))
    let descriptors = sortKeys.map { NSSortDescriptor(key: $0.name, ascending: $0.ascending) }
    request.sortDescriptors = descriptors.isEmpty ? nil : descriptors
    request.fetchLimit = limit
    request.fetchOffset = offset
    request.includesPropertyValues = includesValues
    request.includesPendingChanges = false
    return request
  }
}
