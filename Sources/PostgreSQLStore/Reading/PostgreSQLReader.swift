import Foundation
import ManagedObjectModel
import PersistentStores

/// Reads the rows of a store in a transaction of one connection.
final class PostgreSQLReader: RowReader {
  let connection: PostgreSQLConnection
  /// The store creates its readers and outlives them.
  unowned let store: any TableStore
  /// What predicates that are evaluated in memory have read of related rows.
  private var related = RelatedCache()
  private var cursorCount = 0

  /// How many rows are read at once of those that a predicate in memory is asked about.
  static let rowsPerFetch = 1000

  init(_ connection: PostgreSQLConnection, of store: any TableStore) {
    self.connection = connection
    self.store = store
  }

  /// Runs `body` and converts errors of the server to Core Data errors.
  func access<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      throw error.coreDataError(.sqlite, "\(what) \(store.location) failed")
    }
  }

  // MARK: Queries

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    let plan = try RowPlan(query, in: store)
    var rows: [FetchedRow] = []
    try visit(plan) { row in
      rows.append(plan.finished(row))
      return true
    }
    return rows
  }

  func count(_ query: FetchQuery) throws -> Int {
    let plan = try RowPlan(query, in: store)
    guard plan.isFiltered else {
      return try access("Counting in") { Int(try connection.integer(plan.count.text, plan.count.bindings) ?? 0) }
    }
    var count = 0
    try visit(plan) { _ in
      count += 1
      return true
    }
    return count
  }

  func explanation(_ query: FetchQuery) throws -> QueryExplanation {
    let plan = try RowPlan(query, in: store)
    return try access("Reading") {
      let steps = try connection.rows("EXPLAIN " + plan.select.text, plan.select.bindings).compactMap { row in
        if case .text(let text)? = row.first { text } else { String?.none }
      }
      return QueryExplanation(
        statement: plan.select.text, values: plan.select.bindings, plan: steps, filtersInMemory: plan.isFiltered,
        database: "PostgreSQL")
    }
  }

  /// Calls `body` with the rows that the query finds, in order, until it returns false. Rows that only memory can judge
  /// are read in parts.
  func visit(_ plan: RowPlan, _ body: (FetchedRow) throws -> Bool) throws {
    guard plan.isFiltered else {
      let result = try access("Reading") { try connection.query(plan.select.text, plan.select.bindings) }
      for row in 0..<result.rowCount where try !body(plan.row(row, of: result)) { return }
      return
    }
    var walk = try filteredRows(plan)
    while let part = try walk.next() {
      for row in part where try !body(row) { return try walk.close() }
    }
  }

  /// The rows of a query that only memory can answer completely.
  func filteredRows(_ plan: RowPlan) throws -> FilteredRows {
    related = RelatedCache()
    cursorCount += 1
    return try FilteredRows(plan, self, name: "ocd_part\(cursorCount)")
  }

  // MARK: Rows by their keys

  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    var found: [ObjectKey: FetchedRow] = [:]
    found.reserveCapacity(ids.count)
    for (name, group) in Dictionary(grouping: ids, by: { $0.entity.rootEntity.name ?? "" }) {
      guard let root = group.first?.entity.rootEntity, store.schema.entity(named: name) != nil else { continue }
      let keys = group.compactMap { $0.storeIdentity === store.identity ? $0.storeKey : nil }
      guard !keys.isEmpty else { continue }
      var query = FetchQuery(entity: root)
      query.includesSubentities = true
      let plan = try RowPlan(query, in: store, keys: keys)
      let result = try access("Reading") { try connection.query(plan.select.text, plan.select.bindings) }
      for index in 0..<result.rowCount {
        let row = try plan.row(index, of: result)
        found[row.id.key] = row
      }
    }
    return ids.map { found[$0.key] }
  }

  // MARK: Relationships

  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    let plan = try RelationshipPlan(relationship, in: store)
    let keys = ids.map { $0.storeIdentity === store.identity ? $0.storeKey : nil }
    var found: [Int64: [NSManagedObjectID]] = [:]
    for part in Array(Set(keys.compactMap(\.self))).statementParts {
      let select = plan.select(part)
      let result = try access("Reading") { try connection.query(select.text, select.bindings) }
      for row in 0..<result.rowCount {
        let key = result.integer(row, 1)
        let number = result.isNull(row, 2) ? nil : Int(result.integer(row, 2))
        guard let space = try plan.idSpace(numbered: number, key: key, in: store) else { continue }
        found[result.integer(row, 0), default: []].append(NSManagedObjectID(space: space, key: key))
      }
    }
    return keys.map { $0.flatMap { found[$0] } ?? [] }
  }

  func relatedRows(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]? {
    guard let destination = relationship.destinationEntity,
      let first = destination.withDescendants.first(where: { !$0.isAbstract }),
      case .toMany(let table, let column, let orderColumn)? =
        try store.sqlEntity(relationship.entity).relationships[relationship.name],
      try table == store.sqlEntity(destination).tableName
    else { return nil }
    var parts: [RelatedRows] = []
    let ordered = Set(keys).sorted()
    for start in stride(from: 0, to: ordered.count, by: Self.rowsPerFetch) {
      let owners = RowPlan.Owners(
        column: column, orderColumn: orderColumn,
        keys: Array(ordered[start..<min(ordered.count, start + Self.rowsPerFetch)]))
      let plan = try RowPlan(FetchQuery(entity: destination), in: store, owners: owners)
      let result = try access("Reading") { try connection.query(plan.select.text, plan.select.bindings) }
      var pages = RowPages(plan, result, rowsPerBatch: Self.relatedRowsPerBatch)
      var (batch, numbers) = (ObjectBatch(entity: first), RowNumbers(wantsVersions: true))
      while try pages.next(into: &batch, numbers: &numbers) {
        parts.append(RelatedRows(batch, numbers, of: store.identity))
        (batch, numbers) = (ObjectBatch(entity: first), RowNumbers(wantsVersions: true))
      }
    }
    return parts
  }

  /// An object that is kept keeps the values of so many.
  private static let relatedRowsPerBatch = 512

  /// The rows at the other end of a relationship, for predicates that are evaluated in memory.
  func rows(over relationship: NSRelationshipDescription, from id: NSManagedObjectID) throws -> [FetchedRow] {
    if let known = self.related.rows(over: relationship, from: id) { return known }
    let found = try rows(for: try related(relationship, of: [id])[0]).compactMap(\.self)
    self.related.note(found, over: relationship, from: id)
    return found
  }

  // MARK: Dictionaries

  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow] {
    if stop.isCancelled { throw CancellationFlag.error }
    if let plan = try ResultPlan(query, shape, in: store) {
      let result = try access("Reading") { try connection.query(plan.select.text, plan.select.bindings) }
      return try (0..<result.rowCount).map { try plan.row($0, of: result, store) }
    }
    var all = query
    (all.limit, all.offset, all.values, all.sortKeys, all.keyPaths) = (0, 0, .all, [], [])
    let plan = try RowPlan(all, in: store)
    var rows: [FetchedRow] = []
    try visit(plan) { row in
      if stop.isCancelled { throw CancellationFlag.error }
      rows.append(row)
      return true
    }
    return try DictionaryMerge(query, shape).results(of: rows) { QueriedRow(row: $0, plan: plan, reader: self) }
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    if let plan = try ResultPlan(query, shape, in: store) {
      return try access("Counting in") { Int(try connection.integer(plan.count.text, plan.count.bindings) ?? 0) }
    }
    return try dictionaryRows(query, shape, stop: CancellationFlag()).count
  }

  /// The value of an expression for a row.
  func value(of expression: QueryExpression, for row: FetchedRow, _ plan: RowPlan) throws -> StoredValue {
    try expression.value(of: QueriedRow(row: row, plan: plan, reader: self))
  }
}

/// Rows that were read over relationships, each once for a query.
private struct RelatedCache {
  private struct Place: Hashable {
    let key: ObjectKey
    let relationship: ObjectIdentifier
  }
  private var found: [Place: [FetchedRow]] = [:]
  private static let countMax = 10_000

  func rows(over relationship: NSRelationshipDescription, from id: NSManagedObjectID) -> [FetchedRow]? {
    found[Place(key: id.key, relationship: ObjectIdentifier(relationship))]
  }

  mutating func note(_ rows: [FetchedRow], over relationship: NSRelationshipDescription, from id: NSManagedObjectID) {
    if found.count >= Self.countMax { found.removeAll(keepingCapacity: true) }
    found[Place(key: id.key, relationship: ObjectIdentifier(relationship))] = rows
  }
}
