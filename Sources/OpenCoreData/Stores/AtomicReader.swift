import Foundation

/// Evaluates queries over the rows of an atomic store, with the answers that SQLite gives.
final class AtomicReader: RowReader {
  private let store: AtomicRowStore

  init(_ store: AtomicRowStore) { self.store = store }

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    var rows = try matching(query)
    let paths = try query.keyPaths.map { try AttributePath($0, of: query.entity) }
    if !paths.isEmpty {
      for index in rows.indices { rows[index].extras = try paths.map { try store.value(at: $0, of: rows[index]) } }
    }
    if !query.sortKeys.isEmpty { try query.sort(&rows) }
    rows = query.slice(rows)
    if query.values == .none { for index in rows.indices { rows[index].values = [] } }
    return rows
  }

  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] { try ids.map { try store.row(for: $0) } }

  func count(_ query: FetchQuery) throws -> Int { query.slice(count: try matching(query).count) }

  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    ids.map { store.related(relationship, of: $0) }
  }

  /// What the query's predicate holds for, by key.
  private func matching(_ query: FetchQuery) throws -> [FetchedRow] {
    try store.check(query)
    guard query.includes(store.identity) else { return [] }
    var filters: [ObjectIdentifier: QueryFilter] = [:]
    return try store.candidates(query).filter { row in
      if let keyAbove = query.keyAbove, (row.id.storeKey ?? 0) <= keyAbove { return false }
      let entity = row.id.entity
      let filter = try filters[ObjectIdentifier(entity)] ?? QueryFilter(query, entity)
      filters[ObjectIdentifier(entity)] = filter
      return try filter.accepts(QueriedRow(row: row, store: store))
    }
  }

  // MARK: Dictionaries

  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow] {
    guard !stop.isCancelled else { throw CancellationFlag.error }
    return try DictionaryMerge(query, shape).results(of: matching(query)) { QueriedRow(row: $0, store: store) }
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    try dictionaryRows(query, shape, stop: CancellationFlag()).count
  }
}
